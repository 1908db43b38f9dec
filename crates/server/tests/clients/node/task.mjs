// What every script shares: its task, the tool, and how it tells what its client saw.

export const task = JSON.parse(process.argv[2]);
// The name of the job; what the model is called by its own server is a test of its own.
export const model = 'answer';
export const apiKey = 'sk-not-needed';
export const instructions = 'Be brief.';

// The header that names a thread.
export const thread = (name) => ({ 'X-Novelo-Thread': encodeURIComponent(name) });

export const weather = ({ city, days = 1 }) => `31 degrees in ${city} for ${days}`;

export const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'number' },
    options: { type: 'object' },
    station: { type: 'integer' },
  },
  required: ['city'],
};

export const tell = (seen) => console.log(JSON.stringify(seen));

export async function tellRuns(run) {
  const told = {};
  for (const one of task.runs) {
    told[one.thread] = await run(one.thread, one.stream, one.questions);
  }
  tell(told);
}
