// A choice of branches, tags and commits that keeps the path. The page of branches and
// tags lists them, and is what the link leads to without scripts.

import { el } from "./dom.js";
import { refsLike } from "./refs.js";

const opener = document.getElementById("switch");

// waitMillis is how long a pause in typing is before names are asked for.
const waitMillis = 120;

function build() {
  const field = el("input", "");
  Object.assign(field, { type: "search", id: "switch-rev", autocomplete: "off", spellcheck: false });
  const label = el("label", "", "Branch, tag or commit");
  label.htmlFor = field.id;
  const list = el("ul", "");
  const form = el("form", "", label, field);
  form.method = "dialog";
  const dialog = el("dialog", "switch", form, list);
  dialog.setAttribute("aria-label", "Switch the revision");
  document.body.append(dialog);
  const state = { asked: null, timer: 0 };

  async function ask() {
    state.asked?.abort();
    const control = (state.asked = new AbortController());
    const found = await refsLike(opener.href, field.value.trim(), control.signal);
    if (state.asked === control && found) show(found);
  }

  function show(found) {
    list.replaceChildren(...found.map(({ name, to, kind }) => {
      const out = el("a", "", name);
      out.setAttribute("href", to);
      return el("li", "", out, el("span", "dim", ` ${kind}`));
    }));
  }

  field.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, waitMillis);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = field.value.trim();
    if (!wanted) return;
    const address = new URL(opener.href);
    address.searchParams.set("rev", wanted);
    location.assign(address);
  });
  dialog.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    (to < 0 ? field : links[Math.min(to, links.length - 1)])?.focus();
  });
  return { dialog, field, ask };
}

if (opener) {
  let made = null;
  const open = (event) => {
    event.preventDefault();
    made ??= build();
    made.dialog.showModal();
    made.field.select();
    made.ask();
  };
  opener.addEventListener("click", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) open(event);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "v" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (!/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) open(event);
  });
}
