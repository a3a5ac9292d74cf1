// What keys do on the search page, past searches, and choices that act at once.

import { combobox } from "./complete.js";

const box = document.getElementById("q");
const form = box.form;
const help = document.getElementById("keys");

// pastKept is how many searches are kept in this browser.
const pastKept = 50;
const pastName = "trawl.searches";

// past are the searches made in this browser, the last first. A browser that keeps
// nothing has none.
function past() {
  try {
    const kept = JSON.parse(localStorage.getItem(pastName) ?? "[]");
    return Array.isArray(kept) ? kept.filter((text) => typeof text === "string").slice(0, pastKept) : [];
  } catch {
    return [];
  }
}

// remember keeps a search, if there is one.
export function remember(query) {
  try {
    if (query) localStorage.setItem(pastName, JSON.stringify([query, ...past().filter((text) => text !== query)].slice(0, pastKept)));
  } catch {
    // without room for it nothing is kept
  }
}

// propose proposes what to write in the box.
export function propose() {
  combobox(box, document.getElementById("proposals"), past);
}

// atOnce has a choice search again, if there is something to search for.
export function atOnce() {
  for (const name of ["patternType", "case", "context"]) {
    form.elements.namedItem(name)?.addEventListener("change", () => box.value.trim() && form.requestSubmit());
  }
}

// listen has keys move through what was found; shown returns it, or null on a page without.
export function listen(shown) {
  document.addEventListener("click", (event) => event.target.closest("#showkeys") && help.showModal());
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event, found = shown();
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k") act(event, () => box.select());
    else if (ctrlKey || metaKey || altKey || help.open) return;
    else if (key === "Escape" && target === box) leave(event, found);
    else if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    else if (key === "/") act(event, () => box.select());
    else if (key === "?") act(event, () => help.showModal());
    else if (found) move(event, found);
  });
}

function act(event, does) {
  event.preventDefault();
  does();
}

// leave goes from the query box to the results, once nothing is proposed there.
function leave(event, found) {
  if (!found?.list.length) return;
  act(event, () => found.focus(found.list.at()[0]));
}

function move(event, found) {
  const at = found.itemOf(document.activeElement);
  const last = found.list.length - 1;
  if (event.key === "j" && last >= 0) act(event, () => found.focus(at < 0 ? found.list.at()[0] : Math.min(at + 1, last)));
  else if (event.key === "k" && last >= 0) act(event, () => found.focus(Math.max(at - 1, 0)));
  else if (at < 0) return;
  else if (event.key === "o") act(event, () => found.list.element(at)?.querySelector("h3 .path[href]")?.click());
  else if (event.key === "e") act(event, () => found.list.element(at)?.querySelector(".toggle") && found.toggle(at));
}
