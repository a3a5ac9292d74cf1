// How the server reads the query while it is written: its parts are coloured
// beneath the field, and what is wrong with it is said below. Without an answer
// the field looks like any other.

import { base, el, link } from "./dom.js";

// pause is how long nobody types before mistakes are told, in milliseconds: half
// a word is no mistake.
const pause = 700;

// show colours what stands in a field beneath it, and tells what is wrong in a box.
// type returns how words are read; path is the page of a query; read takes each reading of
// what stands there.
export function show(field, below, told, type, path, read) {
  const state = { text: "", marks: [], asked: null, timer: 0 };

  function paint() {
    const { value } = field;
    const chars = Array.from(value);
    const parts = [];
    let at = 0;
    for (const { from, to, kind } of state.marks) {
      parts.push(chars.slice(at, from).join(""), el("span", `is-${kind}`, chars.slice(from, to).join("")));
      at = to;
    }
    parts.push(chars.slice(at).join(""));
    below.replaceChildren(...parts);
    field.classList.toggle("painted", state.marks.length > 0);
    below.hidden = state.marks.length === 0;
    below.scrollLeft = field.scrollLeft;
  }

  // keep moves the marks with what was typed, until the server has read it.
  function keep() {
    const before = Array.from(state.text), now = Array.from(field.value);
    let same = 0, rest = 0;
    while (same < before.length && before[same] === now[same]) same++;
    while (rest < Math.min(before.length, now.length) - same && before[before.length - 1 - rest] === now[now.length - 1 - rest]) rest++;
    const by = now.length - before.length, end = before.length - rest;
    state.marks = state.marks.flatMap(({ from, to, kind }) => {
      if (to <= same) return [{ from, to, kind }];
      if (from >= end) return [{ from: from + by, to: to + by, kind }];
      return from <= same && end <= to && to + by > from ? [{ from, to: to + by, kind }] : [];
    });
    state.text = field.value;
  }

  async function ask() {
    keep();
    paint();
    state.asked?.abort();
    clearTimeout(state.timer);
    told.replaceChildren();
    field.removeAttribute("aria-invalid");
    if (!field.value.trim()) return;
    const control = (state.asked = new AbortController());
    try {
      const response = await fetch(`${base}/.api/search/parse?${new URLSearchParams({ q: field.value, t: type() })}`, { signal: control.signal });
      if (!response.ok) return;
      const reading = await response.json();
      if (state.asked !== control) return;
      state.marks = reading.marks;
      paint();
      read(reading);
      state.timer = setTimeout(() => tell(reading), pause);
    } catch {
      // the box is as useful as a field
    }
  }

  // tell says what is wrong, with the column and the query to write instead.
  function tell({ error, warnings }) {
    const remarks = error ? [error] : warnings;
    if (error) field.setAttribute("aria-invalid", "true");
    told.replaceChildren(...remarks.map(({ message, from, to, hint, proposed }) => {
      const line = el("p", error ? "wrong" : "", to > 0 && `Column ${from + 1}: `, ...message.split("`").map((part, i) => (i % 2 ? el("code", "", part) : part)));
      if (proposed) line.append(" ", link(path(proposed), "mono", proposed));
      else if (hint) line.append(" ", el("span", "dim", hint));
      return line;
    }));
  }

  for (const name of ["input", "written"]) field.addEventListener(name, ask);
  field.addEventListener("scroll", () => (below.scrollLeft = field.scrollLeft));
  ask();
}
