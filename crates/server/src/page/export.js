// A conversation as it is stored, for the log and for a file.

import { language, say } from "./words.js";

/** The text of a message: a string, or the parts of one that are text. */
function textOf({ content }) {
  if (typeof content === "string") return content;
  return (Array.isArray(content) ? content : []).map((part) => part?.text ?? "").join("\n");
}

/** Turns as questions with what was answered; what stands before the first question has none. */
export function exchanges(turns) {
  const said = [];
  for (const { message } of turns) {
    const text = textOf(message).trim();
    if (message.role === "user") said.push({ question: text, answer: "" });
    else if (message.role === "assistant" && text) {
      if (!said.length) said.push({ question: "", answer: "" });
      const last = said.at(-1);
      last.answer = [last.answer, text].filter(Boolean).join("\n\n");
    }
  }
  return said;
}

/** The conversation as Markdown. What people typed is quoted, so that it stays what they typed. */
export function asMarkdown(turns) {
  const parts = exchanges(turns).flatMap(({ question, answer }) => [
    question && `**${say("you")}:**\n\n${question.replace(/^/gm, "> ")}`,
    answer,
  ]);
  const when = turns[0] ? new Date(turns[0].create_time * 1000).toLocaleString(language) : "";
  return [`# Novelo, ${when}`, ...parts.filter(Boolean)].join("\n\n") + "\n";
}

/** Gives the reader a file. */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
