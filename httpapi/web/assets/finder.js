// Files by parts of their paths, in the repository of the page or in all of them.

import { base, el, link, marked } from "./dom.js";

const opener = document.getElementById("findfile");

// waitMillis is how long a pause in typing is before files are asked for.
const waitMillis = 40;

function build() {
  const { repository, revision } = opener.dataset;
  const field = el("input", "");
  Object.assign(field, { type: "search", id: "find-file", autocomplete: "off", spellcheck: false, maxLength: 200 });
  const label = el("label", "", "Find a file");
  label.htmlFor = field.id;
  const all = el("input", "");
  Object.assign(all, { type: "checkbox", id: "find-all" });
  const allLabel = el("label", "", "in all repositories");
  allLabel.htmlFor = all.id;
  const list = el("ul", "");
  const told = el("p", "hint");
  told.setAttribute("role", "status");
  const form = el("form", "", label, field, el("div", "choice", all, allLabel));
  const dialog = el("dialog", "switch finder", form, told, list);
  dialog.setAttribute("aria-label", "Find a file");
  document.body.append(dialog);
  // answered is the text that the list is about, asked the question under way.
  const state = { asked: null, answered: "", timer: 0 };

  // ask lists the files that have what is written, unless something else is asked since.
  async function ask() {
    clearTimeout(state.timer);
    state.asked?.abort();
    const control = (state.asked = new AbortController());
    const text = field.value.trim();
    if (!text) return show(text, { results: [] }, "Letters of the path, in their order.");
    const query = new URLSearchParams({ q: text });
    if (!all.checked) {
      query.set("repository", repository);
      if (revision) query.set("revision", revision);
    }
    try {
      const response = await fetch(`${base}/.api/code/files?${query}`, { signal: control.signal });
      if (!response.ok) throw new Error((await response.text()).trim() || response.statusText);
      const answer = await response.json();
      if (state.asked === control) show(text, answer, tell(answer));
    } catch (cause) {
      if (!control.signal.aborted) show(text, { results: [] }, cause.message);
    }
  }

  function tell({ results, incomplete }) {
    const some = incomplete ? " There may be better ones: there was no time for all paths." : "";
    return (results.length ? "" : "No path has these letters in this order.") + some;
  }

  function show(text, { results }, remark) {
    state.answered = text;
    told.textContent = remark;
    list.replaceChildren(...results.map((file) => {
      const path = el("bdi", "mono", marked(file.path, file.marks));
      return el("li", "", link(file.url, "", path), all.checked && el("bdi", "dim", ` ${file.repository}`));
    }));
  }

  field.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, waitMillis);
  });
  all.addEventListener("change", () => {
    ask();
    field.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (state.answered !== field.value.trim()) await ask();
    list.querySelector("a")?.click();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault(); // which would only empty the field
      dialog.close();
      return;
    }
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
  opener.hidden = false;
  opener.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (!/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) open(event);
  });
}
