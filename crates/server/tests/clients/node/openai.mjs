// OpenAI's client with nothing but its address changed.

import OpenAI from 'openai';

import { apiKey, model, schema, task, tell, thread } from './task.mjs';

const client = new OpenAI({ baseURL: task.base_url, apiKey });
const hi = [{ role: 'user', content: 'Hi' }];

async function models() {
  const first = await client.chat.completions.create({ model: 'gpt-4o-mini', messages: hi });
  const listed = [];
  for await (const one of client.models.list()) listed.push(one.id);
  const retrieved = [];
  for (const name of ['answer', 'gpt-4o-mini']) retrieved.push((await client.models.retrieve(name)).id);
  const unknown = await client.models.retrieve('no-such-model').then(() => 'nothing', (e) => e.constructor.name);
  return { first: first.choices[0].message.content, listed, retrieved, unknown };
}

async function refusal(question, stream) {
  const messages = [{ role: 'user', content: question }];
  try {
    const answer = await client.chat.completions.create({ model, user: task.user, messages, stream });
    if (stream) for await (const _ of answer);
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return {
      class: error.constructor.name,
      message: error.message,
      retry_after: error.headers?.get('retry-after') ?? null,
    };
  }
  throw new Error('nothing was refused');
}

// At once, because the client waits between its tries.
async function statuses() {
  const told = [];
  for (const way of ['whole', 'streamed']) {
    for (const status of task.statuses) {
      const question = `${way} status ${status}`;
      told.push(refusal(question, way === 'streamed').then((seen) => [question, seen]));
    }
  }
  return Object.fromEntries(await Promise.all(told));
}

async function firstRole(request) {
  const chunks = await client.chat.completions.create({ ...request, stream: true });
  let role;
  for await (const chunk of chunks) role ??= chunk.choices[0]?.delta.role ?? 'none';
  return role;
}

async function stream() {
  const request = { model, user: task.user, messages: hi };
  const tools = [{ type: 'function', function: { name: 'weather', parameters: schema } }];
  const completion = await client.chat.completions
    .stream({ ...request, stream_options: { include_usage: true } })
    .finalChatCompletion();
  return {
    content: completion.choices[0].message.content,
    role: completion.choices[0].message.role,
    reasoning: completion.usage.completion_tokens_details?.reasoning_tokens,
    first_roles: [await firstRole(request), await firstRole({ ...request, tools })],
  };
}

async function cancel() {
  const messages = [{ role: 'user', content: 'Tell me a long story' }];
  const options = { headers: thread('cancel') };
  const chunks = await client.chat.completions.create({ model, user: task.user, messages, stream: true }, options);
  let heard = '';
  for await (const chunk of chunks) {
    heard += chunk.choices[0].delta.content ?? '';
    if (heard === task.after) break;
  }
  messages.push({ role: 'assistant', content: heard }, { role: 'user', content: 'And now?' });
  const answer = await client.chat.completions.create({ model, user: task.user, messages }, options);
  return { heard, answer: answer.choices[0].message.content };
}

async function breakOff() {
  const messages = [{ role: 'user', content: 'Please break off' }];
  const options = { headers: thread('break') };
  let heard = '';
  let seen;
  try {
    const chunks = await client.chat.completions.create({ model, user: task.user, messages, stream: true }, options);
    for await (const chunk of chunks) heard += chunk.choices[0].delta.content ?? '';
  } catch (error) {
    seen = error.constructor.name;
  }
  messages.push({ role: 'assistant', content: heard }, { role: 'user', content: 'And now?' });
  const answer = await client.chat.completions.create({ model, user: task.user, messages }, options);
  return { class: seen, heard, answer: answer.choices[0].message.content };
}

async function more() {
  const messages = [{ role: 'user', content: task.question }];
  await client.chat.completions.create({ model, user: task.user, messages }, { headers: thread(task.thread) });
  return {};
}

tell(await { models, statuses, stream, cancel, break: breakOff, more }[task.part]());
