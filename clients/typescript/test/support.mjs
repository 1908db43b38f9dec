// A real server, named by NOVELO_URL, and a proxy that breaks connections to it.

import net from "node:net";
import { randomUUID } from "node:crypto";

export const url = process.env.NOVELO_URL;
if (!url) throw new Error("NOVELO_URL names no server: NOVELO_URL=http://127.0.0.1:7420 node --test");

/** A user of one test alone. */
export const user = () => `ana-${randomUUID()}`;

/** The server does the request, and its answer is lost. */
export const UNANSWERED = () => 0;

/** The answer breaks after its first event. */
export function firstEvent(seen) {
  const text = seen.toString("latin1");
  const end = text.indexOf("\n\n", text.indexOf("\r\n\r\n") + 4);
  return end < 0 ? undefined : end + 4;
}

/** Passes bytes on to the server; the first connections are broken as planned. */
export async function proxy(plan = []) {
  const target = new URL(url);
  const state = { plan, connections: 0 };
  const server = net.createServer((near) => {
    state.connections += 1;
    const after = state.plan.shift();
    const far = net.connect(Number(target.port), target.hostname);
    const own = `127.0.0.1:${server.address().port}`;
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    // A server without keys answers to its own name alone.
    near.on("data", (chunk) => far.write(Buffer.from(chunk.toString("latin1").replace(own, target.host), "latin1")));
    let seen = Buffer.alloc(0);
    far.on("data", (chunk) => {
      const passed = seen.length;
      seen = Buffer.concat([seen, chunk]);
      const limit = after?.(seen);
      if (limit === undefined) near.write(chunk);
      else near.end(seen.subarray(passed, Math.max(passed, limit)), end);
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  state.url = `http://127.0.0.1:${server.address().port}`;
  state.close = () => server.close();
  return state;
}

/** An address at which nothing listens. */
export async function gone() {
  const server = net.createServer();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}`;
}

export async function collect(iterable) {
  const all = [];
  for await (const one of iterable) all.push(one);
  return all;
}
