// The middleware and the chat store in the real AI SDK.

import assert from "node:assert/strict";
import { test } from "node:test";

import { convertToModelMessages, generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { z } from "zod";

import { ConnectionFailed, Novelo } from "@novelo/client";
import { NoveloChatStore, noveloContext } from "@novelo/client/ai";

import { gone, url, user } from "./support.mjs";

const client = new Novelo({ baseUrl: url });
const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model that tells what it was sent: it calls the tool once, then answers. */
function scripted(asked, tools = false) {
  const decide = ({ prompt }) => {
    asked.push(prompt);
    const results = prompt.at(-1).role === "tool";
    if (!tools || results) return { content: [{ type: "text", text: `seen ${prompt.length}` }], finishReason: { unified: "stop" } };
    const call = { type: "tool-call", toolCallId: `c${asked.length}`, toolName: "weather", input: '{"city":"Belém"}' };
    return { content: [call], finishReason: { unified: "tool-calls" } };
  };
  return new MockLanguageModelV3({
    doGenerate: async (params) => ({ ...decide(params), usage: USAGE, warnings: [] }),
    doStream: async (params) => {
      const { content, finishReason } = decide(params);
      const parts = [
        { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: content[0].text }, { type: "text-end", id: "1" },
        { type: "finish", finishReason, usage: USAGE },
      ];
      return { stream: simulateReadableStream({ chunks: parts }) };
    },
  });
}

const long = (pairs) =>
  Array.from({ length: pairs }, (_, n) => [
    { role: "user", content: `question ${n} ${"word ".repeat(20)}` },
    { role: "assistant", content: `answer ${n} ${"word ".repeat(20)}` },
  ]).flat();

test("a prompt stays within its budget", async () => {
  const asked = [];
  const model = wrapLanguageModel({ model: scripted(asked), middleware: noveloContext({ client, budgetTokens: 400 }) });
  const messages = [...long(30), { role: "user", content: "and now?" }];
  const { text } = await generateText({ model, system: "Be brief.", messages });
  const [prompt] = asked;
  assert.equal(text, `seen ${prompt.length}`);
  assert.equal(prompt[0].content, "Be brief.");
  assert.equal(prompt.at(-1).content[0].text, "and now?");
  assert.ok(prompt.length > 4 && prompt.length < 30, `${prompt.length}`);
  // The newest, without a gap.
  assert.deepEqual(prompt.slice(1).map((m) => m.content[0].text), messages.slice(-(prompt.length - 1)).map((m) => m.content));
  const streamed = streamText({ model, system: "Be brief.", messages });
  assert.equal(await streamed.text, text);
});

test("calls and their results stay together", async () => {
  const asked = [];
  const model = wrapLanguageModel({ model: scripted(asked, true), middleware: noveloContext({ client, budgetTokens: 300 }) });
  const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `31 in ${city} ${"x ".repeat(20)}` });
  let messages = [];
  for (let n = 0; n < 8; n += 1) {
    messages.push({ role: "user", content: `Is it hot? ${n}` });
    const result = await generateText({ model, messages, tools: { weather }, stopWhen: stepCountIs(3) });
    messages = [...messages, ...result.response.messages];
  }
  assert.ok(asked.at(-1).length < messages.length);
  for (const prompt of asked) {
    const parts = prompt.flatMap((message) => (typeof message.content === "string" ? [] : message.content));
    const ids = (type) => parts.filter((part) => part.type === type).map((part) => part.toolCallId).sort();
    assert.deepEqual(ids("tool-call"), ids("tool-result"));
  }
});

test("what is remembered is told", async () => {
  const who = user();
  await client.addMemory(who, { text: "Ana is allergic to walnuts." });
  const asked = [];
  const model = wrapLanguageModel({ model: scripted(asked), middleware: noveloContext({ client, budgetTokens: 2000, memoriesOf: who }) });
  await generateText({ model, system: "Be brief.", prompt: "Can I eat walnuts?" });
  assert.deepEqual(asked[0].map((message) => message.role), ["system", "system", "user"]);
  assert.match(asked[0][1].content, /allergic to walnuts/);
});

test("what must stay and does not fit is an error", async () => {
  const model = wrapLanguageModel({ model: scripted([]), middleware: noveloContext({ client, budgetTokens: 10 }) });
  await assert.rejects(generateText({ model, prompt: "word ".repeat(100), maxRetries: 0 }), (error) => error.code === "over_budget");
  const nowhere = new Novelo({ baseUrl: await gone(), maxRetries: 0 });
  const lost = wrapLanguageModel({ model: scripted([]), middleware: noveloContext({ client: nowhere, budgetTokens: 100 }) });
  await assert.rejects(generateText({ model: lost, prompt: "hi", maxRetries: 0 }), ConnectionFailed);
});

test("chats are saved and loaded as they were", async () => {
  const who = user();
  const store = new NoveloChatStore({ client, user: who });
  const chat = "chat é/1";
  assert.deepEqual(await store.load(chat), []);
  const asked = [];
  const first = { id: "u1", role: "user", parts: [{ type: "text", text: "Olá! 🌴" }], metadata: { at: 1 } };
  let messages = [first];
  const result = streamText({ model: scripted(asked), messages: await convertToModelMessages(messages) });
  await result.consumeStream();
  // As a route does it: the SDK gives the whole chat to onFinish, which saves it.
  const stream = result.toUIMessageStream({
    originalMessages: messages,
    generateMessageId: () => "a1",
    onFinish: async (end) => {
      messages = end.messages;
      await store.save(chat, end.messages);
    },
  });
  for await (const _ of stream);
  assert.equal(messages.length, 2);
  assert.deepEqual(await new NoveloChatStore({ client, user: who }).load(chat), JSON.parse(JSON.stringify(messages)));
  const shown = (await store.list()).map(({ id, messages }) => ({ id, messages }));
  assert.deepEqual(shown, [{ id: chat, messages: 2 }]);
  // One is changed, one removed, one added; what stays is not written again.
  const version = async (id) => (await client.getDocument(["users", who, "convo.sessions", chat, "ai.messages", id])).version;
  const more = [first, { id: "u2", role: "user", parts: [{ type: "text", text: "again" }] }];
  await store.save(chat, more);
  assert.deepEqual(await store.load(chat), more);
  assert.equal(await version("u1"), 1);
  await store.save(chat, more);
  await assert.rejects(store.save(chat, [first, first]), /id of its own/);
  await assert.rejects(store.save(chat, [{ ...first, id: "" }]), /id of its own/);
  await store.delete(chat);
  assert.deepEqual(await store.load(chat), []);
  assert.deepEqual(await store.list(), []);
});
