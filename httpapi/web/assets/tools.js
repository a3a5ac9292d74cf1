// What can be done with a file: copied, wrapped, named for good.

import { copy } from "./clipboard.js";

const tools = document.getElementById("tools");
const table = document.getElementById("source");
const wrap = document.getElementById("wrap");
const permalink = document.getElementById("permalink");
const wrapName = "trawl.wrap";

// content is the text of the file as the page shows it, whatever it is written in.
async function content({ dataset: { encoding } }) {
  const decoder = new TextDecoder(encoding.startsWith("utf-8") ? "utf-8" : encoding || "utf-8");
  const response = await fetch(document.getElementById("raw").href);
  if (!response.ok) throw new Error(response.statusText);
  return decoder.decode(await response.arrayBuffer());
}

const texts = {
  path: (button) => button.dataset.text,
  permalink: () => permalink.href,
  content,
};

// setWrap wraps long lines or not, and remembers it in this browser.
function setWrap(on, keep) {
  table.classList.toggle("wrapped", on);
  wrap.setAttribute("aria-pressed", String(on));
  if (!keep) return;
  try {
    localStorage.setItem(wrapName, on ? "1" : "");
  } catch {
    // without room for it nothing is kept
  }
}

function wrapKept() {
  try {
    return Boolean(localStorage.getItem(wrapName));
  } catch {
    return false;
  }
}

if (table) {
  setWrap(wrapKept());
  wrap.addEventListener("click", () => setWrap(!table.classList.contains("wrapped"), true));
}

if (tools) {
  tools.hidden = false;
  for (const button of tools.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button, texts[button.dataset.copy](button)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "z") wrap?.click();
    else if (event.key === "y") location.replace(permalink.href);
  });
}
