// How far indexing is, on the page that people see before they ask. Without this
// script the page says how far it was when it came.

import { base, el } from "./dom.js";

const section = document.getElementById("indexing");

// How long to wait for news: while there is progress, otherwise, and after an error.
const soon = 1000, later = 15000;

const words = { "": "fetching", fetch: "fetching", index: "indexing", commit: "writing", wait: "waiting for memory or for another repository" };

function show(state) {
  const busy = state.waiting > 0 || (state.running ?? []).length > 0;
  section.hidden = !busy;
  const count = `${state.indexed} of ${state.repositories} repositories can be searched`;
  const told = document.getElementById("indexing-count");
  if (told.textContent !== count) told.textContent = count;
  const all = document.getElementById("indexing-all");
  all.max = Math.max(state.repositories, 1);
  all.value = state.indexed;
  document.getElementById("indexing-now").replaceChildren(
    ...(state.running ?? []).map((sync) => {
      const doing = words[sync.phase] ?? "comparing with what is indexed";
      const line = el("li", "", el("bdi", "", sync.name), `: ${doing}${sync.total ? ` ${sync.done} of ${sync.total}` : ""} `);
      if (sync.total) {
        const bar = el("progress", "");
        bar.max = sync.total;
        bar.value = sync.done;
        bar.setAttribute("aria-label", sync.name);
        line.append(bar);
      }
      return line;
    }),
  );
  return busy;
}

async function look() {
  let wait = later;
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(`${base}/.api/indexing`);
      if (answer.ok && show(await answer.json())) wait = soon;
    } catch {
      // The server may be about to start again: the page stays as it is.
    }
  }
  setTimeout(look, wait);
}

if (section) setTimeout(look, section.hidden ? later : soon);
