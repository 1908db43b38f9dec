// Sending requests, again where that is safe.

import { ApiError, BadAnswer, ConnectionFailed, ConnectionLost, NoveloError, TimedOut, apiError } from "./errors.js";
import { EventStream } from "./stream.js";

/** The path of a document: `"a/b/c/d"`, or its segments where one has a slash in it. */
export type DocumentPath = string | readonly string[];

export interface ClientOptions {
  /** Where the server is; `http://127.0.0.1:7420` by default. */
  baseUrl?: string;
  apiKey?: string;
  /** How long to wait for an answer, and between two events of a stream; 60 seconds by default. */
  timeoutMs?: number;
  /** How often a call that fails on its way is repeated, if that cannot do it twice; 2 by default. */
  maxRetries?: number;
  /** What sends requests; the global `fetch` by default. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  lines?: string | Uint8Array | Blob;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  repeatable?: boolean;
  /** The member that gets a new id where the caller gives none. */
  named?: string;
}

const RETRY_WAIT_S_MAX = 30;
const BACKOFF_MS = 200;
const BACKOFF_MS_MAX = 5000;
// Refused before anything was done, so that any request may be sent again.
const NOT_STARTED = new Set(["busy", "rate_limited"]);
const FOR_NOW = new Set([...NOT_STARTED, "timeout", "unavailable", "read_only"]);
const GATEWAY = new Set([502, 503, 504]);
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** One percent-encoded segment of an address. */
export function segment(name: string, value: string): string {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string, not ${typeof value}`);
  if (value === "") throw new TypeError(`${name} is empty`);
  if (/^\.{1,2}$/.test(value)) throw new TypeError(`${name} cannot be ${value}: it would be a step in the address`);
  try {
    return encodeURIComponent(value);
  } catch {
    throw new TypeError(`${name} is not valid Unicode`);
  }
}

export function documentPath(path: DocumentPath): string {
  const parts = typeof path === "string" ? path.split("/") : path;
  if (parts.length === 0) throw new TypeError("path is empty");
  return parts.map((part) => segment("a segment of the path", part)).join("/");
}

export async function* pages<Page extends { has_more: boolean }>(
  read: (after: string | number | undefined) => Promise<Page>,
  key: string,
  cursor: string,
): AsyncIterableIterator<unknown> {
  let after: string | number | undefined;
  for (;;) {
    const page = await read(after);
    const entries = (page as unknown as Record<string, Array<Record<string, string | number>> | undefined>)[key];
    if (!entries) throw new TypeError("the path names a document, not a collection");
    yield* entries;
    const last = entries[entries.length - 1];
    if (!page.has_more || !last) return;
    after = last[cursor];
  }
}

export class Base {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly #apiKey: string | undefined;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions = {}) {
    const given = options.baseUrl ?? "http://127.0.0.1:7420";
    let url: URL;
    try {
      url = new URL(given);
    } catch {
      throw new TypeError(`baseUrl is not an address: ${given}`);
    }
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`baseUrl must be http://… or https://…, not ${given}`);
    if (url.search || url.hash) throw new TypeError("baseUrl has a query or a fragment");
    this.baseUrl = given.replace(/\/+$/, "");
    this.timeoutMs = options.timeoutMs ?? 60_000;
    this.maxRetries = options.maxRetries ?? 2;
    if (!(this.maxRetries >= 0)) throw new TypeError("maxRetries must be 0 or more");
    if (!(this.timeoutMs > 0)) throw new TypeError("timeoutMs must be more than 0");
    this.#apiKey = options.apiKey;
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** One attempt. The answer is good; its body is not read yet. */
  async send(request: Prepared, headers: Record<string, string>, options: CallOptions): Promise<Response> {
    const stop = new AbortController();
    const timeoutMs = options.timeoutMs ?? this.timeoutMs;
    const timer = setTimeout(() => stop.abort(new TimedOut(`${request.name}: ${this.baseUrl} did not answer in time`)), timeoutMs);
    const left = () => stop.abort(options.signal?.reason);
    options.signal?.addEventListener("abort", left, { once: true });
    try {
      options.signal?.throwIfAborted();
      const response = await this.#fetch(this.baseUrl + request.path, {
        method: request.method,
        headers: {
          accept: "application/json",
          ...(this.#apiKey ? { authorization: `Bearer ${this.#apiKey}` } : {}),
          ...request.headers,
          ...headers,
        },
        body: request.content,
        redirect: "manual",
        signal: stop.signal,
      } as RequestInit);
      if (response.status >= 400) throw apiError(response.status, response.headers, await response.text());
      if (!response.ok) throw new BadAnswer(`the server answered ${response.status}, which Novelo never does`);
      return response;
    } catch (error) {
      throw this.failure(request, error, stop.signal, options.signal);
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", left);
    }
  }

  failure(request: Prepared, error: unknown, stopped?: AbortSignal, caller?: AbortSignal): unknown {
    if (error instanceof NoveloError || caller?.aborted) return caller?.aborted ? caller.reason : error;
    if (stopped?.aborted) return stopped.reason;
    const cause = (error as { cause?: { code?: string; message?: string; errors?: Array<{ code?: string }> } }).cause;
    const code = cause?.code ?? cause?.errors?.[0]?.code;
    const why = cause?.message || code || String((error as Error).message ?? error);
    if (code && NEVER_SENT.has(code)) return new ConnectionFailed(`cannot reach ${this.baseUrl}: ${why}`, { cause: error });
    return new ConnectionLost(`${request.name}: the connection to ${this.baseUrl} broke: ${why}`, { cause: error });
  }

  async #call<T>(request: Request, options: CallOptions, read: (response: Response) => Promise<T>): Promise<T> {
    const prepared = prepare(request);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await this.send(prepared, {}, options);
        try {
          return await read(response);
        } catch (error) {
          throw this.failure(prepared, error, undefined, options.signal);
        }
      } catch (error) {
        if (attempt >= this.maxRetries || !mayRepeat(prepared, error)) throw error;
        await pause(attempt, error, options.signal);
      }
    }
  }

  protected json<T>(request: Request, options: CallOptions): Promise<T> {
    return this.#call(request, options, async (response) => {
      const text = await response.text();
      try {
        return JSON.parse(text) as T;
      } catch {
        throw new BadAnswer(`${request.method} ${request.path}: the answer is not JSON; is this a Novelo server?`);
      }
    });
  }

  protected text(request: Request, options: CallOptions): Promise<string> {
    return this.#call(request, options, (response) => response.text());
  }

  /** The lines of an export. A connection that breaks is a `ConnectionLost`, never a short export. */
  protected async *lines(request: Request, options: CallOptions): AsyncIterableIterator<string> {
    const prepared = prepare(request);
    const response = await this.send(prepared, {}, options);
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of bytesOf(response)) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = parts.pop() ?? "";
        yield* parts;
      }
    } catch (error) {
      throw this.failure(prepared, error, undefined, options.signal);
    }
    rest += decoder.decode();
    if (rest) yield rest;
  }

  protected stream(request: Request, options: CallOptions): EventStream {
    return new EventStream(this, prepare(request), options);
  }

  /** The machine-readable description of the API. */
  getOpenapi(options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.json({ method: "GET", path: "/openapi.json" }, options);
  }
}

/** A request as it is sent. */
export interface Prepared {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  content: string | Uint8Array | Blob | undefined;
  repeatable: boolean;
}

export function prepare(request: Request): Prepared {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (value === undefined) continue;
    // Names of threads are percent-encoded, as in an address.
    const text = name === "X-Novelo-Thread" ? segment("thread", String(value)) : String(value);
    if (!/^[\x20-\x7e]*$/.test(text)) throw new TypeError(`the header ${name} takes printable ASCII only`);
    headers[name] = text;
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const given = query.toString();
  let content: Prepared["content"];
  if (request.lines !== undefined) {
    headers["content-type"] = "application/x-ndjson";
    content = request.lines;
  } else if ("body" in request) {
    headers["content-type"] = "application/json";
    content = bodyOf(request, headers);
  }
  return {
    name: `${request.method} ${request.path}`,
    method: request.method,
    path: request.path + (given ? `?${given}` : ""),
    headers,
    content,
    // Done and lost looks like refused when a request with a version is sent again.
    repeatable: request.repeatable !== false && !("If-Match" in headers),
  };
}

function bodyOf(request: Request, headers: Record<string, string>): string {
  let body = request.body;
  if (request.named && typeof body === "object" && body !== null && !(body as Record<string, unknown>)[request.named]) {
    body = { ...body, [request.named]: crypto.randomUUID() };
  }
  if (request.headers && "Idempotency-Key" in request.headers && !headers["Idempotency-Key"]) {
    const messages = (body as { messages?: unknown }).messages;
    const named = Array.isArray(messages) && messages.every((message) => (message as { id?: unknown })?.id);
    if (!named) headers["Idempotency-Key"] = crypto.randomUUID();
  }
  const text = JSON.stringify(body);
  if (text === undefined) throw new TypeError("the request cannot be written as JSON");
  return text;
}

export function mayRepeat(request: Prepared, error: unknown): boolean {
  if (error instanceof ConnectionFailed) return true;
  if (error instanceof ConnectionLost) return request.repeatable;
  if (!(error instanceof ApiError)) return false;
  if ((error.retryAfter ?? 0) > RETRY_WAIT_S_MAX) return false;
  if (!request.repeatable) return NOT_STARTED.has(error.code ?? "");
  return FOR_NOW.has(error.code ?? "") || (error.code === undefined && GATEWAY.has(error.status));
}

export function pause(attempt: number, error: unknown, signal?: AbortSignal): Promise<void> {
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  const backoff = Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MS_MAX) * (0.5 + Math.random() / 2);
  return new Promise((done, fail) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", left);
      done();
    }, asked === undefined ? backoff : asked * 1000);
    const left = () => {
      clearTimeout(timer);
      fail(signal?.reason);
    };
    signal?.addEventListener("abort", left, { once: true });
  });
}

/** The bytes of an answer, in every runtime. */
export async function* bytesOf(response: Response): AsyncIterableIterator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Also when the caller stops early, so that the connection is closed.
    reader.cancel().catch(() => undefined);
  }
}
