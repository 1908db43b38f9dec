// Reads a reply's events from its address to its end.
//
// A connection that is lost, or silent for too long, is made again from the last event that was seen. An id is the name
// of the reply and a number that grows; each event is given once. `done` and `error` end a reply; nothing else does.

const PAUSES_MS = [300, 900, 2700];
const SILENCE_MS_MAX = 45_000;

/** The server answered, and not with events. */
export class Refused extends Error {
  constructor(status, error) {
    super(error?.message ?? `status ${status}`);
    this.status = status;
    this.code = error?.code;
  }
}

/** There is no way back to the reply. */
export class Lost extends Error {}

/**
 * Gives each event to `take(name, data)` until the last one; `lost()` is called before each new try. `refused(error)` says
 * whether a refusal was mended, by another key, so that the reply can be read on.
 */
export async function follow(address, { headers, signal, take, lost, refused }) {
  let last = "";
  let ended = false;
  let tries = 0;
  const once = ({ id, name, data }) => {
    if (ended || (id && last && numberOf(id) <= numberOf(last))) return;
    last = id || last;
    tries = 0;
    ended = name === "done" || name === "error";
    take(name, JSON.parse(data));
  };
  while (!ended) {
    try {
      await connect(address, { headers: { ...headers(), ...(last && { "Last-Event-ID": last }) }, signal, once });
    } catch (error) {
      if (error instanceof Refused && (await refused(error))) continue;
      if (signal.aborted || error instanceof Refused || error instanceof SyntaxError) throw error;
    }
    if (ended) return;
    if (tries === PAUSES_MS.length) throw new Lost();
    lost();
    await pause(PAUSES_MS[tries++], signal);
  }
}

function numberOf(id) {
  return Number(id.slice(id.lastIndexOf(".") + 1));
}

/** One connection, to its end. */
async function connect(address, { headers, signal, once }) {
  const link = new AbortController();
  const end = () => link.abort();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(end, SILENCE_MS_MAX);
  };
  heard();
  signal.addEventListener("abort", end);
  try {
    const answer = await fetch(address, {
      headers: { Accept: "text/event-stream", ...headers },
      signal: link.signal,
      cache: "no-store",
    });
    if (!answer.ok) throw new Refused(answer.status, await wordsOf(answer));
    const frames = new Frames(once);
    const decoder = new TextDecoder();
    const reader = answer.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      heard();
      frames.add(decoder.decode(part.value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

async function wordsOf(answer) {
  try {
    return (await answer.json()).error;
  } catch {
    return undefined;
  }
}

/** Cuts what arrives, in pieces of any size, into events. */
class Frames {
  #take;
  #rest = "";
  #event = { id: "", name: "message", lines: [] };

  constructor(take) {
    this.#take = take;
  }

  add(text) {
    this.#rest += text;
    for (let end = this.#rest.indexOf("\n"); end >= 0; end = this.#rest.indexOf("\n")) {
      this.#line(this.#rest.slice(0, end).replace(/\r$/, ""));
      this.#rest = this.#rest.slice(end + 1);
    }
  }

  #line(line) {
    const event = this.#event;
    if (!line) {
      if (event.lines.length) this.#take({ id: event.id, name: event.name, data: event.lines.join("\n") });
      this.#event = { id: "", name: "message", lines: [] };
      return;
    }
    const [, field, value] = line.match(/^([^:]*):? ?(.*)$/);
    if (field === "data") event.lines.push(value);
    if (field === "event") event.name = value;
    if (field === "id") event.id = value;
  }
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
