// The chat page: the form, the keyboard and the thread's id.
//
// HTMX sends the form and puts the exchange into the log; from then on the reply is read here. The id of the thread
// lives in the form, and in the address from the first question on (`/chat#thread=ID`): that part of an address is never
// sent to a server, and shows the conversation again to a key of the same user.

import { asMarkdown, exchanges, save } from "./export.js";
import { Login } from "./login.js";
import { Reply, shown } from "./reply.js";
import { Lost, Refused, follow } from "./stream.js";
import { inline, made } from "./text.js";
import { knows, say, sentence, translate } from "./words.js";

const NEAR_PX = 120;
const DISMISS_MS_MAX = 3_000;

const $ = (id) => document.getElementById(id);
const [form, box, log, stop] = [$("ask"), $("question"), $("log"), $("stop")];

/** What is under way: a question that is sent, then the reply to it. */
let sent = null;
let running = null;
/** A question that may be offered when the present one is answered. */
let next = null;

const login = new Login({
  button: $("logout"),
  forbidden: "error_forbidden",
  left() {
    begin();
    box.value = "";
  },
});

translate(document);
begin(named());
addEventListener("hashchange", () => {
  if (named() && named() !== $("thread_id").value) begin(named());
});

/** The thread that the address names. */
function named() {
  try {
    return decodeURIComponent(location.hash.match(/^#thread=(.+)$/)?.[1] ?? "");
  } catch {
    return "";
  }
}

/** A new thread, and nothing in the log; or one that was begun before. */
function begin(thread = "") {
  form.dispatchEvent(new Event("htmx:abort"));
  running?.abort();
  running = sent = next = null;
  busy();
  $("thread_id").value = thread || fresh();
  if (!thread && named()) location.replace("#");
  log.replaceChildren();
  $("welcome").hidden = false;
  $("export").hidden = true;
  trouble("");
  if (thread) show(thread);
  // A phone would open its keyboard over the page.
  if (matchMedia("(hover: hover)").matches) box.focus();
}

/** Shows what was said in a thread. */
async function show(thread) {
  let turns;
  try {
    turns = await turnsOf(thread);
  } catch (error) {
    trouble(say(error instanceof Refused ? "error_thread" : "error_gone"));
    return;
  }
  if ($("thread_id").value !== thread || log.childElementCount) return;
  for (const exchange of exchanges(turns)) log.append(shown(exchange));
  $("export").hidden = turns.length === 0;
  $("welcome").hidden = turns.length > 0;
  scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

/** All turns of a thread of the key's user, oldest first. */
async function turnsOf(thread) {
  const turns = [];
  for (let more = true, after = 0; more; after = turns.at(-1)?.seq ?? 0) {
    const answer = await login.fetch(`/chat/threads/${encodeURIComponent(thread)}?after=${after}&limit=1000`);
    if (!answer.ok) throw new Refused(answer.status);
    const page = await answer.json();
    turns.push(...page.turns);
    more = page.has_more && page.turns.length > 0;
  }
  return turns;
}

/** A random UUID, also where the page is not served over HTTPS or from this machine. */
function fresh() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// Sending.

form.addEventListener("htmx:configRequest", ({ detail }) => Object.assign(detail.headers, login.headers()));

form.addEventListener("htmx:beforeRequest", (event) => {
  if (sent !== null || running) {
    event.preventDefault();
    status(say("wait"));
  } else if (!box.value.trim()) {
    event.preventDefault();
    box.focus();
  } else {
    sent = box.value;
    box.value = "";
    trouble("");
    busy();
    const address = `#thread=${encodeURIComponent($("thread_id").value)}`;
    if (location.hash !== address) location.replace(address);
  }
});

form.addEventListener("htmx:responseError", async ({ detail }) => {
  const { xhr } = detail;
  back();
  if (await login.refused(xhr.status)) return form.requestSubmit();
  box.focus();
  const error = errorOf(xhr.responseText);
  const code = knows(`error_${error.code}`) ? error.code : xhr.status < 500 ? "other" : "internal";
  trouble(say(`error_${code}`), xhr.status === 401 ? "" : error.message);
});

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  form.addEventListener(name, () => {
    back();
    trouble(say("error_gone"));
  });
}

function errorOf(text) {
  try {
    return JSON.parse(text).error ?? {};
  } catch {
    return {};
  }
}

/** Puts the question that was sent back into the box, before what was typed since. */
function back(question = sent) {
  box.value = [question, box.value].filter(Boolean).join("\n");
  sent = null;
  busy();
  box.focus();
}

/** Sends a question once more; what was put back of it into the box goes with it. */
function again(question) {
  if (box.value === question) box.value = "";
  const typed = box.value;
  ask(question);
  box.value = typed;
}

function ask(question, following = null) {
  if (sent !== null || running) return status(say("wait"));
  next = following;
  box.value = question;
  form.requestSubmit();
}

// Reading.

log.addEventListener("htmx:load", ({ target }) => {
  if (target.dataset?.reply) read(target);
});

async function read(article) {
  $("welcome").hidden = true;
  $("export").hidden = false;
  for (const offer of log.querySelectorAll(".then, .retry")) offer.remove();
  const reply = new Reply(article, keepUp);
  article.scrollIntoView({ block: "start" });
  running = new AbortController();
  const { signal } = running;
  let dismissed;
  // At once: a log-out forgets the key that this needs.
  signal.addEventListener("abort", () => (dismissed = dismiss(article.dataset.reply)));
  sent = null;
  busy();
  try {
    await followed(article.dataset.reply, reply, signal);
  } catch (error) {
    ended(reply, error, signal);
  }
  await dismissed;
  if (running?.signal !== signal) return;
  running = null;
  busy();
}

async function followed(address, reply, signal) {
  let failed = false;
  const take = (name, data) => {
    failed ||= name === "error";
    reply.take(name, data);
  };
  const lost = () => reply.wait(say("again"));
  const refused = ({ status }) => status === 401 && login.refused(status);
  await follow(address, { headers: () => login.headers(), signal, take, lost, refused });
  if (failed) back(reply.typed);
  if (failed || reply.isPoor) reply.offerAgain(again);
  if (!failed) status(say("said", { text: reply.text }));
  if (!failed && next) reply.offer(next.question, next.lang, ask);
  next = null;
}

function halt() {
  running?.abort();
  busy();
}

/** Says why the stream has ended without an end. */
function ended(reply, error, signal) {
  if (signal.aborted) return reply.note(say("stopped"));
  back(reply.typed);
  reply.offerAgain(again);
  if (error instanceof Refused) reply.fail(error.code ?? "internal", error.status === 401 ? "" : error.message);
  else reply.fail(error instanceof Lost ? "lost" : "internal", error instanceof Lost ? "" : error.message);
}

/** Tells the server that the rest is not wanted, and lets it keep what there is before the next question comes. */
async function dismiss(address) {
  try {
    await fetch(address, { method: "DELETE", headers: login.headers(), signal: AbortSignal.timeout(DISMISS_MS_MAX) });
  } catch (error) {
    // The server ends by itself what nobody reads.
    console.info("the reply was not ended at once", error);
  }
}

function busy() {
  const is = sent !== null || running !== null;
  $("send").ariaDisabled = String(is);
  stop.hidden = running === null || running.signal.aborted;
}

/** Stays at the end of the page for a reader who is there. */
function keepUp() {
  const { scrollHeight } = document.documentElement;
  if (scrollHeight - innerHeight - scrollY < NEAR_PX) scrollTo({ top: scrollHeight, behavior: "instant" });
}

// Words beside the log.

function status(words) {
  $("status").textContent = words;
}

function trouble(words, detail = "") {
  $("trouble").replaceChildren(...inline(words));
  if (detail) $("trouble").append(" ", made("span", sentence(detail), "detail"));
  $("trouble").hidden = !words;
}

// Buttons and keys.

$("fresh").addEventListener("click", () => {
  begin();
  box.focus();
  status(say("began"));
});

for (const button of $("export").querySelectorAll("button")) {
  button.addEventListener("click", () => exported(button.dataset.format));
}

/** Saves the conversation as the server has it. */
async function exported(format) {
  const thread = $("thread_id").value;
  try {
    const turns = await turnsOf(thread);
    if (format === "json") save(`${thread}.json`, "application/json", JSON.stringify({ thread_id: thread, turns }, null, 2));
    else save(`${thread}.md`, "text/markdown", asMarkdown(turns));
    status(say("exported"));
  } catch {
    trouble(say("error_gone"));
  }
}

stop.addEventListener("click", () => {
  halt();
  box.focus();
});

for (const button of document.querySelectorAll("#welcome .example")) {
  const following = { question: button.dataset.then, lang: button.lang };
  button.addEventListener("click", () => ask(button.textContent, following));
}

// Where the style sheet cannot let the box grow with what is typed.
if (!CSS.supports("field-sizing", "content")) {
  box.addEventListener("input", () => {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  });
}

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !login.isAsking) halt();
});
