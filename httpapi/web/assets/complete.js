// Proposals for the query box, by the server and, while the box is empty, of past
// searches: a combobox with a list, as ARIA describes it. Without scripts it is a field.

import { base, el } from "./dom.js";

// combobox makes one of a field and an empty list. past returns past searches.
export function combobox(field, list, past) {
  const state = { answer: null, active: -1, asked: null };

  const set = (name, value) => field.setAttribute(`aria-${name}`, value);
  field.setAttribute("role", "combobox");
  set("autocomplete", "list");
  set("controls", list.id);
  close();

  function close() {
    state.asked?.abort();
    state.asked = state.answer = null;
    list.hidden = true;
    list.replaceChildren();
    set("expanded", "false");
    activate(-1);
  }

  function show(answer) {
    state.answer = answer;
    list.replaceChildren(...answer.items.map((item, i) => {
      const option = el("li", "", el("bdi", "mono", item.label), el("span", "dim", item.kind));
      option.id = `${list.id}-${i}`;
      option.setAttribute("role", "option");
      return option;
    }));
    list.hidden = answer.items.length === 0;
    set("expanded", String(!list.hidden));
    activate(-1);
  }

  function activate(i) {
    list.children[state.active]?.removeAttribute("aria-selected");
    state.active = i;
    const option = list.children[i];
    if (!option) return field.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    set("activedescendant", option.id);
  }

  // ask asks the server what may be written at the cursor. An answer that is late, or
  // that fails, proposes nothing.
  async function ask() {
    close();
    const control = (state.asked = new AbortController());
    const before = Array.from(field.value.slice(0, field.selectionStart)).length;
    try {
      const response = await fetch(`${base}/.api/search/completions?${new URLSearchParams({ q: field.value, cursor: String(before) })}`, { signal: control.signal });
      if (response.ok && state.asked === control) show(await response.json());
    } catch {
      // the box is as useful as a field
    }
  }

  function remind() {
    close();
    show({ from: 0, to: Infinity, items: past().slice(0, 10).map((text) => ({ text, label: text, kind: "past search" })) });
  }

  function accept(i) {
    const { from, to, items } = state.answer;
    const chars = Array.from(field.value);
    const head = chars.slice(0, from).join("") + items[i].text;
    const tail = chars.slice(to).join("");
    field.value = head + (head.endsWith(" ") ? tail.trimStart() : tail);
    field.setSelectionRange(head.length, head.length);
    field.dispatchEvent(new Event("written"));
    if (/[:(]$/.test(items[i].text)) ask(); // what comes next
    else close();
  }

  field.addEventListener("input", () => (field.value.trim() ? ask() : close()));
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const open = !list.hidden, count = list.children.length;
    const does = {
      ArrowDown: () => (open ? activate(state.active + 1 < count ? state.active + 1 : -1) : field.value.trim() ? ask() : remind()),
      ArrowUp: open && (() => activate(state.active < 0 ? count - 1 : state.active - 1)),
      Enter: open && state.active >= 0 && (() => accept(state.active)),
      Tab: open && state.active >= 0 && (() => accept(state.active)),
      Escape: open && close,
    }[event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  });
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const option = event.target.closest("li");
    if (option) accept([...list.children].indexOf(option));
  });
}
