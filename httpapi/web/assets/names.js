// Names in a file: where they are defined and referred to, by search. A click or a key
// asks the server; answers are shown in a panel, and beside the name in a card.

import { amount, base, el, link, marked } from "./dom.js";
import { isName, markOccurrences, qualified, rangeOf, wordAt, wordsOf } from "./words.js";

const table = document.getElementById("source");
const panel = document.getElementById("names");
const card = document.getElementById("card");
const keys = document.getElementById("keys");

// hoverMillis is how long the pointer rests on a name before its card is shown.
const hoverMillis = 350;

// state is the word that was chosen, and what is being asked about it.
const state = { word: null, asked: null, timer: 0, pointed: "" };

// cards are the answers for cards by name.
const cards = new Map();

async function ask(what, name, signal, limit) {
  const { repository, revision, path, language } = table.dataset;
  const query = new URLSearchParams({ name, repository, path });
  if (revision) query.set("revision", revision);
  if (language) query.set("language", language);
  if (limit) query.set("limit", limit);
  const response = await fetch(`${base}/.api/code/${what}?${query}`, { signal });
  if (!response.ok) throw new Error((await response.text()).trim() || response.statusText);
  return response.json();
}

// choose makes a word the one that keys are about, and marks where else it stands.
function choose(word) {
  state.word = word;
  const count = markOccurrences(table, word);
  document.getElementById("said").textContent = word ? `${word.text}, ${amount(count, "place", "places")} on this page` : "";
}

function close() {
  state.asked?.abort();
  state.asked = null;
  hideCard();
  const inside = panel.contains(document.activeElement);
  panel.hidden = true;
  if (inside) (state.word?.row ?? table).querySelector(".no a").focus();
}

// find fills the panel with the definitions of the word that was chosen, or what refers
// to it. With go it goes to the definition, if there is one only.
async function find(what, go) {
  const word = state.word;
  if (!word) return;
  state.asked?.abort();
  const control = (state.asked = new AbortController());
  hideCard();
  head(word, what);
  const list = panel.querySelector(".list");
  list.replaceChildren(el("p", "dim", "Searching\u2026"));
  panel.hidden = false;
  let answer;
  try {
    answer = await ask(what, qualified(word), control.signal);
  } catch (cause) {
    if (!control.signal.aborted) list.replaceChildren(el("p", "problem", cause.message));
    return;
  }
  if (state.asked !== control) return;
  if (go && what === "definitions" && answer.results.length === 1 && answer.closeness === "exact") {
    location.assign(base + answer.results[0].url);
    return;
  }
  list.replaceChildren(el("p", "hint", told(answer, what)), ...groups(answer.results).map(group));
  list.scrollTop = 0;
  (list.querySelector("a") ?? panel.querySelector("h2")).focus();
}

function head(word, what) {
  panel.querySelector("h2").replaceChildren(el("code", "", word.text));
  for (const button of panel.querySelectorAll("[data-find]")) button.setAttribute("aria-pressed", String(button.dataset.find === what));
}

// told says what the answer is worth.
function told(answer, what) {
  if (!answer.results.length) return what === "definitions" ? "No definition was found." : "Nothing was found.";
  const count = `${answer.incomplete ? "At least " : ""}${amount(answer.total, "line", "lines")}`;
  const shown = answer.results.length < answer.total ? `, the nearest ${answer.results.length} shown` : "";
  const near = { exact: "", case: " No definition has exactly this name; these differ in case.", prefix: " No definition has exactly this name; these begin with it." };
  return `${count}${shown}, found by search: names are compared, types are not.${near[answer.closeness]}`;
}

// groups puts lines of a file together, which come one after the other.
function groups(results) {
  const out = [];
  for (const result of results) {
    const last = out[out.length - 1]?.[0];
    if (last?.repository === result.repository && last.path === result.path) out[out.length - 1].push(result);
    else out.push([result]);
  }
  return out;
}

function group(results) {
  const [{ repository, path }] = results;
  const here = repository === table.dataset.repository;
  const title = here && path === table.dataset.path ? "This file" : here ? path : `${repository} \u203a ${path}`;
  return el("section", "", el("h3", "", el("bdi", "", title)), el("ul", "", ...results.map(line)));
}

function line(result) {
  const row = link(result.url, "", el("span", "dim", String(result.line)), " ", code(result), result.definition && el("span", "badge", result.kind || "definition"));
  return el("li", "", row);
}

function code({ text, textColumn }) {
  return el("code", "", marked(text, [[textColumn, textColumn + Array.from(state.word?.text ?? "").length]]));
}

// The card of a name.

function hideCard() {
  clearTimeout(state.timer);
  state.pointed = "";
  card.hidden = true;
}

// show asks for the card of a word and shows it there, unless another was wanted since.
async function show(word) {
  const name = qualified(word);
  state.pointed = name;
  if (!cards.has(name)) cards.set(name, ask("hover", name).catch(() => (cards.delete(name), null)));
  const answer = await cards.get(name);
  const result = answer?.results[0];
  if (state.pointed !== name || !result) return;
  const where = result.repository === table.dataset.repository ? result.path : `${result.repository} \u203a ${result.path}`;
  card.replaceChildren(
    el("pre", "", result.text.trim() || word.text),
    result.comment && el("p", "said", result.comment),
    el("p", "hint", link(result.url, "", `${where}:${result.line}`), ` ${result.kind ?? ""}${result.container ? ` in ${result.container}` : ""}, found by search`),
  );
  card.hidden = false;
  const box = rangeOf(word).getBoundingClientRect();
  const frame = table.closest(".code").getBoundingClientRect();
  card.style.left = `${Math.max(0, Math.min(box.left - frame.left, frame.width - card.offsetWidth))}px`;
  const above = box.top - frame.top - card.offsetHeight - 4;
  card.style.top = `${box.top - card.offsetHeight - 4 > 0 ? above : box.bottom - frame.top + 4}px`;
}

// Moving by keys.

function rowAt() {
  return document.activeElement.closest?.("#source tr") ?? state.word?.row ?? table.querySelector("tr.hit") ?? table.rows[0];
}

// rowBeside is the row by lines behind another one.
function rowBeside(row, by) {
  return document.getElementById("L" + (Number(row.id.slice(1)) + by));
}

function toRow(row) {
  if (!row) return;
  row.querySelector(".no a").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const row = rowAt();
  toRow(row.contains(document.activeElement) ? rowBeside(row, by) : row);
}

// stepWord chooses the next name of the row, or the first of the rows behind it.
function stepWord(by) {
  let row = rowAt();
  let names = wordsOf(row).filter(isName);
  if (by < 0) names = names.reverse();
  const at = state.word?.row === row ? state.word.from : by > 0 ? -1 : Infinity;
  let word = names.find((word) => (by > 0 ? word.from > at : word.from < at));
  while (!word && (row = rowBeside(row, by))) {
    names = wordsOf(row).filter(isName);
    word = by > 0 ? names[0] : names[names.length - 1];
  }
  if (!word) return;
  hideCard();
  toRow(word.row);
  choose(word);
}

const does = {
  j: () => step(1),
  k: () => step(-1),
  w: () => stepWord(1),
  b: () => stepWord(-1),
  d: () => find("definitions", true),
  r: () => find("references"),
  i: () => state.word && show(state.word),
  s: () => {
    const outline = document.getElementById("outline");
    if (!outline) return;
    outline.open = true;
    outline.querySelector("a").focus();
  },
  "?": () => keys.showModal(),
  Escape: close,
};

function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (!does[event.key]) return;
    event.preventDefault();
    does[event.key]();
  });
  table.addEventListener("click", (event) => {
    if (event.target.closest("a") || !getSelection().isCollapsed) return;
    const word = wordAt(event.clientX, event.clientY);
    if (!word || !isName(word)) return word || close();
    choose(word);
    find("definitions", event.ctrlKey || event.metaKey);
  });
  table.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse" || event.buttons) return;
    clearTimeout(state.timer);
    const { clientX, clientY } = event;
    state.timer = setTimeout(() => {
      const word = wordAt(clientX, clientY);
      if (word && isName(word)) show(word);
      else hideCard();
    }, hoverMillis);
  });
  table.addEventListener("pointerleave", () => clearTimeout(state.timer));
  for (const button of panel.querySelectorAll("[data-find]")) button.addEventListener("click", () => find(button.dataset.find));
  panel.querySelector("[data-close]").addEventListener("click", close);
  document.getElementById("showkeys").addEventListener("click", () => keys.showModal());
}

if (table) {
  document.getElementById("showkeys").hidden = false;
  listen();
}
