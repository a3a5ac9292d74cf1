// The choice of two revisions to compare: branches and tags are proposed.

import { el } from "./dom.js";
import { refsLike } from "./refs.js";

// waitMillis is how long a pause in typing is before names are asked for. most are proposed.
const waitMillis = 120, most = 50;

function propose(field, list) {
  const names = el("datalist", "");
  names.id = `${field.id}-names`;
  field.after(names);
  field.setAttribute("list", names.id);
  const state = { asked: null, timer: 0 };

  async function ask() {
    state.asked?.abort();
    const control = (state.asked = new AbortController());
    const found = await refsLike(list, field.value.trim(), control.signal);
    if (state.asked !== control || !found) return;
    names.replaceChildren(...found.slice(0, most).map(({ name, kind }) => Object.assign(el("option", ""), { value: name, label: kind })));
  }

  field.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, waitMillis);
  });
  field.addEventListener("focus", ask);
}

for (const id of ["comparehead", "comparebase"]) {
  const field = document.getElementById(id);
  if (field) propose(field, field.form.action);
}
