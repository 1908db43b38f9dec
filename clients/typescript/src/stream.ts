// Streams of events, which are resumed where a connection broke.

import { bytesOf, mayRepeat, pause } from "./base.js";
import type { Base, CallOptions, Prepared } from "./base.js";
import { ApiError, BadAnswer, ConnectionLost, NoveloError, TimedOut, apiError } from "./errors.js";

/** One event of a stream. */
export interface NoveloEvent {
  /** Its name, such as `text` or `done`; `message` where it has none. */
  event: string;
  /** Its data, which is JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  data: any;
  id?: string;
}

const LAST = new Set(["done", "response.completed", "response.failed", "response.incomplete", "response.cancelled"]);

/** Text in, events out; knows the last id and whether the stream has come to its end. */
export class EventReader {
  lastId: string | undefined;
  ended = false;
  #rest = "";
  #id: string | undefined;
  #event: string | undefined;
  #data: string[] = [];

  reconnected(): void {
    this.#rest = "";
    this.#id = this.#event = undefined;
    this.#data = [];
  }

  *feed(text: string): IterableIterator<NoveloEvent> {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#line(line.replace(/\r$/, ""));
      if (event) yield event;
      if (this.ended) return;
    }
  }

  #line(line: string): NoveloEvent | undefined {
    if (line === "") return this.#dispatch();
    const missed = /^: missed (\d+) events/.exec(line);
    if (missed) return { event: "missed", data: { events: Number(missed[1]) } };
    const at = line.indexOf(":");
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "id") this.#id = value;
    else if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    return undefined;
  }

  #dispatch(): NoveloEvent | undefined {
    const [name, text, id] = [this.#event, this.#data.join("\n"), this.#id];
    this.#event = this.#id = undefined;
    this.#data = [];
    if (id) this.lastId = id;
    if (text === "") return undefined;
    if (text === "[DONE]") {
      this.ended = true;
      return undefined;
    }
    let data: { error?: unknown };
    try {
      data = JSON.parse(text);
    } catch {
      throw new BadAnswer("an event of the stream is not JSON");
    }
    if (name === "error" || (name === undefined && typeof data.error === "object" && data.error !== null)) {
      this.ended = true;
      throw apiError(200, new Headers(), JSON.stringify("error" in data ? data : { error: data }));
    }
    this.ended = name !== undefined && LAST.has(name);
    return { event: name ?? "message", data, ...(id ? { id } : {}) };
  }
}

/**
 * The events of an answer that is being made, for `for await`.
 *
 * A connection that breaks is opened again and the stream continues after the last event that was read. Events that the server
 * no longer has are replaced by one called `missed`. An answer that fails is an `ApiError`.
 */
export class EventStream implements AsyncIterable<NoveloEvent> {
  readonly #reader = new EventReader();
  readonly #stop = new AbortController();
  #closed = false;

  constructor(
    private readonly client: Base,
    private readonly request: Prepared,
    private readonly options: CallOptions,
  ) {}

  async *[Symbol.asyncIterator](): AsyncIterator<NoveloEvent> {
    const left = () => this.#stop.abort(this.options.signal?.reason);
    this.options.signal?.addEventListener("abort", left, { once: true });
    try {
      for (let attempt = 0; !this.#reader.ended; attempt += 1) {
        let why: unknown;
        try {
          for await (const event of this.#connection()) {
            attempt = 0;
            yield event;
          }
        } catch (error) {
          why = error;
        }
        if (this.#closed || (this.#reader.ended && !why)) return;
        if (this.#reader.ended || attempt >= this.client.maxRetries || !this.#mayResume(why)) throw this.#lost(why);
        await pause(attempt, why, this.#stop.signal);
      }
    } finally {
      this.options.signal?.removeEventListener("abort", left);
    }
  }

  async *#connection(): AsyncIterableIterator<NoveloEvent> {
    this.#reader.reconnected();
    const resume: Record<string, string> = this.#reader.lastId ? { "last-event-id": this.#reader.lastId } : {};
    const options = { ...this.options, signal: this.#stop.signal };
    const response = await this.client.send(this.request, { accept: "text/event-stream", ...resume }, options);
    const decoder = new TextDecoder();
    const bytes = bytesOf(response);
    try {
      for (;;) {
        const next = await this.#inTime(bytes.next());
        if (next.done) return;
        for (const event of this.#reader.feed(decoder.decode(next.value, { stream: true }))) {
          yield event;
          if (this.#closed) return;
        }
        if (this.#reader.ended) return;
      }
    } catch (error) {
      throw this.client.failure(this.request, error, this.#stop.signal);
    } finally {
      void bytes.return?.(undefined);
    }
  }

  async #inTime<T>(reading: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, fail) => {
      const limit = this.options.timeoutMs ?? this.client.timeoutMs;
      timer = setTimeout(() => fail(new TimedOut(`${this.request.name}: the stream is silent`)), limit);
      this.#stop.signal.addEventListener("abort", () => fail(this.#stop.signal.reason), { once: true });
    });
    try {
      return await Promise.race([reading, late]);
    } finally {
      clearTimeout(timer);
      late.catch(() => undefined);
    }
  }

  #mayResume(why: unknown): boolean {
    if (why === undefined || why instanceof ConnectionLost) return this.#reader.lastId !== undefined;
    return why instanceof NoveloError && mayRepeat(this.request, why);
  }

  #lost(why: unknown): unknown {
    if (why instanceof ApiError && why.code === "not_found" && this.#reader.lastId) {
      return new ConnectionLost(`${this.request.name}: the stream broke off and can no longer be resumed`);
    }
    return why ?? new ConnectionLost(`${this.request.name}: the stream ended before its last event`);
  }

  /** Stops reading. The server ends the answer, unless it is read on within its patience. */
  close(): void {
    this.#closed = true;
    this.#stop.abort(new ConnectionLost("the stream was closed"));
  }
}
