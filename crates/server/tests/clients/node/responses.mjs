// OpenAI's client for JavaScript over Responses: tool loops along a chain and in a conversation.

import OpenAI from 'openai';
import { apiKey, instructions, model, schema, task, tell, weather } from './task.mjs';

const client = new OpenAI({ baseURL: task.base_url, apiKey, defaultHeaders: { 'X-Novelo-User': task.user } });
const tools = [
  { type: 'function', name: 'weather', description: 'The weather.', parameters: schema, strict: false },
];

async function ask(body, stream) {
  const request = { model, instructions, tools, ...body };
  return stream ? client.responses.stream(request).finalResponse() : client.responses.create(request);
}

async function run(inConversation, stream) {
  const conversation = inConversation ? (await client.conversations.create()).id : undefined;
  const answers = [];
  let previous;
  for (const question of task.questions) {
    let input = question;
    while (input) {
      const place = inConversation ? { conversation } : { previous_response_id: previous };
      const made = await ask({ input, ...place }, stream);
      previous = made.id;
      const calls = made.output.filter((item) => item.type === 'function_call');
      const result = (call) => {
        const output = weather(JSON.parse(call.arguments));
        return { type: 'function_call_output', call_id: call.call_id, output };
      };
      if (calls.length === 0) {
        answers.push(made.output_text.trim());
      }
      input = calls.length === 0 ? undefined : calls.map(result);
    }
  }
  return { answers, last: previous };
}

tell({
  'chain whole': await run(false, false),
  'chain streamed': await run(false, true),
  'conversation whole': await run(true, false),
  'conversation streamed': await run(true, true),
});
