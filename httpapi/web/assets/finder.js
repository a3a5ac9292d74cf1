// Files by parts of their paths and, behind #, definitions by parts of their names, in the
// repository of the page or in all of them.

import { base, el, link, marked } from "./dom.js";

const opener = document.getElementById("findfile");

// waitMillis is how long a pause in typing is before files are asked for, and
// waitSymbolsMillis before definitions, which are searched for.
const waitMillis = 40;
const waitSymbolsMillis = 150;

// kinds are what is found: where to ask, what to say, and what a row shows.
const files = {
  path: "/.api/code/files",
  hint: "Letters of the path, in their order; # finds definitions.",
  none: "No path has these letters in this order.",
  some: "There may be better ones: there was no time for all paths.",
  row: (file) => [el("bdi", "mono", marked(file.path, file.marks))],
  where: () => "",
};
const symbols = {
  path: "/.api/code/symbols",
  hint: "Parts of the name of a definition, in their order.",
  none: "No definition has these parts in its name.",
  some: "More names have them than were compared: write more of the name.",
  row: (symbol) => [el("bdi", "mono", marked(symbol.name, symbol.marks)), el("span", "dim", ` ${symbol.kind} `)],
  where: (symbol) => `${symbol.path}:${symbol.line} `,
};

// read divides what is written into the kind of things to find and the text to find.
function read(written) {
  const text = written.trim();
  return text.startsWith("#") ? { kind: symbols, text: text.slice(1).trim() } : { kind: files, text };
}

function build() {
  const { repository, revision } = opener.dataset;
  const field = el("input", "");
  Object.assign(field, { type: "search", id: "find-file", autocomplete: "off", spellcheck: false, maxLength: 200 });
  const label = el("label", "", "Find a file, or #definition");
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
  dialog.setAttribute("aria-label", "Find a file or a definition");
  document.body.append(dialog);
  // answered is the question that the list is about, asked the request under way.
  const state = { asked: null, answered: "", timer: 0 };

  // asked is the question that is written.
  const asked = () => `${all.checked} ${field.value.trim()}`;

  // ask lists what has the text that is written, unless something else is asked since.
  async function ask() {
    clearTimeout(state.timer);
    state.asked?.abort();
    const control = (state.asked = new AbortController());
    const question = asked(), { kind, text } = read(field.value);
    if (!text) return show(question, kind, [], kind.hint);
    const query = new URLSearchParams({ q: text });
    if (!all.checked) {
      query.set("repository", repository);
      if (revision) query.set("revision", revision);
    }
    try {
      const response = await fetch(`${base}${kind.path}?${query}`, { signal: control.signal });
      if (!response.ok) throw new Error((await response.text()).trim() || response.statusText);
      const answer = await response.json();
      if (state.asked === control) show(question, kind, answer.results, tell(kind, answer));
    } catch (cause) {
      if (!control.signal.aborted) show(question, kind, [], cause.message);
    }
  }

  function tell(kind, { results, incomplete, leftOut }) {
    const told = results.length ? [] : [kind.none];
    if (leftOut) told.push(`Incomplete: ${leftOut}.`);
    else if (incomplete) told.push(kind.some);
    return told.join(" ");
  }

  function show(question, kind, results, remark) {
    state.answered = question;
    told.textContent = remark;
    list.replaceChildren(...results.map((found) => {
      const where = kind.where(found) + (all.checked ? found.repository : "");
      return el("li", "", link(found.url, "", ...kind.row(found)), where && el("bdi", "dim", ` ${where}`));
    }));
  }

  field.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, read(field.value).kind === symbols ? waitSymbolsMillis : waitMillis);
  });
  all.addEventListener("change", () => {
    ask();
    field.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = asked();
    if (state.answered !== question) await ask();
    if (state.answered === question && asked() === question) list.querySelector("a")?.click(); // and nothing was written meanwhile
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault(); // which would only empty the field
      dialog.close();
      // Where nothing had the focus before, the next key would still go to the field.
      if (dialog.contains(document.activeElement)) document.activeElement.blur();
      return;
    }
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    (to < 0 ? field : links[Math.min(to, links.length - 1)])?.focus();
  });

  // open asks for files, or for definitions if those are wanted.
  function open(wanted) {
    dialog.showModal();
    if ((read(field.value).kind === symbols) !== (wanted === symbols)) field.value = wanted === symbols ? "#" : "";
    field.focus();
    field.setSelectionRange(wanted === symbols ? 1 : 0, field.value.length);
    ask();
  }
  return open;
}

if (opener) {
  let made = null;
  const open = (event, wanted) => {
    event.preventDefault();
    made ??= build();
    made(wanted);
  };
  opener.hidden = false;
  opener.addEventListener("click", (event) => open(event, files));
  document.addEventListener("keydown", (event) => {
    const wanted = { t: files, "#": symbols }[event.key];
    if (!wanted || document.querySelector("dialog[open]")) return;
    const third = event.getModifierState("AltGraph") || (event.altKey && wanted === symbols); // # is typed so on some keyboards
    if (!third && (event.ctrlKey || event.metaKey || event.altKey)) return;
    if (!/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) open(event, wanted);
  });
}
