// The trace of a request, as an operator reads it.
//
// The page itself holds no data: what its address names is fetched as JSON, with the key of the tab, and shown as text.

import { Login } from "./login.js";
import { made } from "./text.js";
import { knows, number, say, sentence, translate } from "./words.js";

const FACTS = ["traceId", "surface", "userId", "model", "cacheStatus", "startedAt", "finishedAt", "running"];
const LATENCIES = ["promptReadyMs", "firstTokenMs", "totalMs"];
/** The sections that are lists: the words of their title, the member, and the columns to show. */
const LISTS = [
  ["trace_heuristics", "heuristics", ["name", "value", "why"]],
  ["trace_modules", "modules", ["name", "status", "why", "tokens", "missingTokens"]],
  ["trace_caches", "caches", ["cache", "status", "key"]],
  ["trace_embeddings", "embeddingResults", ["kind", "against", "similarity", "hits", "tookMs"]],
  ["trace_errors", "errors", ["stage", "message", "atMs"]],
];
const MEMORY = ["saveMemory", "intensity", "reason", "memoryId"];

const view = document.getElementById("trace");
const id = location.pathname.split("/").at(-1);
/** What is being read: a log-out ends it. */
let reading = new AbortController();

const login = new Login({
  button: document.getElementById("logout"),
  left() {
    reading.abort();
    document.title = "Novelo";
    closed(say("trace_left"), "", "login_enter");
  },
});

translate(document);
read();

async function read() {
  reading = new AbortController();
  const { signal } = reading;
  view.replaceChildren(made("p", say("trace_reading"), "fine"));
  try {
    const answer = await fetched(location.pathname, signal);
    if (answer.ok) return show(...requestTrace(await answer.json()));
    const other = answer.status === 404 ? await fetched(`/v1/traces/${id}`, signal) : null;
    if (other?.ok) return show(...promptTrace(await other.json()));
    refused(answer.status, await messageOf(answer));
  } catch (error) {
    if (!signal.aborted) closed(say(error instanceof TypeError ? "error_gone" : "error_internal"), error.message);
  }
}

function fetched(address, signal) {
  return login.fetch(address, { headers: { Accept: "application/json" }, signal });
}

async function messageOf(answer) {
  try {
    return (await answer.json()).error;
  } catch {
    return {};
  }
}

function refused(status, { code, message = `status ${status}` }) {
  const words = { 401: "trace_closed", 403: login.hasKey ? "login_admin" : "trace_closed", 404: "trace_none" }[status];
  const error = knows(`error_${code}`) ? `error_${code}` : "error_internal";
  const way = status === 401 ? "login_enter" : status === 403 && login.hasKey ? "login_other" : null;
  closed(say(words ?? error), way === null ? message : "", way);
}

/** Nothing is shown but why, and a way on: by another key, or by reading again. */
function closed(words, detail, way = null) {
  const note = made("p", words, "note");
  if (detail) note.append(" ", made("span", sentence(detail), "detail"));
  const button = Object.assign(made("button", say(way ?? "trace_again"), "solid"), { id: "on", type: "button" });
  button.addEventListener("click", async () => (way === null || (await login.ask())) && read());
  const row = made("p", "", "row");
  row.append(button);
  view.replaceChildren(note, row);
}

function show(title, nodes) {
  document.title = `Novelo: ${title}`;
  view.replaceChildren(made("h2", title), ...nodes);
}

function requestTrace(trace) {
  const facts = FACTS.map((name) => [name, trace[name]]);
  const lists = LISTS.flatMap(([title, member, columns]) => section(say(title), table(columns, trace[member])));
  const memory = table(MEMORY, trace.memoryDecision ? [trace.memoryDecision] : []);
  const nodes = [
    pairs(facts),
    ...section(say("trace_latency"), latency(trace.latency)),
    ...lists,
    ...section(say("trace_memory"), memory),
    ...section(say("trace_prompts"), prompts(trace.prompts)),
  ];
  return [say("trace_title", { surface: trace.surface }), nodes];
}

/** A prompt has a trace of its own, which is shown as it is. */
function promptTrace(trace) {
  const text = made("pre");
  text.append(made("code", JSON.stringify(trace, null, 2)));
  text.tabIndex = 0;
  return [say("trace_of_prompt"), [text]];
}

function section(title, node) {
  return [made("h3", title), node ?? made("p", say("trace_nothing"), "fine")];
}

function pairs(rows) {
  const list = made("dl");
  for (const [name, value] of rows) list.append(made("dt", name), made("dd", plain(value)));
  return list;
}

/** How long it took, each part as a bar beside the whole. */
function latency(parts) {
  const known = LATENCIES.filter((name) => parts[name] !== null);
  if (known.length === 0) return null;
  const most = Math.max(...known.map((name) => parts[name]));
  const list = made("dl", "", "bars");
  for (const name of known) {
    const value = made("dd");
    const bar = Object.assign(made("meter"), { min: 0, max: most, value: parts[name], ariaLabel: name });
    value.append(made("span", number(parts[name], 3)), bar);
    list.append(made("dt", name), value);
  }
  return list;
}

function table(columns, rows) {
  if (rows.length === 0) return null;
  const [whole, head, body] = [made("table"), made("tr"), made("tbody")];
  for (const column of columns) head.append(Object.assign(made("th", column), { scope: "col" }));
  for (const row of rows) {
    const line = made("tr");
    for (const column of columns) {
      const cell = made("td", plain(row[column]));
      cell.dataset.column = column;
      line.append(cell);
    }
    body.append(line);
  }
  whole.createTHead().append(head);
  whole.append(body);
  return whole;
}

function prompts(ids) {
  if (ids.length === 0) return null;
  const list = made("ul");
  for (const prompt of ids) {
    const link = made("a", prompt);
    link.href = `/debug/trace/${encodeURIComponent(prompt)}`;
    const item = made("li");
    item.append(link);
    list.append(item);
  }
  return list;
}

function plain(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
