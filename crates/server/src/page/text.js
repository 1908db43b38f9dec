// Text to nodes: paragraphs, lists, quotes, headings, code. Nothing here ever reads text as HTML.
//
// A text that grows is shown block by block: a block that another one follows never changes again.

const FENCE = /^\s*(```|~~~)/;
const ITEM = /^(\s*)([-*+•]|\d{1,4}[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const INLINE = /(`+)([^`]+)\1|\*\*([^*\n]+)\*\*/g;
const LISTS_DEEP_MAX = 4;

/** A text that grows inside an element. */
export class Text {
  #element;
  #text = "";
  /** Where the text begins that may still change, and how many nodes stand before it. */
  #settled = { at: 0, nodes: 0 };

  constructor(element) {
    this.#element = element;
  }

  add(delta) {
    this.#text += delta;
  }

  /** Makes the text another one, where it is not the same already. */
  set(text) {
    if (text === this.#text) return;
    this.#text = text;
    this.#settled = { at: 0, nodes: 0 };
  }

  /** Shows what was added since the last time. */
  show() {
    const blocks = parse(this.#text.slice(this.#settled.at));
    while (this.#element.childNodes.length > this.#settled.nodes) this.#element.lastChild.remove();
    this.#element.append(...blocks.map(node));
    const last = blocks.at(-1);
    if (last) this.#settled = { at: this.#settled.at + last.at, nodes: this.#settled.nodes + blocks.length - 1 };
  }
}

/** Code and emphasis within a line. */
export function inline(text) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(text.slice(at, match.index), made(match[2] ? "code" : "strong", match[2] ?? match[3]));
    at = match.index + match[0].length;
  }
  return [...nodes, text.slice(at)].filter((node) => node !== "");
}

/** An element with a text. */
export function made(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** The blocks of a text, each with the place where it begins. */
function parse(text) {
  const blocks = [];
  let open = null;
  let at = 0;
  for (const line of text.split("\n")) {
    const next = step(open, line);
    if (next && next !== open) blocks.push({ ...next, at });
    open = next && next !== open ? blocks.at(-1) : next;
    at += line.length + 1;
  }
  return blocks;
}

/** Takes one line: the block it belongs to, which may be the open one, a new one, or none. */
function step(open, line) {
  if (open?.kind === "code") return FENCE.test(line) ? null : grown(open, line);
  if (FENCE.test(line)) return { kind: "code", lines: [] };
  if (!line.trim()) return null;
  const [, indent, mark, words] = line.match(ITEM) ?? [];
  if (mark) return item(open, { indent: indent.length, start: Number.parseInt(mark, 10), text: words });
  const heading = line.match(HEADING);
  if (heading) return { kind: "heading", lines: [heading[1]] };
  const quote = line.match(QUOTE);
  if (quote) return open?.kind === "quote" ? grown(open, quote[1]) : { kind: "quote", lines: [quote[1]] };
  if (open?.kind === "list") open.items.at(-1).text += `\n${line.trim()}`;
  if (open?.kind === "list") return open;
  return open?.kind === "paragraph" ? grown(open, line) : { kind: "paragraph", lines: [line] };
}

function grown(block, line) {
  block.lines.push(line);
  return block;
}

/** An item that is not indented, of another kind than the list before it, begins a list of its own. */
function item(open, item) {
  const first = open?.items?.[0];
  const goesOn = first && (item.indent > first.indent || Number.isNaN(item.start) === Number.isNaN(first.start));
  if (!goesOn) return { kind: "list", items: [item] };
  open.items.push(item);
  return open;
}

function node(block) {
  if (block.kind === "list") return list(block);
  const text = block.lines.join("\n");
  if (block.kind === "code") {
    const pre = made("pre");
    pre.append(made("code", text));
    pre.tabIndex = 0;
    return directed(pre);
  }
  const tag = { paragraph: "p", heading: "h3", quote: "blockquote" }[block.kind];
  const element = made(tag);
  element.append(...inline(text));
  return directed(element);
}

/** Items to a list, with those that are indented further in lists within it. */
function list({ items }) {
  const lists = [opened(items[0])];
  for (const item of items) {
    while (lists.length > 1 && item.indent < lists.at(-1).indent) lists.pop();
    if (item.indent > lists.at(-1).indent && lists.length < LISTS_DEEP_MAX) {
      const inner = opened(item);
      lists.at(-1).element.lastChild.append(inner.element);
      lists.push(inner);
    }
    const row = directed(made("li"));
    row.append(...inline(item.text));
    lists.at(-1).element.append(row);
  }
  return lists[0].element;
}

function opened({ indent, start }) {
  const element = made(Number.isNaN(start) ? "ul" : "ol");
  if (!Number.isNaN(start)) element.start = start;
  return { indent, element };
}

function directed(element) {
  element.dir = "auto";
  return element;
}
