// The one login of all pages.
//
// Owns the key of this tab: asks for it, keeps it in the tab's session storage, sends it as a header, forgets it. The key
// is never shown and never part of an address. The browser sends it nowhere by itself, as it would a cookie: so a page
// of another origin, which cannot read this one's storage, has no way to act with it.
//
// A page needs a button to log out, a function that clears what it shows, and these few lines:
//
//   const login = new Login({ button, left: clear });
//   const answer = await login.fetch("/v1/…");

import { made } from "./text.js";
import { language, say } from "./words.js";

const STORED_AS = "novelo.key";
/** What a header can carry; nothing else can be a key. */
const KEY_FORM = /^[\x21-\x7e]+$/;
const KEY_CHARACTERS_MAX = 512;

/** Where the browser refuses storage, the key lives as long as the page. */
let held = null;

function storedKey() {
  try {
    return sessionStorage.getItem(STORED_AS);
  } catch {
    return held;
  }
}

function storeKey(key) {
  try {
    if (key === null) sessionStorage.removeItem(STORED_AS);
    else sessionStorage.setItem(STORED_AS, key);
  } catch {
    held = key;
  }
}

export class Login {
  #button;
  #left;
  #forbidden;
  #form = new LoginForm();
  /** The question for a key that is open: all who wait for one share it. */
  #asking = null;
  /** The key that what is shown was fetched with. */
  #used = storedKey();

  /** `left` clears what the page shows; `forbidden` is said of a key that is known and may not do this. */
  constructor({ button, left, forbidden = "login_admin" }) {
    this.#button = button;
    this.#left = left;
    this.#forbidden = forbidden;
    button.hidden = !storedKey();
    button.addEventListener("click", () => this.leave());
    // The browser may bring back a page as it was before the key was forgotten on another page of this tab.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted && this.#used !== storedKey()) this.leave(storedKey());
    });
  }

  get hasKey() {
    return storedKey() !== null;
  }

  get isAsking() {
    return this.#asking !== null;
  }

  /** The header that a request needs; none without a key. */
  headers() {
    this.#used = storedKey();
    return this.#used === null ? {} : { Authorization: `Bearer ${this.#used}` };
  }

  /** Fetches with the key. Asks for one where that is refused; the refusal is returned if no other key is given. */
  async fetch(address, options = {}) {
    for (;;) {
      const headers = { ...options.headers, ...this.headers() };
      const sent = this.#used;
      const answer = await fetch(address, { ...options, headers, cache: "no-store", credentials: "omit" });
      if (!(await this.refused(answer.status, sent))) return answer;
    }
  }

  /** Asks for another key if a refusal is due to the one that was sent: whether the request is worth sending again. */
  async refused(status, sent = storedKey()) {
    const isForbidden = status === 403 && sent !== null;
    if (status !== 401 && !isForbidden) return false;
    if (storedKey() !== sent && storedKey() !== null) return true;
    if (status === 401) this.#keep(null);
    return this.ask(isForbidden ? say(this.#forbidden) : sent === null ? "" : say("login_unknown"));
  }

  /** Asks for a key: whether one was given. */
  ask(trouble = "") {
    this.#asking ??= this.#form.ask(trouble).then((key) => {
      this.#asking = null;
      if (key !== null) this.#keep(key);
      return key !== null;
    });
    return this.#asking;
  }

  /** Clears what is shown, then forgets the key, or has another one for what is shown next. */
  leave(next = null) {
    this.#left();
    this.#keep(next);
    this.#used = next;
  }

  #keep(key) {
    storeKey(key);
    this.#button.hidden = key === null;
  }
}

/** The form in which a key is entered. */
class LoginForm {
  #dialog = made("dialog");
  #trouble = made("p", "", "trouble");
  #input = made("input");

  constructor() {
    const form = Object.assign(made("form"), { method: "dialog", autocomplete: "off" });
    const title = Object.assign(made("h2", say("login_title")), { id: "login-title" });
    const why = Object.assign(made("p", say("login_why")), { id: "login-why" });
    const label = Object.assign(made("label", say("login_key")), { htmlFor: "login-key" });
    Object.assign(this.#dialog, { id: "login", lang: language });
    this.#dialog.setAttribute("aria-labelledby", "login-title");
    Object.assign(this.#trouble, { id: "login-trouble", hidden: true });
    this.#trouble.setAttribute("role", "alert");
    // A key is for this tab: a password manager would keep it, and fill it in for somebody else.
    const kind = { type: "password", autocomplete: "off", spellcheck: false, required: true, maxLength: KEY_CHARACTERS_MAX };
    Object.assign(this.#input, { id: "login-key", ...kind });
    this.#input.setAttribute("aria-describedby", "login-trouble login-why");
    form.append(title, why, this.#trouble, label, this.#input, this.#buttons());
    form.addEventListener("submit", (event) => this.#submit(event));
    this.#dialog.append(form);
    document.body.append(this.#dialog);
  }

  /** The key that was entered, or null. */
  ask(trouble) {
    this.#say(trouble);
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
    this.#input.focus();
    return new Promise((resolve) => {
      const closed = () => {
        const key = this.#dialog.returnValue === "given" ? this.#input.value.trim() : null;
        this.#input.value = "";
        resolve(key);
      };
      this.#dialog.addEventListener("close", closed, { once: true });
    });
  }

  #buttons() {
    const row = made("p", "", "row");
    const [cancel, enter] = [made("button", say("login_cancel"), "quiet"), made("button", say("login_enter"), "solid")];
    cancel.type = "button";
    cancel.addEventListener("click", () => this.#dialog.close(""));
    row.append(cancel, enter);
    return row;
  }

  #submit(event) {
    event.preventDefault();
    if (KEY_FORM.test(this.#input.value.trim())) this.#dialog.close("given");
    else this.#say(say("login_unknown"));
  }

  #say(trouble) {
    this.#trouble.textContent = trouble;
    this.#trouble.hidden = !trouble;
    this.#input.ariaInvalid = String(Boolean(trouble));
  }
}
