// The front page: links to data are opened in place, with the key of the tab, where a browser by itself would have none.

import { Login } from "./login.js";
import { made } from "./text.js";
import { say } from "./words.js";

const place = document.getElementById("data");
/** The link that was followed last; what comes late of another one, or after a log-out, is not shown. */
let followed = null;

const login = new Login({
  button: document.getElementById("logout"),
  left() {
    followed = null;
    place.replaceChildren();
  },
});

document.getElementById("host").textContent = location.host;
document.getElementById("logout").textContent = say("logout");

for (const link of document.querySelectorAll("a.data")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    open(link);
  });
}

async function open(link) {
  followed = link;
  let text;
  try {
    const answer = await login.fetch(link.getAttribute("href"));
    text = laidOut(await answer.text());
  } catch {
    text = say("error_gone");
  }
  if (followed !== link) return;
  const block = made("pre");
  block.append(made("code", text));
  block.tabIndex = 0;
  place.replaceChildren(made("h2", link.textContent), block);
}

/** JSON with line breaks; any other text as it is. */
function laidOut(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
