// What matched of a commit: its message, or its diff as the page of a commit has it, with the
// numbers of lines and the colours of its languages.

import { colourLines } from "./colours.js";
import { amount, el, escapePath, link, marked } from "./dom.js";
import { fitted, wrapped } from "./snippet.js";

// body makes what stands below the title of a commit. how says how wide it is, in columns,
// which files of a diff are folded, and takes those that are folded or opened.
export function body(match, how) {
  const [fence, ...lines] = match.content.split("\n");
  while (lines.length && /^(```)?$/.test(lines[lines.length - 1])) lines.pop();
  const spans = lines.map(() => []);
  for (const [line, from, length] of match.ranges) spans[line - 1]?.push([from, from + length]);
  if (!fence.startsWith("```diff")) return [el("div", "code", ...lines.map((text, i) => el("div", "line", code("", text, spans[i], how)))), ...left(match)];
  const all = files(lines, spans);
  return [el("div", "code diff", ...all.flatMap((file, i) => fileOf(match, file, i, how))), ...left(match)];
}

// left says what the preview leaves out.
function left({ contentTruncated, hiddenRanges, url }) {
  if (!hiddenRanges) return contentTruncated ? [el("p", "more", link(url, "", "The whole commit"))] : [];
  return [el("p", "more", link(url, "", `${amount(hiddenRanges, "more match", "more matches")} in the commit`))];
}

// code is a line behind its sign, cut to the width around its first match.
function code(sign, text, spans, how) {
  const cut = fitted(text, spans, how.columns * wrapped);
  const out = el("code", "", sign && el("span", "sign", sign), marked(cut.text, cut.spans));
  out.classList.toggle("before", cut.before);
  out.classList.toggle("behind", cut.behind);
  return out;
}

const kinds = { "+": "plus", "-": "minus", " ": "" };

// hunkHead is the line before those of a hunk, which says how many come; without a number it
// is one.
const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

// files are those of a preview: a line with the names of each, and lines below it, which
// have their numbers in the file before and after. Names may begin as lines do.
function files(lines, spans) {
  const out = [];
  let before = 0, after = 0, beforeEnd = 0, afterEnd = 0;
  lines.forEach((text, i) => {
    const inside = before < beforeEnd || after < afterEnd;
    const head = inside ? null : hunkHead.exec(text);
    const kind = head ? "hunk" : kinds[text[0]];
    if (!out.length || (!head && (!inside || kind === undefined))) {
      out.push({ head: text, spans: spans[i], rows: [] });
      return;
    }
    const row = { kind, sign: text[0], text, spans: spans[i] };
    if (head) {
      [before, after] = [Number(head[1]), Number(head[3])];
      [beforeEnd, afterEnd] = [before + Number(head[2] ?? 1), after + Number(head[4] ?? 1)];
    } else {
      Object.assign(row, { text: text.slice(1), spans: spans[i].map(([from, to]) => [from - 1, to - 1]) });
      if (kind !== "plus") row.before = before++;
      if (kind !== "minus") row.after = after++;
    }
    out[out.length - 1].rows.push(row);
  });
  return out;
}

// none is the name of a file that is not there.
const none = "/dev/null";

// names are those of a file before and after; none, where they are not written as they are.
function names(head) {
  const all = head.split(" ");
  return all.length === 2 && !/[\\\ufffd]/.test(head) ? all : [];
}

function fileOf(match, file, i, how) {
  const [before, after] = names(file.head);
  const to = after && after !== none ? `/${escapePath(match.repository)}@${match.oid}/-/blob/${escapePath(after)}` : "";
  const title = el("div", "line file", ...titleOf(file, before, after, to));
  if (!file.rows.length) return [title];
  const count = (kind) => file.rows.filter((row) => row.kind === kind).length;
  const rows = file.rows.map((row) => lineOf(row, to, how));
  const summary = el("summary", "", el("span", "added", `+${count("plus")}`), " ", el("span", "deleted", `\u2212${count("minus")}`), el("span", "dim", " shown"));
  const lines = el("details", "", summary, ...rows);
  lines.open = !how.folded?.(i);
  // A browser tells of a toggle later, and of none where an earlier one still waits.
  summary.addEventListener("click", (event) => {
    event.preventDefault();
    lines.open = !lines.open;
    how.fold?.(i, !lines.open);
  });
  lines.addEventListener("toggle", () => lines.isConnected && how.fold?.(i, !lines.open));
  if (after) paint(lines, file.rows, rows, before, after);
  return [title, lines];
}

// titleOf names a file once, where it kept its name.
function titleOf({ head, spans }, before, after, to) {
  if (!after) return [el("code", "", marked(head, spans))];
  const second = Array.from(before).length + 1, later = spans.map(([from, to]) => [from - second, to - second]);
  const name = (text, of) => el("bdi", "", marked(text, of));
  if (after === none) return [el("code", "", name(before, spans)), el("span", "badge", "deleted")];
  const now = (of) => el("code", "", link(to, "", name(after, of)));
  if (before === none) return [now(later), el("span", "badge", "added")];
  if (before === after) return [now([...spans, ...later])];
  return [el("code", "", name(before, spans)), " \u2192 ", now(later)];
}

function lineOf(row, to, how) {
  if (row.kind === "hunk") return el("div", "line hunk", code("", row.text, row.spans, how));
  const after = row.after ? numberOf(row, to) : el("span", "no");
  return el("div", `line ${row.kind}`, el("span", "no was", row.before ? String(row.before) : ""), after, code(row.sign, row.text, row.spans, how));
}

// numberOf leads to a line of the file at the commit.
function numberOf({ after, spans }, to) {
  if (!to) return el("span", "no", String(after));
  const out = link(`${to}?L${after}`, "no", String(after));
  out.ariaLabel = `line ${after}`;
  if (!spans.length) out.tabIndex = -1;
  return out;
}

// paint colours the file before and after as texts of their own. Lines in both have the
// colours of the later one.
function paint(box, rows, elements, before, after) {
  const side = (other, path, own) => {
    const lines = rows.flatMap((row, i) => (row.kind === other || row.kind === "hunk" ? [] : [{ row, code: elements[i].querySelector("code") }]));
    colourLines(box, lines.map(({ row, code }) => (own(row) ? { code } : { text: code.textContent.slice(1) })), path, "");
  };
  if (after !== none) side("minus", after, () => true);
  if (before !== none && rows.some(({ kind }) => kind === "minus")) side("plus", before, ({ kind }) => kind === "minus" || after === none);
}
