// What can be done with a file: copied, wrapped, named for good.

const tools = document.getElementById("tools");
const table = document.getElementById("source");
const wrap = document.getElementById("wrap");
const permalink = document.getElementById("permalink");
const wrapName = "trawl.wrap";

// copied puts text on the clipboard. Pages that came over plain HTTP have none, but a
// field in them can be copied.
async function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("not copied");
}

async function content() {
  const response = await fetch(document.getElementById("raw").href);
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
}

const texts = {
  path: (button) => button.dataset.text,
  permalink: () => permalink.href,
  content,
};

async function copy(button) {
  const label = button.textContent;
  try {
    await copied(await texts[button.dataset.copy](button));
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

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
  for (const button of tools.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "z") wrap?.click();
    else if (event.key === "y") location.replace(permalink.href);
  });
}
