// Vercel's AI SDK: it parses the arguments of each call and writes them anew, without spaces.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText } from 'ai';

import { apiKey, instructions, model, task, tellRuns, thread } from './task.mjs';
import { tools } from './vercel_tools.mjs';

await tellRuns(async (name, stream, questions) => {
  const novelo = createOpenAICompatible({ name: 'novelo', baseURL: task.base_url, apiKey, headers: thread(name) });
  const messages = [];
  const answers = [];
  for (const question of questions) {
    messages.push({ role: 'user', content: question });
    const request = {
      model: novelo(model),
      system: instructions,
      messages,
      tools,
      stopWhen: stepCountIs(5),
      providerOptions: { novelo: { user: task.user } },
    };
    const result = stream ? streamText(request) : await generateText(request);
    const text = await result.text;
    messages.push(...(await result.response).messages);
    answers.push(text.trim());
  }
  return answers;
});
