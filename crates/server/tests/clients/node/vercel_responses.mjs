// Vercel's AI SDK over Open Responses: it sends the whole conversation again, so the thread is named.

import { createOpenResponses } from '@ai-sdk/open-responses';
import { generateText, stepCountIs, streamText } from 'ai';

import { apiKey, instructions, model, task, tellRuns, thread } from './task.mjs';
import { tools } from './vercel_tools.mjs';

await tellRuns(async (name, stream, questions) => {
  const headers = { ...thread(name), 'X-Novelo-User': task.user };
  const novelo = createOpenResponses({ name: 'novelo', url: `${task.base_url}/responses`, apiKey, headers });
  const messages = [];
  const answers = [];
  for (const question of questions) {
    messages.push({ role: 'user', content: question });
    const request = { model: novelo(model), system: instructions, messages, tools, stopWhen: stepCountIs(5) };
    const result = stream ? streamText(request) : await generateText(request);
    const text = await result.text;
    messages.push(...(await result.response).messages);
    answers.push(text.trim());
  }
  return answers;
});
