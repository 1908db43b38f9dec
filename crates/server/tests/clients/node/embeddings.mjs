// OpenAI's client for JavaScript and embeddings, which it asks for in base64 by default.

import OpenAI from 'openai';

import { apiKey, task, tell } from './task.mjs';

const client = new OpenAI({ baseURL: task.base_url, apiKey, maxRetries: 0 });

async function embed(request) {
  const made = await client.embeddings.create({ model: 'embedding', ...request });
  return made.data.map((row) => Array.from(row.embedding));
}

const refused = (request) => embed(request).then(() => ['nothing'], (error) => [error.constructor.name, error.param]);

tell({
  default: await embed({ input: ['a boat', 'a parrot'] }),
  float: await embed({ input: 'a boat', encoding_format: 'float', model: 'text-embedding-3-small' }),
  tokens: await refused({ input: [[1, 2, 3]] }),
  unknown: await refused({ input: 'a', model: 'another' }),
});
