// Every call of the API. Written by clients/generate.py from openapi.json: do not edit.

import { Base, documentPath, pages, segment } from "./base.js";
import type { CallOptions, DocumentPath } from "./base.js";
import type { EventStream } from "./stream.js";
import type * as types from "./types.js";

export class Operations extends Base {
  /** Appends messages to a thread. The same id or Idempotency-Key with the same bytes gives the first answer again. */
  appendTurns(user: string, thread: string, body: types.Append, options: CallOptions & { idempotencyKey?: string } = {}): Promise<types.Appended> {
    return this.json<types.Appended>({ method: "POST", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/turns`, body: body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Reads turns, oldest first: the last ones, or those after a seq. */
  listTurns(user: string, thread: string, options: CallOptions & { last?: number; after?: string | number; limit?: number } = {}): Promise<types.Turns> {
    return this.json<types.Turns>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/turns`, query: { "last": options.last, "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listTurns`, each page read when it is needed. */
  iterTurns(user: string, thread: string, options: CallOptions & { after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Turns["turns"][number]> {
    return pages((after) => this.listTurns(user, thread, { ...options, after: after ?? options.after ?? 0 }), "turns", "seq") as AsyncIterableIterator<types.Turns["turns"][number]>;
  }

  /** Lists the threads of a user by id. */
  listThreads(user: string, options: CallOptions & { after?: string | number; limit?: number } = {}): Promise<types.Threads> {
    return this.json<types.Threads>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads`, query: { "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listThreads`, each page read when it is needed. */
  iterThreads(user: string, options: CallOptions & { after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Threads["threads"][number]> {
    return pages((after) => this.listThreads(user, { ...options, after: after ?? options.after }), "threads", "id") as AsyncIterableIterator<types.Threads["threads"][number]>;
  }

  /** Makes a thread that holds the turns up to and including at_seq. */
  forkThread(user: string, thread: string, body: types.Fork, options: CallOptions = {}): Promise<types.Forked> {
    return this.json<types.Forked>({ method: "POST", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/fork`, body: body }, options);
  }

  /** Forgets a thread: its documents and traces, also in the raw files. */
  forgetThread(user: string, thread: string, options: CallOptions = {}): Promise<types.Forgotten> {
    return this.json<types.Forgotten>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}` }, options);
  }

  /** Forgets everything of a user. */
  forgetUser(user: string, options: CallOptions = {}): Promise<types.Forgotten> {
    return this.json<types.Forgotten>({ method: "DELETE", path: `/v1/users/${segment("user", user)}` }, options);
  }

  /** A thread as JSON Lines. */
  exportThread(user: string, thread: string, options: CallOptions = {}): AsyncIterableIterator<string> {
    return this.lines({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/export` }, options);
  }

  /** A user's documents as JSON Lines. */
  exportUser(user: string, options: CallOptions = {}): AsyncIterableIterator<string> {
    return this.lines({ method: "GET", path: `/v1/users/${segment("user", user)}/export` }, options);
  }

  /** Everything as JSON Lines: a backup, consistent while writes go on. */
  exportAll(options: CallOptions = {}): AsyncIterableIterator<string> {
    return this.lines({ method: "GET", path: "/v1/export" }, options);
  }

  /** Puts exported documents back as they were; of a backup, without what was forgotten since. */
  importDocuments(lines: string | Uint8Array | Blob, options: CallOptions & { restore?: boolean; takenAt?: number; confirm?: string } = {}): Promise<types.Imported> {
    return this.json<types.Imported>({ method: "POST", path: "/v1/import", lines, query: { "restore": options.restore, "taken_at": options.takenAt }, headers: { "X-Novelo-Confirm": options.confirm } }, options);
  }

  /** Winds a thread, or the messages given, into what a model should see next, within the budget. */
  makeContext(body: types.ContextRequest, options: CallOptions = {}): Promise<types.Context> {
    return this.json<types.Context>({ method: "POST", path: "/v1/context", body: body }, options);
  }

  /** Reads a document. */
  getDocument(path: DocumentPath, options: CallOptions = {}): Promise<types.Document> {
    return this.json<types.Document>({ method: "GET", path: `/v1/docs/${documentPath(path)}` }, options);
  }

  /** Lists the documents of a collection by time. */
  listCollection(path: DocumentPath, options: CallOptions & { begin?: number; end?: number; limit?: number; after?: string | number } = {}): Promise<types.Documents> {
    return this.json<types.Documents>({ method: "GET", path: `/v1/docs/${documentPath(path)}`, query: { "begin": options.begin, "end": options.end, "limit": options.limit, "after": options.after } }, options);
  }

  /** The entries of all pages of `listCollection`, each page read when it is needed. */
  iterCollection(path: DocumentPath, options: CallOptions & { begin?: number; end?: number; limit?: number; after?: string | number } = {}): AsyncIterableIterator<types.Documents["documents"][number]> {
    return pages((after) => this.listCollection(path, { ...options, after: after ?? options.after }), "documents", "id") as AsyncIterableIterator<types.Documents["documents"][number]>;
  }

  /** Stores the body as the document. */
  putDocument(path: DocumentPath, body: unknown, options: CallOptions & { ifMatch?: string | number } = {}): Promise<types.Stamp> {
    return this.json<types.Stamp>({ method: "PUT", path: `/v1/docs/${documentPath(path)}`, body: body, headers: { "If-Match": options.ifMatch } }, options);
  }

  /** Merges the body into the document, deeply. */
  patchDocument(path: DocumentPath, body: types.JsonObject, options: CallOptions & { ifMatch?: string | number } = {}): Promise<types.Stamp> {
    return this.json<types.Stamp>({ method: "PATCH", path: `/v1/docs/${documentPath(path)}`, body: body, headers: { "If-Match": options.ifMatch } }, options);
  }

  /** Deletes a document. */
  deleteDocument(path: DocumentPath, options: CallOptions & { ifMatch?: string | number } = {}): Promise<types.Deleted> {
    return this.json<types.Deleted>({ method: "DELETE", path: `/v1/docs/${documentPath(path)}`, headers: { "If-Match": options.ifMatch }, repeatable: false }, options);
  }

  /** Several writes, all or nothing. */
  batchDocuments(body: types.Batch, options: CallOptions = {}): Promise<types.Done> {
    return this.json<types.Done>({ method: "POST", path: "/v1/docs:batch", body: body }, options);
  }

  /** What is known of a user. */
  getUserData(user: string, options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "GET", path: `/v1/users/${segment("user", user)}/data` }, options);
  }

  /** Replaces what is known of a user. */
  putUserData(user: string, body: types.JsonObject, options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "PUT", path: `/v1/users/${segment("user", user)}/data`, body: body }, options);
  }

  /** Adds to what is known of a user. */
  patchUserData(user: string, body: types.JsonObject, options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "PATCH", path: `/v1/users/${segment("user", user)}/data`, body: body }, options);
  }

  /** What fell out of a thread's window. */
  getSummary(user: string, thread: string, options: CallOptions = {}): Promise<types.Summary> {
    return this.json<types.Summary>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/summary` }, options);
  }

  /** Sets a summary; later turns are added to it. */
  setSummary(user: string, thread: string, body: types.NewSummary, options: CallOptions = {}): Promise<types.Summary> {
    return this.json<types.Summary>({ method: "PUT", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/summary`, body: body }, options);
  }

  /** Deletes a summary. */
  deleteSummary(user: string, thread: string, options: CallOptions = {}): Promise<types.Deleted> {
    return this.json<types.Deleted>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/summary`, repeatable: false }, options);
  }

  /** Compacts a thread that costs more than it may: old spans are shown in short, and can be had back. */
  compactThread(user: string, thread: string, body: types.NewCompaction, options: CallOptions = {}): Promise<types.Compacted> {
    return this.json<types.Compacted>({ method: "POST", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/compactions`, body: body, repeatable: false }, options);
  }

  /** Lists the compactions of a thread, oldest first. */
  listCompactions(user: string, thread: string, options: CallOptions & { after?: string | number; limit?: number } = {}): Promise<types.Compactions> {
    return this.json<types.Compactions>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/compactions`, query: { "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listCompactions`, each page read when it is needed. */
  iterCompactions(user: string, thread: string, options: CallOptions & { after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Compactions["compactions"][number]> {
    return pages((after) => this.listCompactions(user, thread, { ...options, after: after ?? options.after }), "compactions", "id") as AsyncIterableIterator<types.Compactions["compactions"][number]>;
  }

  /** Reads a compaction. */
  getCompaction(user: string, thread: string, id: string, options: CallOptions = {}): Promise<types.Compaction> {
    return this.json<types.Compaction>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/compactions/${segment("id", id)}` }, options);
  }

  /** Undoes a compaction: what it replaced is shown again. */
  undoCompaction(user: string, thread: string, id: string, options: CallOptions = {}): Promise<types.Deleted> {
    return this.json<types.Deleted>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/compactions/${segment("id", id)}`, repeatable: false }, options);
  }

  /** What a span replaced, word for word. */
  getSpan(user: string, thread: string, id: string, options: CallOptions = {}): Promise<types.SpanTurns> {
    return this.json<types.SpanTurns>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/spans/${segment("id", id)}` }, options);
  }

  /** Shows a span word for word in prompts again. */
  restoreSpan(user: string, thread: string, id: string, options: CallOptions = {}): Promise<types.SpanTurns> {
    return this.json<types.SpanTurns>({ method: "POST", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/spans/${segment("id", id)}/restore`, repeatable: false }, options);
  }

  /** The turns that are never compacted. */
  getPins(user: string, thread: string, options: CallOptions = {}): Promise<types.Pins> {
    return this.json<types.Pins>({ method: "GET", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/pins` }, options);
  }

  /** Pins these turns, and no others. */
  setPins(user: string, thread: string, body: types.Pins, options: CallOptions = {}): Promise<types.Pins> {
    return this.json<types.Pins>({ method: "PUT", path: `/v1/users/${segment("user", user)}/threads/${segment("thread", thread)}/pins`, body: body }, options);
  }

  /** Keeps a text for later. */
  addMemory(user: string, body: types.NewMemory, options: CallOptions = {}): Promise<types.Named> {
    return this.json<types.Named>({ method: "POST", path: `/v1/users/${segment("user", user)}/memories`, body: body, named: "id" }, options);
  }

  /** Lists memories, oldest first. */
  listMemories(user: string, options: CallOptions & { after?: string | number; limit?: number } = {}): Promise<types.Memories> {
    return this.json<types.Memories>({ method: "GET", path: `/v1/users/${segment("user", user)}/memories`, query: { "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listMemories`, each page read when it is needed. */
  iterMemories(user: string, options: CallOptions & { after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Memories["memories"][number]> {
    return pages((after) => this.listMemories(user, { ...options, after: after ?? options.after }), "memories", "id") as AsyncIterableIterator<types.Memories["memories"][number]>;
  }

  /** Forgets all memories of a user. */
  forgetMemories(user: string, options: CallOptions = {}): Promise<types.Forgotten> {
    return this.json<types.Forgotten>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/memories` }, options);
  }

  /** Finds memories. */
  searchMemories(user: string, body: types.Search, options: CallOptions = {}): Promise<types.MemoryHits> {
    return this.json<types.MemoryHits>({ method: "POST", path: `/v1/users/${segment("user", user)}/memories/search`, body: body }, options);
  }

  /** A memory, with what it replaced and what replaced it. */
  getMemory(user: string, id: string, options: CallOptions = {}): Promise<types.Memory> {
    return this.json<types.Memory>({ method: "GET", path: `/v1/users/${segment("user", user)}/memories/${segment("id", id)}` }, options);
  }

  /** Changes since when and until when a memory is true, how sure it is, and what it replaces. */
  changeMemory(user: string, id: string, body: types.MemoryChange, options: CallOptions = {}): Promise<types.Memory> {
    return this.json<types.Memory>({ method: "PATCH", path: `/v1/users/${segment("user", user)}/memories/${segment("id", id)}`, body: body, repeatable: false }, options);
  }

  /** Deletes a memory. */
  deleteMemory(user: string, id: string, options: CallOptions = {}): Promise<types.Deleted> {
    return this.json<types.Deleted>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/memories/${segment("id", id)}`, repeatable: false }, options);
  }

  /** Finds what was said, in all threads of a user or in one. */
  searchTurns(user: string, body: types.TurnSearch, options: CallOptions = {}): Promise<types.TurnHits> {
    return this.json<types.TurnHits>({ method: "POST", path: `/v1/users/${segment("user", user)}/turns/search`, body: body }, options);
  }

  /** Makes a text searchable, or a path of the server's disk, which is for admins. One of the same id is replaced. */
  indexDocument(user: string, body: types.NewText, options: CallOptions = {}): Promise<types.IndexedText> {
    return this.json<types.IndexedText>({ method: "POST", path: `/v1/users/${segment("user", user)}/documents`, body: body, named: "id" }, options);
  }

  /** Lists searchable documents. */
  listTexts(user: string, options: CallOptions & { after?: string | number; limit?: number } = {}): Promise<types.Texts> {
    return this.json<types.Texts>({ method: "GET", path: `/v1/users/${segment("user", user)}/documents`, query: { "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listTexts`, each page read when it is needed. */
  iterTexts(user: string, options: CallOptions & { after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Texts["documents"][number]> {
    return pages((after) => this.listTexts(user, { ...options, after: after ?? options.after }), "documents", "id") as AsyncIterableIterator<types.Texts["documents"][number]>;
  }

  /** Finds passages of documents and repositories. */
  searchDocuments(user: string, body: types.PassageSearch, options: CallOptions = {}): Promise<types.PassageHits> {
    return this.json<types.PassageHits>({ method: "POST", path: `/v1/users/${segment("user", user)}/documents/search`, body: body }, options);
  }

  /** What is known of a searchable document. */
  getText(user: string, id: string, options: CallOptions = {}): Promise<types.KnownText> {
    return this.json<types.KnownText>({ method: "GET", path: `/v1/users/${segment("user", user)}/documents/${segment("id", id)}` }, options);
  }

  /** Forgets a document with its passages. */
  deleteText(user: string, id: string, options: CallOptions = {}): Promise<types.Deleted> {
    return this.json<types.Deleted>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/documents/${segment("id", id)}`, repeatable: false }, options);
  }

  /** Adds a task. */
  addTask(user: string, body: types.NewTask, options: CallOptions = {}): Promise<types.Task> {
    return this.json<types.Task>({ method: "POST", path: `/v1/users/${segment("user", user)}/tasks`, body: body, repeatable: false }, options);
  }

  /** Lists tasks, oldest first. */
  listTasks(user: string, options: CallOptions & { status?: string; after?: string | number; limit?: number } = {}): Promise<types.Tasks> {
    return this.json<types.Tasks>({ method: "GET", path: `/v1/users/${segment("user", user)}/tasks`, query: { "status": options.status, "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listTasks`, each page read when it is needed. */
  iterTasks(user: string, options: CallOptions & { status?: string; after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Tasks["tasks"][number]> {
    return pages((after) => this.listTasks(user, { ...options, after: after ?? options.after }), "tasks", "id") as AsyncIterableIterator<types.Tasks["tasks"][number]>;
  }

  /** Reads a task. */
  getTask(user: string, id: string, options: CallOptions = {}): Promise<types.Task> {
    return this.json<types.Task>({ method: "GET", path: `/v1/users/${segment("user", user)}/tasks/${segment("id", id)}` }, options);
  }

  /** Changes a task. */
  changeTask(user: string, id: string, body: types.TaskChange, options: CallOptions = {}): Promise<types.Task> {
    return this.json<types.Task>({ method: "PATCH", path: `/v1/users/${segment("user", user)}/tasks/${segment("id", id)}`, body: body }, options);
  }

  /** Deletes a task. */
  deleteTask(user: string, id: string, options: CallOptions = {}): Promise<types.Deleted> {
    return this.json<types.Deleted>({ method: "DELETE", path: `/v1/users/${segment("user", user)}/tasks/${segment("id", id)}`, repeatable: false }, options);
  }

  /** Keeps what a tool answered while a task was worked on. */
  addResult(user: string, id: string, body: types.NewResult, options: CallOptions = {}): Promise<types.Named> {
    return this.json<types.Named>({ method: "POST", path: `/v1/users/${segment("user", user)}/tasks/${segment("id", id)}/results`, body: body, repeatable: false }, options);
  }

  /** Lists the results of a task, oldest first. */
  listResults(user: string, id: string, options: CallOptions & { after?: string | number; limit?: number } = {}): Promise<types.Results> {
    return this.json<types.Results>({ method: "GET", path: `/v1/users/${segment("user", user)}/tasks/${segment("id", id)}/results`, query: { "after": options.after, "limit": options.limit } }, options);
  }

  /** The entries of all pages of `listResults`, each page read when it is needed. */
  iterResults(user: string, id: string, options: CallOptions & { after?: string | number; limit?: number } = {}): AsyncIterableIterator<types.Results["results"][number]> {
    return pages((after) => this.listResults(user, id, { ...options, after: after ?? options.after }), "results", "id") as AsyncIterableIterator<types.Results["results"][number]>;
  }

  /** What a model should see of a user: summary, data, newest messages, memories, conversation memory. */
  makeMemoryContext(body: types.MemoryContextRequest, options: CallOptions = {}): Promise<types.Context> {
    return this.json<types.Context>({ method: "POST", path: "/memory/context", body: body }, options);
  }

  /** Forgets what a scope names. */
  resetMemory(body: types.Reset, options: CallOptions = {}): Promise<types.WasReset> {
    return this.json<types.WasReset>({ method: "POST", path: "/memory/reset", body: body }, options);
  }

  /** What a model may do with the memory, as tool definitions. */
  listSkills(options: CallOptions = {}): Promise<types.Skills> {
    return this.json<types.Skills>({ method: "GET", path: "/memory/skills" }, options);
  }

  /** Runs a skill. */
  runSkill(name: string, body: types.SkillRun, options: CallOptions = {}): Promise<types.SkillResult> {
    return this.json<types.SkillResult>({ method: "POST", path: `/memory/skills/${segment("name", name)}`, body: body, repeatable: false }, options);
  }

  /** Answers a message with what is remembered of a user; the model may use the skills. As a stream where that is asked for. */
  chatWithMemory(body: Omit<types.MemoryChat, "stream">, options: CallOptions = {}): Promise<types.Reply> {
    return this.json<types.Reply>({ method: "POST", path: "/memory/chat", body: { ...body, stream: false }, repeatable: false }, options);
  }

  /** Answers a message with what is remembered of a user; the model may use the skills. As a stream where that is asked for. */
  streamChatWithMemory(body: Omit<types.MemoryChat, "stream">, options: CallOptions = {}): EventStream {
    return this.stream({ method: "POST", path: "/memory/chat", body: { ...body, stream: true }, repeatable: false }, options);
  }

  /** Answers a question to a thread from the user's documents. As a stream where that is asked for. */
  askThread(body: Omit<types.Question, "stream">, options: CallOptions = {}): Promise<types.Reply> {
    return this.json<types.Reply>({ method: "POST", path: "/api/ask", body: { ...body, stream: false }, repeatable: false }, options);
  }

  /** Answers a question to a thread from the user's documents. As a stream where that is asked for. */
  streamAskThread(body: Omit<types.Question, "stream">, options: CallOptions = {}): EventStream {
    return this.stream({ method: "POST", path: "/api/ask", body: { ...body, stream: true }, repeatable: false }, options);
  }

  /** Answers a question about data by query; what it leaves out is taken from the conversation, as the policy allows. */
  askData(body: types.DataQuestion, options: CallOptions = {}): Promise<types.DataAnswer> {
    return this.json<types.DataAnswer>({ method: "POST", path: "/ask", body: body, repeatable: false }, options);
  }

  /** Weighs and routes a message, and answers as the moment calls for. As a stream where that is asked for. */
  askGuided(body: Omit<types.GuidedMessage, "stream">, options: CallOptions & { debug?: string } = {}): Promise<types.GuidedAnswer> {
    return this.json<types.GuidedAnswer>({ method: "POST", path: "/ask-eco", body: { ...body, stream: false }, query: { "debug": options.debug }, repeatable: false }, options);
  }

  /** Weighs and routes a message, and answers as the moment calls for. As a stream where that is asked for. */
  streamAskGuided(body: Omit<types.GuidedMessage, "stream">, options: CallOptions & { debug?: string } = {}): EventStream {
    return this.stream({ method: "POST", path: "/ask-eco", body: { ...body, stream: true }, query: { "debug": options.debug }, repeatable: false }, options);
  }

  /** OpenAI's chat completions, by a model that a configured server knows; where a thread is named, it is behind it. */
  completeChat(body: types.Completion, options: CallOptions & { thread?: string } = {}): Promise<types.Completed> {
    return this.json<types.Completed>({ method: "POST", path: "/v1/chat/completions", body: { ...body, stream: false }, headers: { "X-Novelo-Thread": options.thread }, repeatable: false }, options);
  }

  /** OpenAI's chat completions, by a model that a configured server knows; where a thread is named, it is behind it. */
  streamCompleteChat(body: types.Completion, options: CallOptions & { thread?: string } = {}): EventStream {
    return this.stream({ method: "POST", path: "/v1/chat/completions", body: { ...body, stream: true }, headers: { "X-Novelo-Thread": options.thread }, repeatable: false }, options);
  }

  /** OpenAI's responses, by a model that a configured server knows. As a stream where that is asked for. */
  createResponse(body: types.NewResponse, options: CallOptions & { thread?: string } = {}): Promise<types.Response> {
    return this.json<types.Response>({ method: "POST", path: "/v1/responses", body: { ...body, stream: false }, headers: { "X-Novelo-Thread": options.thread }, repeatable: false }, options);
  }

  /** OpenAI's responses, by a model that a configured server knows. As a stream where that is asked for. */
  streamCreateResponse(body: types.NewResponse, options: CallOptions & { thread?: string } = {}): EventStream {
    return this.stream({ method: "POST", path: "/v1/responses", body: { ...body, stream: true }, headers: { "X-Novelo-Thread": options.thread }, repeatable: false }, options);
  }

  /** What the input of a response would cost, without asking a model. */
  countInputTokens(body: types.NewResponse, options: CallOptions = {}): Promise<types.InputTokens> {
    return this.json<types.InputTokens>({ method: "POST", path: "/v1/responses/input_tokens", body: body }, options);
  }

  /** A conversation in short: what stays, and an item that says which spans were replaced, with what, and how. */
  compactResponse(body: types.NewResponse, options: CallOptions = {}): Promise<types.CompactedResponse> {
    return this.json<types.CompactedResponse>({ method: "POST", path: "/v1/responses/compact", body: body, repeatable: false }, options);
  }

  /** Reads a response, or resumes its stream after an event. */
  getResponse(id: string, options: CallOptions & { user?: string } = {}): Promise<types.Response> {
    return this.json<types.Response>({ method: "GET", path: `/v1/responses/${segment("id", id)}`, query: { "user": options.user } }, options);
  }

  /** Reads a response, or resumes its stream after an event. */
  streamGetResponse(id: string, options: CallOptions & { startingAfter?: number; user?: string } = {}): EventStream {
    return this.stream({ method: "GET", path: `/v1/responses/${segment("id", id)}`, query: { "starting_after": options.startingAfter, "user": options.user, "stream": true } }, options);
  }

  /** Deletes a response. */
  deleteResponse(id: string, options: CallOptions & { user?: string } = {}): Promise<types.DeletedResponse> {
    return this.json<types.DeletedResponse>({ method: "DELETE", path: `/v1/responses/${segment("id", id)}`, query: { "user": options.user }, repeatable: false }, options);
  }

  /** Ends a background response. */
  cancelResponse(id: string, options: CallOptions & { user?: string } = {}): Promise<types.Response> {
    return this.json<types.Response>({ method: "POST", path: `/v1/responses/${segment("id", id)}/cancel`, query: { "user": options.user }, repeatable: false }, options);
  }

  /** Lists the items that the request of a response added. */
  listInputItems(id: string, options: CallOptions & { after?: string | number; limit?: number; order?: string; user?: string } = {}): Promise<types.ItemList> {
    return this.json<types.ItemList>({ method: "GET", path: `/v1/responses/${segment("id", id)}/input_items`, query: { "after": options.after, "limit": options.limit, "order": options.order, "user": options.user } }, options);
  }

  /** The entries of all pages of `listInputItems`, each page read when it is needed. */
  iterInputItems(id: string, options: CallOptions & { after?: string | number; limit?: number; order?: string; user?: string } = {}): AsyncIterableIterator<types.ItemList["data"][number]> {
    return pages((after) => this.listInputItems(id, { ...options, after: after ?? options.after }), "data", "id") as AsyncIterableIterator<types.ItemList["data"][number]>;
  }

  /** What of the conversation the model saw, and why: the trace of the prompt. */
  explainResponse(id: string, options: CallOptions & { user?: string } = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "GET", path: `/v1/responses/${segment("id", id)}/explain`, query: { "user": options.user } }, options);
  }

  /** Makes a conversation, which is a thread. */
  createConversation(body: types.NewConversation, options: CallOptions = {}): Promise<types.Conversation> {
    return this.json<types.Conversation>({ method: "POST", path: "/v1/conversations", body: body, repeatable: false }, options);
  }

  /** Lists the conversations of a user. */
  listConversations(options: CallOptions & { after?: string | number; limit?: number; user?: string } = {}): Promise<types.ConversationList> {
    return this.json<types.ConversationList>({ method: "GET", path: "/v1/conversations", query: { "after": options.after, "limit": options.limit, "user": options.user } }, options);
  }

  /** The entries of all pages of `listConversations`, each page read when it is needed. */
  iterConversations(options: CallOptions & { after?: string | number; limit?: number; user?: string } = {}): AsyncIterableIterator<types.ConversationList["data"][number]> {
    return pages((after) => this.listConversations({ ...options, after: after ?? options.after }), "data", "id") as AsyncIterableIterator<types.ConversationList["data"][number]>;
  }

  /** Reads a conversation. */
  getConversation(id: string, options: CallOptions & { user?: string } = {}): Promise<types.Conversation> {
    return this.json<types.Conversation>({ method: "GET", path: `/v1/conversations/${segment("id", id)}`, query: { "user": options.user } }, options);
  }

  /** Sets the metadata of a conversation. */
  updateConversation(id: string, body: types.ConversationChange, options: CallOptions = {}): Promise<types.Conversation> {
    return this.json<types.Conversation>({ method: "POST", path: `/v1/conversations/${segment("id", id)}`, body: body }, options);
  }

  /** Forgets a conversation: its thread, with all that was made from it. */
  deleteConversation(id: string, options: CallOptions & { user?: string } = {}): Promise<types.DeletedConversation> {
    return this.json<types.DeletedConversation>({ method: "DELETE", path: `/v1/conversations/${segment("id", id)}`, query: { "user": options.user }, repeatable: false }, options);
  }

  /** Adds items to a conversation. */
  createItems(id: string, body: types.NewItems, options: CallOptions = {}): Promise<types.ItemList> {
    return this.json<types.ItemList>({ method: "POST", path: `/v1/conversations/${segment("id", id)}/items`, body: body, repeatable: false }, options);
  }

  /** Lists the items of a conversation, newest first unless order is asc. */
  listItems(id: string, options: CallOptions & { after?: string | number; limit?: number; order?: string; user?: string } = {}): Promise<types.ItemList> {
    return this.json<types.ItemList>({ method: "GET", path: `/v1/conversations/${segment("id", id)}/items`, query: { "after": options.after, "limit": options.limit, "order": options.order, "user": options.user } }, options);
  }

  /** The entries of all pages of `listItems`, each page read when it is needed. */
  iterItems(id: string, options: CallOptions & { after?: string | number; limit?: number; order?: string; user?: string } = {}): AsyncIterableIterator<types.ItemList["data"][number]> {
    return pages((after) => this.listItems(id, { ...options, after: after ?? options.after }), "data", "id") as AsyncIterableIterator<types.ItemList["data"][number]>;
  }

  /** Reads an item. */
  getItem(id: string, item: string, options: CallOptions & { user?: string } = {}): Promise<types.Item> {
    return this.json<types.Item>({ method: "GET", path: `/v1/conversations/${segment("id", id)}/items/${segment("item", item)}`, query: { "user": options.user } }, options);
  }

  /** Deletes an item; the conversation is returned. */
  deleteItem(id: string, item: string, options: CallOptions & { user?: string } = {}): Promise<types.Conversation> {
    return this.json<types.Conversation>({ method: "DELETE", path: `/v1/conversations/${segment("id", id)}/items/${segment("item", item)}`, query: { "user": options.user }, repeatable: false }, options);
  }

  /** OpenAI's embeddings, by the embedder of the searches. Nothing is stored. */
  createEmbeddings(body: types.NewEmbeddings, options: CallOptions = {}): Promise<types.Embeddings> {
    return this.json<types.Embeddings>({ method: "POST", path: "/v1/embeddings", body: body }, options);
  }

  /** What was recorded of a prompt, with its explanation, or of the course of a request. */
  getTrace(id: string, options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "GET", path: `/v1/traces/${segment("id", id)}` }, options);
  }

  /** Makes an old prompt again and compares the bytes; of a request, the last one that was made for it. */
  replayTrace(id: string, options: CallOptions = {}): Promise<types.Replay> {
    return this.json<types.Replay>({ method: "POST", path: `/v1/traces/${segment("id", id)}/replay` }, options);
  }

  /** The course of a request, for an admin: caches, heuristics, modules, latency, errors. A browser gets a page that reads it, which needs no key itself. */
  debugTrace(id: string, options: CallOptions = {}): Promise<types.Course> {
    return this.json<types.Course>({ method: "GET", path: `/debug/trace/${segment("id", id)}` }, options);
  }

  /** Lists keys; their secrets are not kept. */
  listKeys(options: CallOptions = {}): Promise<types.Keys> {
    return this.json<types.Keys>({ method: "GET", path: "/v1/keys" }, options);
  }

  /** Makes a key; the secret is in this answer only. */
  createKey(body: types.NewKey, options: CallOptions & { confirm?: string } = {}): Promise<types.Key> {
    return this.json<types.Key>({ method: "POST", path: "/v1/keys", body: body, headers: { "X-Novelo-Confirm": options.confirm }, repeatable: false }, options);
  }

  /** Revokes a key. */
  revokeKey(id: string, options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "DELETE", path: `/v1/keys/${segment("id", id)}`, repeatable: false }, options);
  }

  /** Lists the models that a caller may name: the jobs, what their servers list, and the embedder. */
  listModels(options: CallOptions = {}): Promise<types.Models> {
    return this.json<types.Models>({ method: "GET", path: "/v1/models" }, options);
  }

  /** One of the models that a caller may name. */
  getModel(model: string, options: CallOptions = {}): Promise<types.Model> {
    return this.json<types.Model>({ method: "GET", path: `/v1/models/${segment("model", model)}` }, options);
  }

  /** Makes the points in Qdrant anew: of one user, or of the next of all, until it is finished. */
  rebuildIndex(body: types.RebuildStep, options: CallOptions = {}): Promise<types.Rebuilt> {
    return this.json<types.Rebuilt>({ method: "POST", path: "/v1/index/rebuild", body: body, repeatable: false }, options);
  }

  /** Reads and cross-checks every record, and asks the model servers whether they are there. */
  checkStore(options: CallOptions = {}): Promise<types.Doctor> {
    return this.json<types.Doctor>({ method: "GET", path: "/v1/doctor" }, options);
  }

  /** Whether the process answers. */
  getLive(options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "GET", path: "/health/live" }, options);
  }

  /** Whether it would take a write. */
  getReady(options: CallOptions = {}): Promise<types.JsonObject> {
    return this.json<types.JsonObject>({ method: "GET", path: "/health/ready" }, options);
  }

  /** Counters for Prometheus. */
  getMetrics(options: CallOptions = {}): Promise<string> {
    return this.text({ method: "GET", path: "/metrics" }, options);
  }

  /** The chat page. */
  getChatPage(options: CallOptions = {}): Promise<string> {
    return this.text({ method: "GET", path: "/chat" }, options);
  }

  /** A file of the pages. */
  getAsset(name: string, options: CallOptions = {}): Promise<string> {
    return this.text({ method: "GET", path: `/assets/${segment("name", name)}` }, options);
  }

  /** Winds what a kala reads into messages, by a model or a preset. */
  runTopicContext(body: types.TopicRun, options: CallOptions = {}): Promise<types.Yoj> {
    return this.json<types.Yoj>({ method: "POST", path: "/context/topicContextYoj/run", body: body, repeatable: false }, options);
  }

  /** Makes the index of a session's groups say what a response says. */
  runCollapseIndexer(body: types.IndexerRun, options: CallOptions = {}): Promise<types.Indexed> {
    return this.json<types.Indexed>({ method: "POST", path: "/jobs/context/collapse/indexer/run", body: body, repeatable: false }, options);
  }

  /** Expands or collapses a group. */
  setGroupState(body: types.GroupState, options: CallOptions = {}): Promise<types.GroupStateSet> {
    return this.json<types.GroupStateSet>({ method: "POST", path: "/jobs/context/collapse/state/set", body: body }, options);
  }
}
