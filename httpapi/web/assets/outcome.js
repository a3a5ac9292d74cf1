// What there is to say of an answer beside its results: how many there are, what broke,
// and what was not searched. The state of a search comes in, elements go out.

import { amount, el, link, number, prose } from "./dom.js";
import { adding } from "./query.js";

// count is the number of results; a "+" says that there may be more.
function count(progress) {
  const n = progress?.matchCount ?? 0;
  const more = !progress?.done || progress.skipped.some((s) => s.reason.includes("-limit"));
  return { n, text: `${number(n)}${more && n > 0 ? "+" : ""} ${n === 1 && !more ? "result" : "results"}` };
}

// soFar says how much there is while more may come.
export function soFar({ progress }) {
  return [el("strong", "", count(progress).text), " so far"];
}

// stalled says that nothing comes any more, for as many milliseconds.
export function stalled(state, millis) {
  return [...soFar(state), `, but nothing has come for ${amount(Math.round(millis / 1000), "second", "seconds")} `, again()];
}

// ended says how a search ended. What stopped it, if anything, is part of the state.
export function ended(asked, { progress, alert, error, stopped }) {
  const skipped = progress?.skipped ?? [];
  const { n, text } = count(progress);
  const through = !error && !stopped && skipped.length === 0 && progress?.done;
  let said;
  if (n > 0) said = [el("strong", "", text), where(progress)];
  else if (through && !alert) said = [el("strong", "", "No results"), ": everything was searched that the query asks for"];
  else if (through) said = [el("strong", "", "No results"), ": see the note below"];
  else said = [el("strong", "", "Nothing found so far"), ", but not everything was searched"];
  if (stopped) said.push(`, when ${stopped}`);
  return [...said, ...facts(asked, progress)];
}

// notes are what broke, and what the server says of the answer as a whole. Loud ones are
// told at once to those who do not see them.
export function notes(asked, { alert, error }, loud) {
  const boxes = [error && broken(error), alert && caution(asked, alert)].filter(Boolean);
  if (loud) for (const box of boxes) box.setAttribute("role", "alert");
  return boxes;
}

function where(progress) {
  return progress.repositoriesCount ? ` in ${amount(progress.repositoriesCount, "repository", "repositories")}` : "";
}

// facts are how long it took, where to read more about that, and the whole answer as
// a file.
function facts(asked, progress) {
  if (!progress) return [];
  const out = [el("span", "dim", ` · ${number(progress.durationMs)} ms`)];
  const trace = /\/-\/trace\/[0-9a-f]+$/.exec(progress.trace ?? "");
  if (trace) out.push(el("span", "dim", " · "), link(trace[0], "", "what it did"));
  if (progress.matchCount > 0) out.push(el("span", "dim", " · whole as "), exported(asked, "csv", "CSV"), " ", exported(asked, "jsonl", "JSON Lines"));
  return out;
}

// exported leads to the answer as a file.
function exported(asked, format, name) {
  const out = link(`/.api/search/export?${new URLSearchParams({ format, q: asked.whole, t: asked.type })}`, "", name);
  out.download = `search.${format}`;
  return out;
}

function broken(error) {
  const goOn = error.status === 401 ? link("/sign-in?returnTo=" + encodeURIComponent(location.pathname + location.search), "", "Sign in again") : again();
  return el("div", "problem", el("p", "", error.message), goOn);
}

// again is a button that begins the search anew. What is in view stays in view.
function again() {
  const out = el("button", "plain small", "Search again");
  out.type = "button";
  out.addEventListener("click", () => location.reload());
  return out;
}

function caution(asked, alert) {
  const box = el("div", "caution", el("h2", "", alert.title), prose(alert.description));
  const proposed = alert.proposedQueries ?? [];
  if (proposed.length) {
    box.append(el("ul", "proposals", ...proposed.map((p) =>
      el("li", "", link(asked.path(p.query), "mono", p.query), p.description && el("span", "dim", ` ${p.description}`)))));
  }
  return box;
}

// shortfall names what reasons have in common: results that are not shown,
// repositories that are left out by default, or anything that was not searched.
function shortfall(reasons) {
  const all = (...some) => reasons.every((r) => some.includes(r));
  if (all("display", "shard-match-limit", "document-match-limit")) return "Not everything was shown: ";
  if (all("repository-fork", "excluded-archive")) return "Left out unless asked for: ";
  return "Not everything was searched: ";
}

// shortfalls tell what was not searched or shown, and how to have it.
export function shortfalls(asked, { progress }) {
  const skipped = progress?.skipped ?? [];
  if (!skipped.length) return [];
  const list = el("ul", "", ...skipped.map((s) => el("li", "",
    el("span", `badge ${s.severity === "info" ? "" : "warn"}`, s.title), prose(s.message),
    s.suggested && link(asked.path(adding(asked.query, s.suggested.queryExpression)), "",
      s.suggested.title, " ", el("code", "", s.suggested.queryExpression)))));
  const titles = skipped.map((s) => s.title).join(", ");
  const box = el("details", "caution", el("summary", "", el("strong", "", shortfall(skipped.map((s) => s.reason))), titles), list);
  box.open = count(progress).n === 0;
  return [box];
}
