// OpenAI's own client with its loop over tools, whole and streamed.

import OpenAI from 'openai';

import { apiKey, instructions, model, schema, task, tellRuns, thread, weather } from './task.mjs';

const tools = [
  {
    type: 'function',
    function: { name: 'weather', description: 'The weather.', parse: JSON.parse, function: weather, parameters: schema },
  },
];

await tellRuns(async (name, stream, questions) => {
  const client = new OpenAI({ baseURL: task.base_url, apiKey, defaultHeaders: thread(name) });
  let messages = [{ role: 'system', content: instructions }];
  const answers = [];
  for (const question of questions) {
    messages.push({ role: 'user', content: question });
    const runner = client.chat.completions.runTools({ model, user: task.user, messages, tools, stream });
    const text = await runner.finalContent();
    messages = runner.messages;
    answers.push(text.trim());
  }
  return answers;
});
