// The tool in the form of Vercel's AI SDK.

import { tool } from 'ai';
import { z } from 'zod';

import { weather } from './task.mjs';

export const tools = {
  weather: tool({
    description: 'The weather.',
    inputSchema: z.object({
      city: z.string(),
      days: z.number().optional(),
      options: z.any().optional(),
      station: z.number().optional(),
    }),
    execute: weather,
  }),
};
