// One exchange: a question in the log, and its reply as it comes.
//
// Owns what is shown below the question. Its text is silent while it grows; the page tells a screen reader once, at
// the end.

import { Text, made } from "./text.js";
import { count, knows, language, number, say } from "./words.js";

export class Reply {
  #typed;
  #place;
  #parts = {};
  #text;
  #due = 0;
  #grew;

  /** `article` is what the server sent for the question; `grew` is told when there is more to see. */
  constructor(article, grew) {
    this.#grew = grew;
    this.#typed = article.querySelector(".question").textContent;
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

  get text() {
    return this.#text.value;
  }

  /** Takes one event of the stream. */
  take(name, data) {
    if (name === "question") this.#question(data);
    if (name === "sources") this.#sources(data);
    if (name === "text") this.#more(data.delta);
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
    if (detail) note.append(" ", english(made("span", detail, "detail")));
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

  #show() {
    cancelAnimationFrame(this.#due);
    this.#due = 0;
    this.#text.show();
    this.#grew();
  }

  #sources({ sources, tokens, budget_tokens: budget }) {
    this.#parts.sources.replaceChildren(sources.length ? listed(sources) : made("p", say("sources_none"), "note"));
    this.#budget(tokens, budget);
    this.#grew();
  }

  #budget(tokens, budget, by) {
    const meter = made("meter");
    Object.assign(meter, { min: 0, max: budget, high: budget * 0.9, value: tokens, ariaLabel: say("tokens_label") });
    const words = made("span", say("tokens", { used: number(tokens), budget: number(budget) }));
    meter.ariaValueText = words.textContent;
    const name = by && made("span", by === "passages" ? say("by_passages") : say("by", { name: by }), "by");
    this.#parts.foot.replaceChildren(meter, words, ...(name ? [name] : []));
  }

  #done(reply) {
    this.#text.set(reply.answer);
    this.#show();
    this.#budget(reply.tokens, reply.budget_tokens, reply.answered_by);
    for (const { words, detail } of remarks(reply)) this.note(words, "note", detail);
    this.#end();
  }

  #end() {
    if (this.#due) this.#show();
    this.#parts.waiting.replaceChildren();
    this.#place.ariaBusy = "false";
    this.#grew();
  }
}

/** What is to be said of a reply: in the reader's words where the page has them, in the server's otherwise. */
function remarks({ notes = [], partial, answered_by: by }) {
  const known = [];
  if (partial && knows(partial)) known.push({ words: say(partial), detail: after(notes, "the model broke off") });
  if (by === "passages" && notes.some((note) => note.startsWith("no model"))) known.push({ words: say("no_model") });
  const rest = notes.filter((note) => !note.startsWith("no model") && !(partial && note.startsWith("the model broke off")));
  return [...known, ...rest.map((note) => ({ words: "", detail: sentence(note) }))];
}

/** What follows the colon of the note that begins so. */
function after(notes, beginning) {
  const note = notes.find((note) => note.startsWith(beginning));
  return note?.includes(": ") ? sentence(note.slice(note.indexOf(": ") + 2)) : "";
}

function sentence(words) {
  const whole = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

function english(element) {
  if (language !== "en") element.lang = "en";
  return element;
}

function listed(sources) {
  const details = made("details");
  const list = made("ol");
  list.append(...sources.map(row));
  details.append(made("summary", count("sources", sources.length)), list);
  return details;
}

function row({ name, path, lines, text, score }) {
  const head = made("p", "", "head");
  const title = made("b", path ?? name);
  title.dir = "auto";
  head.append(title);
  if (lines) {
    const [first, last] = lines;
    head.append(made("span", say(first === last ? "line" : "lines", { first, last }), "where"));
  }
  head.append(made("span", say("score", { score: number(score, 2) }), "score"));
  const passage = made("blockquote", text);
  passage.dir = "auto";
  passage.tabIndex = 0;
  const item = made("li");
  item.append(head, passage);
  return item;
}
