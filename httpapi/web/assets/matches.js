// Matches in a file: those of the search that led here, which the address names, or of
// a text to find. The server searches, so that they are counted in the whole file
// whatever part of it the page has.

import { base, number } from "./dom.js";
import { adding, onlyPatterns } from "./query.js";
import { events } from "./stream.js";

const table = document.getElementById("source");
const bar = document.getElementById("find");
const told = document.getElementById("find-told");
const field = document.getElementById("find-text");
const letters = document.getElementById("find-case");

// most matches are counted, and mostMarked of them are marked on the page.
const most = 2000, mostMarked = 2000;

// waitMillis is how long a pause in typing is before the server searches.
const waitMillis = 150;

// state has the matches, as lines from 1 and characters from 0, and the current one.
const state = { list: [], at: -1, more: false, asked: null, timer: 0 };

// named is what the address asks for: a text to find, or the query of a search.
function named() {
  const asked = new URLSearchParams(location.search);
  const matchCase = asked.get("case") === "yes";
  if (asked.get("find")) return { find: asked.get("find"), matchCase };
  return asked.get("q") ? { q: asked.get("q"), type: asked.get("patternType") || "keyword", matchCase } : null;
}

// addressOf is the address of a line of this file with what is looked for.
function addressOf(line, what) {
  const more = new URLSearchParams();
  if (what?.find) more.set("find", what.find);
  else if (what) for (const [name, value] of [["q", what.q], ["patternType", what.type]]) more.set(name, value);
  if (what?.matchCase) more.set("case", "yes");
  const view = new URLSearchParams(location.search).get("view");
  if (view) more.set("view", view);
  const parts = [line && `L${line}`, String(more)].filter(Boolean);
  return location.pathname + (parts.length ? "?" + parts.join("&") : "");
}

// escaped is a text that a regular expression takes as it is.
const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

// queryFor is the query for what is looked for, in this file only.
function queryFor(what) {
  const { repository, revision, path } = table.dataset;
  const quoted = (text) => JSON.stringify(text);
  let query = what.find ? `content:${quoted(what.find)}` : onlyPatterns(what.q);
  const filters = [`repo:${quoted(`^${escaped(repository)}$${revision ? "@" + revision : ""}`)}`, `file:${quoted(`^${escaped(path)}$`)}`, "type:file", "fork:yes", "archived:yes", `count:${most}`];
  if (what.matchCase && !/(^|\s)case:/i.test(query)) filters.push("case:yes");
  for (const filter of filters) query = adding(query, filter);
  return query;
}

async function look(what) {
  state.asked?.abort();
  const control = (state.asked = new AbortController());
  Object.assign(state, { list: [], at: -1, more: false });
  mark();
  if (!what) {
    told.textContent = "";
    return;
  }
  told.textContent = "Searching\u2026";
  const asked = new URLSearchParams({ q: queryFor(what), v: "V3", t: what.find ? "standard" : what.type, sm: "0", cm: "t", cl: "0", "max-line-len": "200", cut: "match" });
  const list = [];
  let problem = "", left = [];
  try {
    for await (const { name, data } of events(`${base}/search/stream?${asked}`, control.signal)) {
      if (name === "matches") for (const match of data) list.push(...rangesOf(match));
      else if (name === "progress") left = data.skipped.map((s) => s.title);
      else if (name === "alert") problem ||= data.title;
      else if (name === "error") problem = data.message;
    }
  } catch (cause) {
    if (control.signal.aborted) return;
    problem = cause.message;
  }
  if (state.asked !== control) return;
  list.sort((a, b) => a.line - b.line || a.from - b.from);
  Object.assign(state, { list: list.slice(0, most), more: list.length >= most });
  mark();
  if (!list.length) told.textContent = problem || (left.length ? `Not searched: ${left.join(", ")}` : "No matches");
  else step(0);
}

function rangesOf(match) {
  if (match.type !== "content") return [];
  return (match.chunkMatches ?? []).flatMap(({ ranges }) => ranges.map(({ start, end }) => (
    { line: start.line + 1, from: start.column, to: end.line === start.line ? end.column : Infinity })));
}

// rangeIn is a match as a range of the page, null where the page has not got it: another
// part of a long line has.
function rangeIn({ line, from, to }) {
  const cell = document.getElementById("L" + line)?.querySelector(".tx");
  if (!cell) return null;
  const range = document.createRange();
  let at = 0, before = 0, begun = false, last = null; // before counts the characters that are not shown
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.nodeType === 1) {
      if (node.matches(".early")) at = before = Number(node.dataset.chars);
      else if (node.matches(".left")) break;
      if (node.className === "odd") at++;
      continue;
    }
    if (node.parentNode.matches(".early")) continue;
    const chars = /[\ud800-\udfff]/.test(node.data) ? Array.from(node.data) : null;
    const length = chars ? chars.length : node.data.length;
    const place = (n) => (chars ? chars.slice(0, n).join("").length : n);
    if (from < before) return null;
    if (!begun && from < at + length) {
      range.setStart(node, place(Math.max(0, from - at)));
      begun = true;
    }
    if (begun && to <= at + length) {
      range.setEnd(node, place(Math.max(0, to - at)));
      return range;
    }
    at += length;
    last = node;
  }
  if (!begun || !last) return null;
  range.setEnd(last, last.data.length);
  return range;
}

// mark marks the matches on the page. Browsers without highlights of ranges mark none.
function mark() {
  if (!globalThis.Highlight || !CSS.highlights) return;
  CSS.highlights.delete("found");
  CSS.highlights.delete("found-now");
  const first = Number(table.dataset.first), end = Number(table.dataset.last);
  const here = state.list.filter(({ line }) => line >= first && line <= end).slice(0, mostMarked);
  const ranges = here.map(rangeIn).filter(Boolean);
  if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
  markCurrent();
}

// markCurrent marks the current match, and returns it as a range of the page.
function markCurrent() {
  const range = state.at >= 0 ? rangeIn(state.list[state.at]) : null;
  if (range && globalThis.Highlight && CSS.highlights) {
    const now = new Highlight(range);
    now.priority = 2;
    CSS.highlights.set("found-now", now);
  }
  return range;
}

// namedPlace is the line that the address names, and the column if it does, as it is written.
const namedPlace = () => /[?&]L(\d+(?::\d+)?)/.exec(location.search)?.[1] ?? "";

// step goes so many matches on; 0 goes to the first at or behind the place that the
// address names. A match that the page has not got is on another page of this file.
function step(by) {
  const { list } = state;
  if (!list.length) return;
  if (by) {
    state.at = (state.at + by + list.length) % list.length;
    if (!document.getElementById("L" + list[state.at].line)) return location.assign(addressOf(list[state.at].line, named()));
  } else {
    const [line, column = 1] = (namedPlace() || table.dataset.first).split(":").map(Number);
    state.at = Math.max(0, list.findIndex((match) => match.line > line || (match.line === line && match.from >= column - 1)));
  }
  told.textContent = `${number(state.at + 1)} of ${number(list.length)}${state.more ? " or more" : ""}${named()?.q ? " matches of the search" : ""}`;
  const range = markCurrent();
  const row = document.getElementById("L" + list[state.at].line);
  if (!row) return;
  const { line, from } = list[state.at], there = `${line}:${from + 1}`;
  if (!range && row.querySelector(".left") && namedPlace() !== there) return location.replace(addressOf(there, named()));
  row.scrollIntoView({ block: "center" });
  if (!range) return;
  const box = range.getBoundingClientRect(), scroll = table.closest(".scroll"), frame = scroll.getBoundingClientRect();
  if (box.left < frame.left || box.right > frame.right) scroll.scrollLeft += box.left - frame.left - frame.width / 3;
}

function open() {
  bar.hidden = false;
  field.select();
}

function close() {
  const inside = bar.contains(document.activeElement);
  bar.hidden = true;
  history.replaceState(null, "", addressOf(namedPlace(), null));
  look(null);
  if (inside) document.getElementById("showfind").focus();
}

// typed looks for what is in the field, or again for the matches of the search.
function typed() {
  clearTimeout(state.timer);
  const what = field.value ? { find: field.value, matchCase: letters.checked } : null;
  history.replaceState(null, "", addressOf(namedPlace(), what));
  return look(what);
}

if (table) {
  const what = named();
  if (what) {
    bar.hidden = false;
    field.value = what.find ?? "";
    letters.checked = what.matchCase;
    look(what);
  }
  table.addEventListener("lines", () => state.list.length && mark());
  document.getElementById("showfind").addEventListener("click", open);
  field.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(typed, waitMillis);
  });
  letters.addEventListener("change", () => field.value && typed());
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value !== (named()?.find ?? "")) typed();
    else step(1);
  });
  for (const button of bar.querySelectorAll("[data-step]")) button.addEventListener("click", () => step(Number(button.dataset.step)));
  bar.querySelector("[data-close]").addEventListener("click", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      step(-1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const does = { f: open, n: () => step(1), p: () => step(-1) }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
}
