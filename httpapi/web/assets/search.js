// The search page: runs the search of its address, and those that typing begins, and has
// the address and all that leads on from the page follow.

import { Asked } from "./asked.js";
import { base } from "./dom.js";
import { showTabs } from "./facets.js";
import { groups } from "./groups.js";
import { atOnce, listen, propose, remember } from "./keys.js";
import { adding } from "./query.js";
import { show } from "./reading.js";
import { Search } from "./running.js";
import { Typing } from "./typing.js";

const box = document.getElementById("q"), form = box.form;
const name = document.title.slice(document.title.lastIndexOf(" - "));
// longestKept is how long a query is that the links behind an answer keep, in characters.
const longestKept = 4000;

// now is what the page shows. shown is the search of it and coming one that typing began
// and that has nothing to show yet. left is the entry of the history that the page had
// before typing changed it.
const now = { asked: new Asked(new URLSearchParams(location.search)), shown: null, coming: null, left: null };
const page = { mode: "capped" };

// fill finds the elements of an answer. On a page without, they wait in a template.
function fill() {
  if (page.results) return;
  const template = document.getElementById("answer");
  template?.replaceWith(template.content);
  const welcome = document.getElementById("welcome");
  if (welcome) welcome.hidden = true;
  for (const id of ["tabs", "summary", "told", "stop", "alert", "skipped", "results", "filters", "view", "cl", "by", "groups", "typed"]) page[id] = document.getElementById(id);
  page.stop.addEventListener("click", () => (now.coming ?? now.shown).stop("you stopped the search"));
  page.view.addEventListener("click", (event) => event.target.dataset.show && now.shown.found.show(event.target.dataset.show));
  page.results.addEventListener("click", (event) => event.target.closest("a") && remember(now.asked.query));
  page.cl.addEventListener("change", () => {
    const next = new URLSearchParams(now.asked.parameters);
    next.set("cl", page.cl.value);
    location.assign(`${base}/search?${next}`);
  });
  groups(page.by, page.groups, () => now.asked.whole, now.asked.type, (filter) => now.asked.path(adding(now.asked.query, filter)));
  typing.choice(document.getElementById("typing"));
  page.typed.hidden = false;
}

// begin runs a search and has the page show it, at once or when there is something to show.
function begin(asked, typed) {
  const search = new Search(asked, page, typed);
  now.coming = search;
  search.run(() => take(search, typed), () => drop());
}

// take has the page be that of a search.
function take(search, typed) {
  const { asked } = search;
  page.mode = now.shown?.found.mode ?? page.mode;
  now.shown?.close();
  Object.assign(now, { asked, shown: search, coming: null });
  fill();
  showTabs(page.tabs, asked.query, (text) => asked.path(text));
  if (typed) follow(asked);
}

// drop forgets a search that has nothing to show.
function drop() {
  now.coming?.close();
  now.coming = null;
}

// follow has the address, and what leads on from the page, be those of what was asked.
function follow(asked) {
  now.left ??= { state: history.state, address: location.href };
  history.replaceState({}, "", base + asked.path(asked.query));
  document.title = asked.query + name;
  const keep = document.getElementById("keep");
  if (keep) {
    const [saved, job] = keep.querySelectorAll("a");
    keep.hidden = asked.kept.length > longestKept;
    saved.href = `${base}/user/searches?${new URLSearchParams({ query: asked.kept })}#new`;
    job.href = `${base}/user/jobs?${new URLSearchParams({ query: asked.unlimited })}#new`;
  }
  if (page.by.value) {
    page.by.value = "";
    page.by.dispatchEvent(new Event("change"));
  }
}

// written is what the form asks for, with the choices of the page beside it.
function written() {
  const parameters = new URLSearchParams(new FormData(form));
  const lines = now.asked.parameters.get("cl");
  if (lines) parameters.set("cl", lines);
  return new Asked(parameters);
}

const typing = new Typing(box, (text) => {
  if (text === now.coming?.asked.query) return;
  drop();
  if (text === now.shown?.asked.query && now.shown.whole) return;
  now.shown?.stop("another search began", true);
  begin(written(), true);
});

// What is asked for by a form is a page of its own, behind the one before typing.
form.addEventListener("submit", () => {
  typing.stop();
  drop();
  if (now.left) history.replaceState(now.left.state, "", now.left.address);
});
addEventListener("pageshow", (event) => event.persisted && now.left && location.reload());

remember(now.asked.query);
propose();
atOnce();
listen(() => now.shown?.found);
show(box, document.getElementById("painted"), document.getElementById("remarks"), () => form.elements.namedItem("patternType").value, (text) => now.asked.path(text), (reading) => typing.read(reading));
if (now.asked.query) {
  begin(now.asked, false);
  history.scrollRestoration = "manual";
  const at = history.state?.at;
  if (at) now.shown.found.list.reveal(...at);
}
