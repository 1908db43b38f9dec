// Vercel's AI SDK for one question in a thread that other clients use too.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs } from 'ai';

import { apiKey, model, task, tell, thread } from './task.mjs';
import { tools } from './vercel_tools.mjs';

const names = {};

// OpenAI's messages in the form of the SDK, and back.
function read(message) {
  if (message.role === 'user') return message;
  if (message.role === 'tool') {
    const output = { type: 'text', value: message.content };
    const result = { type: 'tool-result', toolCallId: message.tool_call_id, toolName: names[message.tool_call_id], output };
    return { role: 'tool', content: [result] };
  }
  const content = message.content ? [{ type: 'text', text: message.content }] : [];
  for (const call of message.tool_calls ?? []) {
    names[call.id] = call.function.name;
    const input = JSON.parse(call.function.arguments);
    content.push({ type: 'tool-call', toolCallId: call.id, toolName: call.function.name, input });
  }
  return { role: 'assistant', content };
}

function write(message) {
  if (typeof message.content === 'string') return [message];
  if (message.role === 'tool') {
    return message.content.map((part) => ({ role: 'tool', tool_call_id: part.toolCallId, content: part.output.value }));
  }
  const text = message.content.filter((part) => part.type === 'text').map((part) => part.text).join('');
  const calls = message.content.filter((part) => part.type === 'tool-call').map((part) => ({
    id: part.toolCallId,
    type: 'function',
    function: { name: part.toolName, arguments: JSON.stringify(part.input) },
  }));
  return [{ role: message.role, content: text, ...(calls.length ? { tool_calls: calls } : {}) }];
}

const novelo = createOpenAICompatible({ name: 'novelo', baseURL: task.base_url, apiKey, headers: thread(task.thread) });
const asked = [...task.messages, { role: 'user', content: task.question }];
const result = await generateText({
  model: novelo(model),
  messages: asked.map(read),
  tools,
  stopWhen: stepCountIs(5),
  providerOptions: { novelo: { user: task.user } },
});
tell({ messages: [...asked, ...result.response.messages.flatMap(write)] });
