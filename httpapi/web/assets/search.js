// The search page: runs the search of its address and shows what comes.

import { Answer } from "./answer.js";
import { amount, base, el, link, prose } from "./dom.js";
import { Facets, showTabs } from "./facets.js";
import { Found } from "./found.js";
import { groups } from "./groups.js";
import { atOnce, listen, remember } from "./keys.js";
import { adding } from "./query.js";
import { show } from "./reading.js";
import { StreamError } from "./stream.js";

const asked = new URLSearchParams(location.search);
const query = asked.get("q")?.trim() ?? "";
const context = Math.min(50, Math.max(0, parseInt(asked.get("cl") ?? "1", 10) || 0));
const page = Object.fromEntries(
  ["summary", "told", "stop", "alert", "skipped", "results", "filters", "view", "cl"].map((id) => [id, document.getElementById(id)]),
);

const facets = new Facets(page.filters, query, searchPath);

// state is what the stream has told so far.
const state = { progress: null, alert: null, error: null, finished: false, stopped: false };

// searchPath is the page of another query, with all other settings kept.
function searchPath(text) {
  const next = new URLSearchParams(asked);
  next.set("q", text);
  return "/search?" + next;
}

// sent is the query with what the address adds to it.
function sent() {
  const scope = asked.get("context");
  const parts = [query];
  if (scope && !/(^|\s)-?context:/i.test(query)) parts.unshift(`context:${scope}`);
  if (asked.get("case") === "yes" && !/(^|\s)case:/i.test(query)) parts.push("case:yes");
  return parts.join(" ");
}

async function run() {
  const control = new AbortController();
  page.stop.hidden = false;
  page.stop.addEventListener("click", () => {
    state.stopped = true;
    control.abort();
  });
  const parameters = new URLSearchParams({
    q: sent(), v: "V3", t: asked.get("patternType") || "keyword", sm: asked.get("sm") || "0", cm: "t", cl: String(context), "max-line-len": "600", cut: "match",
  });
  const answer = new Answer(context, {
    event: (name, data) => take[name]?.(data),
    grown: (count) => found.grown(count),
    came: (item, key) => found.came(item, key),
  });
  const found = new Found(page.results, answer);
  view(found);
  listen(found);
  try {
    await answer.read(`${base}/search/stream?${parameters}`, control.signal);
    if (!state.finished) state.error = { message: "The answer broke off before its end.", status: 0 };
  } catch (cause) {
    if (!state.stopped) state.error = cause;
    if (!state.stopped && !(cause instanceof StreamError)) console.error(cause);
    await answer.settled().catch(() => {}); // what came before is shown
  }
  page.stop.hidden = true;
  facets.end();
  finish();
}

// view has what a person chooses about the list: how much of each file is there,
// and where it was left.
function view(found) {
  page.view.addEventListener("click", (event) => event.target.dataset.show && found.show(event.target.dataset.show));
  page.cl.addEventListener("change", () => {
    const next = new URLSearchParams(asked);
    next.set("cl", page.cl.value);
    location.assign(`${base}/search?${next}`);
  });
  groups(document.getElementById("by"), document.getElementById("groups"), whole, asked.get("patternType") || "keyword", (filter) => searchPath(adding(query, filter)));
  history.scrollRestoration = "manual";
  const at = history.state?.at;
  if (at) found.list.reveal(...at);
  found.settled = (place) => history.replaceState({ ...history.state, at: place }, "");
}

// take has what to do with each event.
const take = {
  progress(progress) {
    state.progress = progress;
    summarise();
  },
  filters: (filters) => facets.show(filters),
  alert(alert) {
    state.alert = alert;
  },
  error(error) {
    state.error = error;
  },
  done() {
    state.finished = true;
  },
};

// count is the number of results; a "+" says that there may be more.
function count() {
  const { progress } = state;
  const n = progress?.matchCount ?? 0;
  const more = !progress?.done || progress.skipped.some((s) => s.reason.includes("-limit"));
  return { n, text: `${n.toLocaleString("en-US")}${more && n > 0 ? "+" : ""} ${n === 1 && !more ? "result" : "results"}` };
}

function summarise() {
  page.summary.replaceChildren(el("strong", "", count().text), " so far");
}

function finish() {
  const { progress, alert, error } = state;
  const skipped = progress?.skipped ?? [];
  const { n, text } = count();
  const whole = !error && !alert && !state.stopped && skipped.length === 0 && progress?.done;
  let said;
  if (n > 0) said = [el("strong", "", text), where(progress)];
  else if (whole) said = [el("strong", "", "No results"), ": everything was searched that the query asks for"];
  else if (alert && !error && !state.stopped && skipped.length === 0 && progress?.done) said = [el("strong", "", "No results"), ": see the note below"];
  else said = [el("strong", "", "Nothing found so far"), ", but not everything was searched"];
  if (state.stopped) said.push(", when you stopped the search");
  page.summary.replaceChildren(...said, ...facts(progress));
  page.told.textContent = page.summary.textContent;
  if (error) showError(error);
  if (alert) showAlert(alert);
  showSkipped(skipped, n === 0);
}

function where(progress) {
  return progress.repositoriesCount ? ` in ${amount(progress.repositoriesCount, "repository", "repositories")}` : "";
}

// facts are how long it took, where to read more about that, and the whole answer as
// a file.
function facts(progress) {
  if (!progress) return [];
  const out = [el("span", "dim", ` · ${progress.durationMs.toLocaleString("en-US")} ms`)];
  const trace = /\/-\/trace\/[0-9a-f]+$/.exec(progress.trace ?? "");
  if (trace) out.push(el("span", "dim", " · "), link(trace[0], "", "what it did"));
  if (progress.matchCount > 0) out.push(el("span", "dim", " · whole as "), exported("csv", "CSV"), " ", exported("jsonl", "JSON Lines"));
  return out;
}

// whole is the query for all of the answer, unless it says itself how much.
function whole() {
  return /(^|\s)count:/i.test(query) ? sent() : adding(sent(), "count:all");
}

// exported leads to the answer as a file.
function exported(format, name) {
  const all = whole();
  const out = link(`/.api/search/export?${new URLSearchParams({ format, q: all, t: asked.get("patternType") || "keyword" })}`, "", name);
  out.download = `search.${format}`;
  return out;
}

function showError(error) {
  const box = el("div", "problem", el("p", "", error.message));
  box.setAttribute("role", "alert");
  if (error.status === 401) box.append(link("/sign-in?returnTo=" + encodeURIComponent(location.pathname + location.search), "", "Sign in again"));
  page.alert.append(box);
}

function showAlert(alert) {
  const box = el("div", "caution", el("h2", "", alert.title), prose(alert.description));
  box.setAttribute("role", "alert");
  const proposed = alert.proposedQueries ?? [];
  if (proposed.length) {
    box.append(el("ul", "proposals", ...proposed.map((p) =>
      el("li", "", link(searchPath(p.query), "mono", p.query), p.description && el("span", "dim", ` ${p.description}`)))));
  }
  page.alert.append(box);
}

// shortfall names what reasons have in common: results that are not shown,
// repositories that are left out by default, or anything that was not searched.
function shortfall(reasons) {
  const all = (...some) => reasons.every((r) => some.includes(r));
  if (all("display", "shard-match-limit", "document-match-limit")) return "Not everything was shown: ";
  if (all("repository-fork", "excluded-archive")) return "Left out unless asked for: ";
  return "Not everything was searched: ";
}

// showSkipped tells what was not searched or shown, and how to have it.
function showSkipped(skipped, open) {
  if (!skipped.length) return;
  const list = el("ul", "", ...skipped.map((s) => el("li", "",
    el("span", `badge ${s.severity === "info" ? "" : "warn"}`, s.title), prose(s.message),
    s.suggested && link(searchPath(adding(query, s.suggested.queryExpression)), "",
      s.suggested.title, " ", el("code", "", s.suggested.queryExpression)))));
  const titles = skipped.map((s) => s.title).join(", ");
  const box = el("details", "caution", el("summary", "", el("strong", "", shortfall(skipped.map((s) => s.reason))), titles), list);
  box.open = open;
  page.skipped.append(box);
}

remember(query);
atOnce();
const box = document.getElementById("q");
show(box, document.getElementById("painted"), document.getElementById("remarks"), () => box.form.elements.namedItem("patternType").value, searchPath);
if (query) {
  showTabs(document.getElementById("tabs"), query, searchPath);
  run();
} else listen(null);
