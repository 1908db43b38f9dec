// The client and a real server: what is stored, what is repeated, and what is thrown.

import assert from "node:assert/strict";
import net from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { ApiError, BadAnswer, ConnectionFailed, ConnectionLost, Novelo, TimedOut } from "@novelo/client";

import { UNANSWERED, collect, firstEvent, gone, proxy, url, user } from "./support.mjs";

const HELLO = { role: "user", content: "Olá! 🌴 \u2028 é" };
const client = new Novelo({ baseUrl: url });
const contents = async (who, thread) => (await collect(client.iterTurns(who, thread))).map((turn) => turn.message.content);

/** Runs with a proxy, which is closed at the end. */
const broken = (plan, run) => async () => {
  const between = await proxy(plan);
  try {
    await run(between);
  } finally {
    between.close();
  }
};

test("every documented call has a method", async () => {
  const description = await client.getOpenapi();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, facts] of Object.entries(methods)) {
      assert.equal(typeof client[facts.operationId], "function", `${method} ${path}`);
    }
  }
});

test("nothing of one runtime alone is used", () => {
  const folder = dirname(fileURLToPath(import.meta.resolve("@novelo/client")));
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".js"))) {
    const source = readFileSync(`${folder}/${name}`, "utf8");
    assert.doesNotMatch(source, /\b(require\(|process\.|Buffer\b|from "node:|from "(?!\.\/))/, name);
  }
});

test("turns come back as they were", async () => {
  const who = user();
  const appended = await client.appendTurns(who, "a/b ?#%.é", { messages: [HELLO, { role: "assistant", content: null }] });
  assert.deepEqual(appended.turns.map((turn) => turn.seq), [1, 2]);
  assert.deepEqual((await client.listTurns(who, "a/b ?#%.é", { last: 5 })).turns[0].message, HELLO);
  assert.deepEqual((await collect(client.iterThreads(who))).map((thread) => thread.id), ["a/b ?#%.é"]);
  assert.equal((await client.forkThread(who, "a/b ?#%.é", { at_seq: 1, to: "t2" })).turns, 1);
});

test("pages are read to their end", async () => {
  const who = user();
  await client.appendTurns(who, "t", { messages: Array.from({ length: 25 }, (_, n) => ({ role: "user", content: `${n}` })) });
  assert.equal((await collect(client.iterTurns(who, "t", { limit: 10 }))).length, 25);
  for (let n = 0; n < 5; n += 1) await client.putDocument(["users", who, "notes", `n/${n}`], { n });
  const notes = await collect(client.iterCollection(`users/${who}/notes`, { limit: 2 }));
  assert.deepEqual(notes.map((note) => note.value), [0, 1, 2, 3, 4].map((n) => ({ n })));
});

test("contexts, memories, documents, tasks and exports", async () => {
  const who = user();
  await client.appendTurns(who, "t", { messages: Array.from({ length: 20 }, () => ({ role: "user", content: "word ".repeat(50) })) });
  const context = await client.makeContext({ user: who, thread: "t", budget_tokens: 200 });
  assert.ok(context.tokens > 0 && context.tokens <= 200);
  await client.addMemory(who, { text: "Ana likes tea." });
  assert.equal((await client.searchMemories(who, { query: "tea" })).hits[0].text, "Ana likes tea.");
  await client.indexDocument(who, { name: "Garden", text: "Tomatoes grow." });
  assert.equal((await client.searchDocuments(who, { query: "tomatoes" })).hits[0].name, "Garden");
  const task = await client.addTask(who, { title: "Water", notes: "daily" });
  assert.equal((await client.changeTask(who, task.id, { notes: null })).notes, undefined);
  const lines = await collect(client.exportUser(who));
  assert.ok(lines.length > 20 && lines.every((line) => JSON.parse(line)));
  assert.ok((await client.forgetUser(who)).forgotten.documents > 0);
  assert.ok((await client.importDocuments(lines.join("\n"))).documents > 0);
  assert.equal((await contents(who, "t")).length, 20);
  assert.match(await client.getMetrics(), /novelo_/);
});

test("versions refuse lost updates", async () => {
  const path = ["users", user(), "notes", "one"];
  await client.putDocument(path, { a: 1 }, { ifMatch: 0 });
  await assert.rejects(client.putDocument(path, { a: 2 }, { ifMatch: 0 }), (error) => error.code === "stale" && error.status === 409);
  assert.deepEqual((await client.getDocument(path)).value, { a: 1 });
});

test("a refusal names the field", async () => {
  const who = user();
  await assert.rejects(client.appendTurns(who, "t", { messages: [HELLO, { role: "nobody" }] }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, "invalid_field");
    assert.match(error.param, /role/);
    assert.ok(error.requestId);
    return true;
  });
  assert.deepEqual(await contents(who, "t"), [], "nothing is half written");
});

test("bad input is refused before it is sent", async () => {
  assert.throws(() => client.listThreads(""), /user is empty/);
  assert.throws(() => client.listThreads(".."), /step in the address/);
  assert.throws(() => client.listTurns("a", 7), /thread must be a string/);
  await assert.rejects(client.appendTurns("a", "t", { messages: [] }, { idempotencyKey: "a\r\nx: y" }), /printable ASCII/);
  for (const baseUrl of ["localhost:7420", "ftp://a", "http://a/?x=1", ""]) assert.throws(() => new Novelo({ baseUrl }), /baseUrl/);
  assert.throws(() => new Novelo({ maxRetries: -1 }), /maxRetries/);
  assert.ok(!JSON.stringify(new Novelo({ apiKey: "nvl_secret" })).includes("secret"));
});

test("a server that is not there, is silent, or is another", async () => {
  await assert.rejects(new Novelo({ baseUrl: await gone(), maxRetries: 0 }).getReady(), (error) => {
    assert.ok(error instanceof ConnectionFailed);
    assert.match(error.message, /cannot reach http:\/\/127\.0\.0\.1/);
    return true;
  });
  const silent = net.createServer();
  await new Promise((ready) => silent.listen(0, "127.0.0.1", ready));
  const waits = new Novelo({ baseUrl: `http://127.0.0.1:${silent.address().port}`, maxRetries: 0, timeoutMs: 200 });
  await assert.rejects(waits.getReady(), TimedOut);
  silent.close();
  const other = new Novelo({ fetch: async () => new Response("<html>", { status: 200 }) });
  await assert.rejects(other.getReady(), BadAnswer);
});

test("a call can be given up", async () => {
  const reason = new Error("enough");
  await assert.rejects(client.getReady({ signal: AbortSignal.abort(reason) }), reason);
});

test("an append whose answer is lost is stored once", broken([UNANSWERED, UNANSWERED], async (between) => {
  const who = user();
  const appended = await new Novelo({ baseUrl: between.url }).appendTurns(who, "t", { messages: [HELLO] });
  assert.equal(between.connections, 3);
  assert.equal(appended.turns[0].seq, 1);
  assert.deepEqual(await contents(who, "t"), [HELLO.content]);
}));

test("a memory whose answer is lost is stored once", broken([UNANSWERED], async (between) => {
  const who = user();
  await new Novelo({ baseUrl: between.url }).addMemory(who, { text: "Ana likes tea." });
  assert.equal((await collect(client.iterMemories(who))).length, 1);
}));

test("what could be done twice is not repeated", broken([UNANSWERED, UNANSWERED], async (between) => {
  const who = user();
  await assert.rejects(new Novelo({ baseUrl: between.url }).addTask(who, { title: "Once" }), ConnectionLost);
  assert.equal(between.connections, 1);
  assert.equal((await collect(client.iterTasks(who))).length, 1);
}));

test("a stream of events", async () => {
  const events = await collect(client.streamAskThread({ question: "When does the Harbour Tea House open?" }));
  assert.equal(events[0].event, "question");
  assert.equal(events.at(-1).event, "done");
  await assert.rejects(collect(client.streamAskThread({ question: "" })), (error) => error.code === "invalid_field");
  await assert.rejects(collect(client.streamCompleteChat({ messages: [HELLO] })), (error) => error.code === "no_model");
});

test("a stream that breaks is resumed", broken([firstEvent, firstEvent], async (between) => {
  const who = user();
  const stream = new Novelo({ baseUrl: between.url }).streamAskThread({
    question: "When does the Harbour Tea House open?", thread_id: "t", user_id: who,
  });
  const events = await collect(stream);
  assert.ok(between.connections >= 2);
  assert.equal(events.filter((event) => event.event === "done").length, 1);
  const numbers = events.map((event) => Number(event.id.split(".").pop()));
  assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b), "no event twice");
  assert.equal((await contents(who, "t")).length, 2);
}));

test("a stream that never begins is not asked twice", broken([UNANSWERED], async (between) => {
  const stream = new Novelo({ baseUrl: between.url }).streamAskThread({ question: "When does the Harbour Tea House open?" });
  await assert.rejects(collect(stream), ConnectionLost);
  assert.equal(between.connections, 1);
}));

test("a stream that is closed ends", async () => {
  const stream = client.streamAskThread({ question: "When does the Harbour Tea House open?" });
  const seen = [];
  for await (const event of stream) {
    seen.push(event);
    stream.close();
  }
  assert.equal(seen.length, 1);
});

test("an export that breaks is an error", broken([(seen) => (seen.length > 200_000 ? 200_000 : undefined)], async (between) => {
  const who = user();
  await client.appendTurns(who, "t", { messages: Array.from({ length: 20 }, () => ({ role: "user", content: "x".repeat(50_000) })) });
  await assert.rejects(collect(new Novelo({ baseUrl: between.url }).exportUser(who)), ConnectionLost);
}));
