// The words of all pages. What stands in a page itself is English already; the other two languages replace it.

import { inline } from "./text.js";

const WORDS = {
  en: {
    you: "You asked",
    understood: "Understood as:",
    by_rules: "by rules",
    by_model: "by the model",
    waiting: "Looking through the documents…",
    again: "The connection was lost. Trying again…",
    sources_one: "{n} source",
    sources_other: "{n} sources",
    sources_none: "No passage was found for this question.",
    lines: "lines {first}–{last}",
    line: "line {first}",
    score: "score {score}",
    tokens: "{used} of {budget} tokens",
    tokens_label: "How much of the token budget was used",
    by: "answered by {name}",
    by_passages: "answered from the passages",
    said: "Answer: {text}",
    began: "A new conversation has begun.",
    wait: "One moment: the answer is still being written. Esc stops it.",
    then: "A follow-up to try:",
    stopped: "You stopped the answer here. What there is of it is kept in the conversation.",
    no_model: "No model is configured. These are the passages that fit best.",
    no_model_nothing: "No model is configured, and no passage fits the question.",
    model_silent: "The model did not answer. These are the passages that fit best.",
    model_silent_nothing: "The model did not answer, and no passage fits the question.",
    model_cut: "The answer was cut at the model's limit.",
    rules_instead: "The question was understood by rules, because the model that does it did not answer.",
    asked_again: "The model failed at first, and was asked again.",
    model_failed: "The model broke off before the end. This is the part that arrived.",
    client_left: "The answer was ended early, because nobody was listening.",
    server_stopped: "The server was stopped before the answer was whole.",
    put_back: "Your question is back in the box.",
    error_over_budget: "The question does not fit into the token budget. A shorter one might.",
    error_too_large: "The question is too long.",
    error_unauthorized: "A key is needed to ask here.",
    error_forbidden: "This key may not ask here.",
    error_not_found: "The server no longer has this answer.",
    error_busy: "The server is busy. Try again in a moment.",
    error_no_model: "A model is needed, and none is configured.",
    error_gone: "The server does not answer. Is it still running?",
    error_lost: "The connection was lost, and the answer with it.",
    error_internal: "Something went wrong in the server.",
    error_other: "The server refused the question.",
    logout: "Log out",
    login_title: "A key is needed",
    login_why: "This server answers only with a key. The key is kept in this tab and forgotten when you close it.",
    login_unknown: "This key is not known.",
    login_admin: "An admin key is needed here. This one is not.",
    login_key: "Key",
    login_cancel: "Cancel",
    login_enter: "Log in",
    login_other: "Use another key",
    trace: "Trace",
    trace_title: "Trace of a request: {surface}",
    trace_of_prompt: "Trace of a prompt",
    trace_reading: "Reading the trace…",
    trace_closed: "A trace is shown to those who have an admin key.",
    trace_left: "You have logged out.",
    trace_none: "There is no such trace.",
    trace_again: "Try again",
    trace_latency: "Latency",
    trace_heuristics: "Heuristics",
    trace_modules: "Modules",
    trace_caches: "Caches",
    trace_embeddings: "Embeddings",
    trace_errors: "Errors",
    trace_memory: "Memory",
    trace_prompts: "Prompts",
    trace_nothing: "none",
  },
  pt: {
    skip: "Ir para a pergunta",
    home: "Novelo, página inicial",
    fresh: "Nova conversa",
    title: "Pergunte aos seus documentos",
    about: "As respostas vêm dos documentos dados ao Novelo, com os trechos em que se apoiam. Perguntas que continuam a conversa são entendidas pelo que foi dito antes.",
    index: "Adicione os seus com `novelo index PATH`, ou experimente com os exemplos:",
    privacy: "A conversa pertence a esta aba: feche ou recarregue, e você começa do zero.",
    log: "Conversa",
    question: "Sua pergunta",
    placeholder: "Faça uma pergunta",
    send: "Enviar a pergunta",
    stop: "Parar a resposta",
    keys: "Enter envia, Shift+Enter quebra a linha, Esc para.",
    you: "Você perguntou",
    understood: "Entendido como:",
    by_rules: "por regras",
    by_model: "pelo modelo",
    waiting: "Procurando nos documentos…",
    again: "A conexão caiu. Tentando de novo…",
    sources_one: "{n} fonte",
    sources_other: "{n} fontes",
    sources_none: "Nenhum trecho foi encontrado para esta pergunta.",
    lines: "linhas {first}–{last}",
    line: "linha {first}",
    score: "pontuação {score}",
    tokens: "{used} de {budget} tokens",
    tokens_label: "Quanto do orçamento de tokens foi usado",
    by: "respondido por {name}",
    by_passages: "respondido com os trechos",
    said: "Resposta: {text}",
    began: "Uma nova conversa começou.",
    wait: "Um momento: a resposta ainda está sendo escrita. Esc para.",
    then: "Uma pergunta para continuar:",
    stopped: "Você parou a resposta aqui. O que há dela fica na conversa.",
    no_model: "Nenhum modelo está configurado. Estes são os trechos que melhor respondem.",
    no_model_nothing: "Nenhum modelo está configurado, e nenhum trecho responde à pergunta.",
    model_silent: "O modelo não respondeu. Estes são os trechos que melhor respondem.",
    model_silent_nothing: "O modelo não respondeu, e nenhum trecho responde à pergunta.",
    model_cut: "A resposta foi cortada no limite do modelo.",
    rules_instead: "A pergunta foi entendida por regras, porque o modelo encarregado disso não respondeu.",
    asked_again: "O modelo parou na primeira vez e foi perguntado de novo.",
    model_failed: "O modelo parou antes do fim. Isto é o que veio da resposta.",
    client_left: "A resposta terminou antes do fim, porque ninguém estava ouvindo.",
    server_stopped: "O servidor parou antes de a resposta estar completa.",
    put_back: "Sua pergunta voltou para a caixa.",
    error_over_budget: "A pergunta não cabe no orçamento de tokens. Uma mais curta talvez caiba.",
    error_too_large: "A pergunta é longa demais.",
    error_unauthorized: "É preciso uma chave para perguntar aqui.",
    error_forbidden: "Esta chave não permite perguntar aqui.",
    error_not_found: "O servidor não tem mais esta resposta.",
    error_busy: "O servidor está ocupado. Tente de novo em instantes.",
    error_no_model: "É preciso um modelo, e nenhum está configurado.",
    error_gone: "O servidor não responde. Ele ainda está rodando?",
    error_lost: "A conexão caiu, e a resposta com ela.",
    error_internal: "Algo deu errado no servidor.",
    error_other: "O servidor recusou a pergunta.",
    logout: "Sair",
    login_title: "É preciso uma chave",
    login_why: "Este servidor só responde com uma chave. Ela fica guardada nesta aba e é esquecida quando você a fecha.",
    login_unknown: "Esta chave não é conhecida.",
    login_admin: "Aqui é preciso uma chave de administrador. Esta não é.",
    login_key: "Chave",
    login_cancel: "Cancelar",
    login_enter: "Entrar",
    login_other: "Usar outra chave",
    trace: "Rastro",
    trace_title: "Rastro de um pedido: {surface}",
    trace_of_prompt: "Rastro de um prompt",
    trace_reading: "Lendo o rastro…",
    trace_closed: "O rastro é mostrado a quem tem uma chave de administrador.",
    trace_left: "Você saiu.",
    trace_none: "Este rastro não existe.",
    trace_again: "Tentar de novo",
    trace_latency: "Latência",
    trace_heuristics: "Heurísticas",
    trace_modules: "Módulos",
    trace_caches: "Caches",
    trace_embeddings: "Embeddings",
    trace_errors: "Erros",
    trace_memory: "Memória",
    trace_prompts: "Prompts",
    trace_nothing: "nada",
  },
  ru: {
    skip: "Перейти к вопросу",
    home: "Novelo, главная страница",
    fresh: "Новый разговор",
    title: "Спросите свои документы",
    about: "Ответы берутся из документов, которые переданы Novelo, вместе с отрывками, на которых они основаны. Следующие вопросы понимаются по тому, что было сказано раньше.",
    index: "Добавьте свои командой `novelo index PATH` или попробуйте примеры:",
    privacy: "Разговор живёт в этой вкладке: закройте или обновите её, и всё начнётся заново.",
    log: "Разговор",
    question: "Ваш вопрос",
    placeholder: "Задайте вопрос",
    send: "Отправить вопрос",
    stop: "Остановить ответ",
    keys: "Enter отправляет, Shift+Enter переносит строку, Esc останавливает.",
    you: "Вы спросили",
    understood: "Понято как:",
    by_rules: "по правилам",
    by_model: "моделью",
    waiting: "Ищу в документах…",
    again: "Соединение прервалось. Пробую ещё раз…",
    sources_one: "{n} источник",
    sources_few: "{n} источника",
    sources_many: "{n} источников",
    sources_other: "{n} источника",
    sources_none: "Для этого вопроса не нашлось ни одного отрывка.",
    lines: "строки {first}–{last}",
    line: "строка {first}",
    score: "оценка {score}",
    tokens: "{used} из {budget} токенов",
    tokens_label: "Сколько бюджета токенов использовано",
    by: "отвечает {name}",
    by_passages: "ответ из отрывков",
    said: "Ответ: {text}",
    began: "Начат новый разговор.",
    wait: "Минуту: ответ ещё пишется. Esc остановит его.",
    then: "Можно спросить дальше:",
    stopped: "Вы остановили ответ здесь. То, что есть, остаётся в разговоре.",
    no_model: "Модель не настроена. Вот отрывки, которые подходят лучше всего.",
    no_model_nothing: "Модель не настроена, и ни один отрывок не подходит к вопросу.",
    model_silent: "Модель не ответила. Вот отрывки, которые подходят лучше всего.",
    model_silent_nothing: "Модель не ответила, и ни один отрывок не подходит к вопросу.",
    model_cut: "Ответ обрезан по пределу модели.",
    rules_instead: "Вопрос понят по правилам: модель, которая этим занимается, не ответила.",
    asked_again: "В первый раз модель не ответила до конца, и её спросили ещё раз.",
    model_failed: "Модель прервалась, не дойдя до конца. Вот что есть от ответа.",
    client_left: "Ответ закончен раньше времени: его никто не слушал.",
    server_stopped: "Сервер остановлен раньше, чем ответ был готов.",
    put_back: "Ваш вопрос снова в поле ввода.",
    error_over_budget: "Вопрос не помещается в бюджет токенов. Попробуйте короче.",
    error_too_large: "Вопрос слишком длинный.",
    error_unauthorized: "Чтобы спрашивать здесь, нужен ключ.",
    error_forbidden: "С этим ключом здесь нельзя спрашивать.",
    error_not_found: "У сервера больше нет этого ответа.",
    error_busy: "Сервер занят. Попробуйте чуть позже.",
    error_no_model: "Нужна модель, а она не настроена.",
    error_gone: "Сервер не отвечает. Он ещё работает?",
    error_lost: "Соединение прервалось, и ответ вместе с ним.",
    error_internal: "На сервере что-то пошло не так.",
    error_other: "Сервер не принял вопрос.",
    logout: "Выйти",
    login_title: "Нужен ключ",
    login_why: "Этот сервер отвечает только по ключу. Ключ хранится в этой вкладке и забывается, когда вы её закроете.",
    login_unknown: "Этот ключ не известен.",
    login_admin: "Здесь нужен ключ администратора, а это не он.",
    login_key: "Ключ",
    login_cancel: "Отмена",
    login_enter: "Войти",
    login_other: "Ввести другой ключ",
    trace: "Трассировка",
    trace_title: "Трассировка запроса: {surface}",
    trace_of_prompt: "Трассировка промпта",
    trace_reading: "Читаю трассировку…",
    trace_closed: "Трассировку видят те, у кого есть ключ администратора.",
    trace_left: "Вы вышли.",
    trace_none: "Такой трассировки нет.",
    trace_again: "Попробовать ещё раз",
    trace_latency: "Задержки",
    trace_heuristics: "Эвристики",
    trace_modules: "Модули",
    trace_caches: "Кеши",
    trace_embeddings: "Эмбеддинги",
    trace_errors: "Ошибки",
    trace_memory: "Память",
    trace_prompts: "Промпты",
    trace_nothing: "нет",
  },
};

/** Notes of the server that the page has words for; text in brackets is shown unchanged. */
const NOTES = [
  [/^no model is (?:set|configured).*no passage/, "no_model_nothing"],
  [/^no model is (?:set|configured)/, "no_model"],
  [/^the model did not answer: (.*); no passage/, "model_silent_nothing"],
  [/^the model did not answer: (.*); these are/, "model_silent"],
  [/^the model .*; it was asked again$/, "asked_again"],
  [/^the model broke off: (.*)$/, "model_failed"],
  [/^the answer was cut/, "model_cut"],
  [/^the question was understood by rules, not by the model: (.*)$/, "rules_instead"],
];

export const language = ["pt", "ru"].find((known) => navigator.language.toLowerCase().startsWith(known)) ?? "en";

const plural = new Intl.PluralRules(language);
const locale = language === "en" ? undefined : navigator.language;

export function knows(key) {
  return key in WORDS.en;
}

/** The words for a key, with the values put in. */
export function say(key, values = {}) {
  const words = WORDS[language][key] ?? WORDS.en[key] ?? key;
  return words.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** The words for so many of something. */
export function count(key, n) {
  return say(`${key}_${plural.select(n)}`, { n: number(n) });
}

export function number(n, digits = 0) {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(n);
}

/** A note of the server in the reader's words, and what only the server can say of it. */
export function noted(note) {
  for (const [form, key] of NOTES) {
    const match = note.match(form);
    if (match) return { key, words: say(key), detail: match[1] ?? "" };
  }
  return { key: "", words: "", detail: note };
}

/** The server's words as a sentence; the name of a setting is left as it is. */
export function sentence(words) {
  const begins = /^\p{Ll}+[ ,]/u.test(words);
  const whole = begins ? words.charAt(0).toUpperCase() + words.slice(1) : words;
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** Puts the page's own words into the reader's language. */
export function translate(root) {
  if (language === "en") return;
  root.documentElement.lang = language;
  for (const element of root.querySelectorAll("[data-say]")) element.replaceChildren(...inline(say(element.dataset.say)));
  for (const element of root.querySelectorAll("[data-label]")) element.ariaLabel = say(element.dataset.label);
  for (const element of root.querySelectorAll("[data-placeholder]")) element.placeholder = say(element.dataset.placeholder);
}
