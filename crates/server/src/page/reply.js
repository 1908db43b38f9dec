// One exchange: a question in the log, and its reply as it comes.
//
// Owns what is shown below the question. Its text is silent while it grows; the page tells a screen reader once, at
// the end.

import { Text, made } from "./text.js";
import { count, knows, language, noted, number, say, sentence } from "./words.js";

const PROSE = /\.(md|markdown|txt|rst|pdf|docx|docm|epub|x?html?|csv|tsv|xlsx|xlsm|xlsb|xls|ods)$/i;

export class Reply {
  #typed;
  #trace;
  #place;
  #parts = {};
  #text;
  #due = 0;
  #grew;
  #cited = [];
  #isPoor = false;

  /** `article` is what the server sent for the question; `grew` is called when there is more to see. */
  constructor(article, grew) {
    this.#grew = grew;
    this.#typed = article.querySelector(".question").textContent;
    this.#trace = article.dataset.trace;
    this.#place = article.querySelector(".reply");
    for (const name of ["understood", "answer", "waiting", "notes", "sources", "foot"]) {
      this.#parts[name] = this.#place.appendChild(made("div", "", name));
    }
    this.#parts.answer.ariaLive = "off";
    this.#text = new Text(this.#parts.answer);
    this.wait(say("waiting"));
  }

  get typed() {
    return this.#typed;
  }

  /** The answer as it is read out. */
  get text() {
    return this.#parts.answer.innerText;
  }

  /** Whether the model failed, so that asking again may do better. */
  get isPoor() {
    return this.#isPoor;
  }

  /** Takes one event of the stream. */
  take(name, data) {
    if (name === "question") this.#question(data);
    if (name === "sources") this.#sources(data);
    if (name === "text") this.#more(data.delta);
    if (name === "anew") this.#anew();
    if (name === "missed") this.#more(" … ");
    if (name === "done") this.#done(data);
    if (name === "error") this.fail(data.error.code, data.error.message);
  }

  /** Says that something is awaited. */
  wait(words) {
    this.#place.ariaBusy = "true";
    const dots = made("span", "", "dots");
    dots.append(made("i"), made("i"), made("i"));
    this.#parts.waiting.replaceChildren(dots, ` ${words}`);
  }

  /** Ends it with words on why there is no more. */
  note(words, kind = "note", detail = "") {
    const note = made("p", words, kind);
    if (detail) note.append(" ", english(made("span", sentence(detail), "detail")));
    this.#parts.notes.append(note);
    this.#end();
  }

  fail(code, message) {
    const key = knows(`error_${code}`) ? `error_${code}` : "error_other";
    this.note(`${say(key)} ${say("put_back")}`, "trouble", message);
  }

  /** Offers a question that follows. */
  offer(question, lang, choose) {
    const button = made("button", question, "example");
    button.type = "button";
    button.lang = lang;
    button.addEventListener("click", () => choose(question));
    const row = made("p", `${say("then")} `, "then");
    row.append(button);
    this.#parts.foot.after(row);
    this.#grew();
  }

  /** Offers to send the question again. */
  offerAgain(choose) {
    const button = made("button", say("retry"), "example");
    button.type = "button";
    button.addEventListener("click", () => choose(this.#typed));
    const row = made("p", "", "retry");
    row.append(button);
    this.#parts.foot.after(row);
    this.#grew();
    row.scrollIntoView({ block: "nearest" });
  }

  #question({ standalone_question: standalone, rewritten_by: by }) {
    if (standalone === this.#typed || by === "nobody") return;
    const words = made("q", standalone);
    words.dir = "auto";
    const whom = made("span", say(by === "model" ? "by_model" : "by_rules"), "tag");
    this.#parts.understood.replaceChildren(`${say("understood")} `, words, " ", whom);
    this.#grew();
  }

  #more(delta) {
    this.#parts.waiting.replaceChildren();
    this.#text.add(delta);
    this.#due ||= requestAnimationFrame(() => this.#show());
  }

  /** What was said so far does not count. */
  #anew() {
    this.#text.set("");
    this.#show();
  }

  #show() {
    cancelAnimationFrame(this.#due);
    this.#due = 0;
    this.#text.show();
    this.#grew();
  }

  #sources(prompt) {
    const { sources } = prompt;
    this.#cited = sources.map((source, at) => source.n ?? at + 1);
    this.#parts.sources.replaceChildren(sources.length ? listed(sources) : made("p", say("sources_none"), "note"));
    this.#foot(prompt);
    this.#grew();
  }

  #foot({ tokens, budget_tokens: budget, answered_by: by }) {
    const name = by === "passages" ? say("by_passages") : say("by", { name: by });
    const known = budget ? bar(tokens, budget) : [];
    this.#parts.foot.replaceChildren(...known, this.#link(), ...(by ? [made("span", name, "by")] : []));
  }

  /** Leads to the trace of this answer, in a tab that is given this one's key. */
  #link() {
    const link = made("a", say("trace"));
    return Object.assign(link, { href: `/debug/trace/${encodeURIComponent(this.#trace)}`, target: "_blank", rel: "opener" });
  }

  #done(reply) {
    this.#text.set(reply.answer);
    this.#show();
    this.#foot(reply);
    this.#isPoor = Boolean(reply.partial) && reply.partial !== "client_left";
    for (const { words, detail, key } of remarks(reply)) {
      this.#isPoor ||= key.startsWith("model_silent") || key === "model_failed";
      this.note(words, "note", detail);
    }
    this.#end();
    cite(this.#parts.answer, this.#cited, (n) => this.#find(n));
  }

  /** Shows a source by its number. */
  #find(n) {
    const item = this.#parts.sources.querySelector(`li[data-n="${n}"]`);
    item.closest("details").open = true;
    item.focus();
    item.scrollIntoView({ block: "nearest" });
  }

  #end() {
    if (this.#due) this.#show();
    this.#parts.waiting.replaceChildren();
    this.#place.ariaBusy = "false";
    this.#grew();
  }
}

/** What is to be said of a reply: what the server notes, and why it is partial where no note says so. */
function remarks({ notes, partial }) {
  const told = notes.map(noted);
  if (partial && told.every(({ key }) => key !== partial)) told.unshift({ key: partial, words: say(partial), detail: "" });
  return told;
}

/** Makes `[n]` in an answer lead to source n; code stays code. */
function cite(answer, numbers, find) {
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("code, a")) texts.push(walker.currentNode);
  for (const text of texts) {
    const parts = text.data.split(/(\[\d{1,3}\])/).map((part) => {
      const n = Number(part.match(/^\[(\d{1,3})\]$/)?.[1]);
      return numbers.includes(n) ? link(n, find) : part;
    });
    if (parts.some((part) => typeof part !== "string")) text.replaceWith(...parts.filter(Boolean));
  }
}

function link(n, find) {
  const link = made("button", `[${n}]`, "cite");
  link.type = "button";
  link.ariaLabel = say("source", { n: number(n) });
  link.addEventListener("click", () => find(n));
  return link;
}

/** An exchange of earlier: what was asked, and what was answered. */
export function shown({ question, answer }) {
  const article = made("article", "", "exchange");
  const asked = made("h2", question, "question");
  asked.dir = "auto";
  const said = made("div", "", "answer");
  const text = new Text(said);
  text.add(answer);
  text.show();
  if (question) article.append(asked);
  article.append(said);
  return article;
}

function english(element) {
  if (language !== "en") element.lang = "en";
  return element;
}

/** How much of a budget was used, as a bar and in words. */
function bar(tokens, budget) {
  const meter = made("meter");
  Object.assign(meter, { min: 0, max: budget, high: budget * 0.9, value: tokens, ariaLabel: say("tokens_label") });
  const words = made("span", say("tokens", { used: number(tokens), budget: number(budget) }));
  meter.ariaValueText = words.textContent;
  return [meter, words];
}

function listed(sources) {
  const details = made("details");
  const list = made("ol");
  list.append(...sources.map(row));
  details.append(made("summary", count("sources", sources.length)), list);
  // What opens at the end of the page would open behind the question box.
  details.addEventListener("toggle", () => {
    if (details.open && !details.contains(document.activeElement?.closest("li"))) list.scrollIntoView({ block: "nearest" });
  });
  return details;
}

function row({ n, name, file, line, page, text, score }, at) {
  const head = made("p", "", "head");
  const title = made("b", name);
  title.dir = "auto";
  head.append(title);
  if (file) head.append(made("span", file, "where"));
  if (line) head.append(made("span", lines(line, text), "where"));
  if (page) head.append(made("span", say("page", { n: number(page) }), "where"));
  head.append(made("span", say("score", { score: number(score, 2) }), "score"));
  const item = made("li");
  item.tabIndex = -1;
  item.dataset.n = n ?? at + 1;
  item.append(head, passage(text, file));
  return item;
}

/** Prose is laid out anew; of any other file each line stands as it is. */
function passage(text, file) {
  const quote = made("blockquote");
  quote.tabIndex = 0;
  if (file && !PROSE.test(file)) {
    quote.append(made("pre", text));
  } else {
    const prose = new Text(quote);
    prose.add(text);
    prose.show();
  }
  return quote;
}

/** The lines of its file that a passage stands on. */
function lines(first, text) {
  const last = first + text.trimEnd().split("\n").length - 1;
  return say(first === last ? "line" : "lines", { first: number(first), last: number(last) });
}
