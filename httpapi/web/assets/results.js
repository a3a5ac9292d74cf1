// Results: what an answer keeps of a match comes in, an article for the page goes
// out. Whatever is in it was written by strangers, names of files too.

import { body } from "./commits.js";
import { amount, el, escapePath, link, marked } from "./dom.js";
import { fitted, wrapped } from "./snippet.js";

// rowsAtOnce is the most rows that an article has whole. In a taller one only the
// rows near the window are there, and each takes one line.
export const rowsAtOnce = 300;

// result makes the article of an item. how says how wide it is, in columns, and
// whether all of it is open.
export function result(item, how) {
  const make = makers[item.type];
  return make ? make(item, how) : unknown(item);
}

const makers = { content, path, symbol, repo, commit, person, team };

function unknown(match) {
  return article([`A result of the kind ${match.type}, which this page does not know`]);
}

function article(title, ...rest) {
  const out = el("article", "result", el("h3", "", ...title), ...rest);
  out.tabIndex = -1;
  return out;
}

// blank stands for an item that is on its way.
export function blank(height) {
  const out = article(["\u2026"]);
  out.classList.add("blank");
  out.style.height = `${height}px`;
  return out;
}

function badge(text, kind = "") {
  return el("span", `badge ${kind}`, text);
}

// repoPath is where the pages of a repository are. rev is the one of the query.
function repoPath(match, rev = match.branches?.[0]) {
  return "/" + escapePath(match.repository) + (rev ? "@" + escapePath(rev) : "");
}

function filePath(match) {
  const folder = match.path.endsWith("/");
  return `${repoPath(match)}/-/${folder ? "tree" : "blob"}/${escapePath(folder ? match.path.slice(0, -1) : match.path)}`;
}

// longestKept is how long a query is that addresses of files name.
const longestKept = 1000;

// last is the search of the page that behind was made of.
const last = { search: "", behind: "" };

// behind is what addresses of files with matches have at their end: the search of this
// page, whose matches are marked there.
function behind() {
  if (last.search !== location.search) Object.assign(last, { search: location.search, behind: kept(new URLSearchParams(location.search)) });
  return last.behind;
}

function kept(asked) {
  if (!asked.get("q") || asked.get("q").length > longestKept) return "";
  const out = new URLSearchParams();
  for (const name of ["q", "patternType", "case"]) if (asked.get(name)) out.set(name, asked.get(name));
  return String(out);
}

// copyPath is a button that copies the path of a file.
function copyPath(path) {
  const out = el("button", "plain small copy", "Copy path");
  out.type = "button";
  out.dataset.text = path;
  return out;
}

// fileTitle names a file, as links to its repository and to itself.
function fileTitle(match, ...badges) {
  const rev = match.branches?.[0];
  const spans = onLine(match.pathMatches, 0);
  return [
    link(repoPath(match), "repo", el("bdi", "", match.repository)),
    rev && badge("@" + rev),
    el("span", "sep", "›"),
    link(filePath(match) + (match.type === "content" && behind() ? "?" + behind() : ""), "path", el("bdi", "", marked(match.path, spans))),
    copyPath(match.path),
    ...badges,
    match.language && badge(match.language),
    match.odd && badge("hidden characters", "warn"),
  ];
}

// onLine are the parts of ranges that lie on a line, as spans of characters.
function onLine(ranges, line) {
  return (ranges ?? [])
    .filter(({ start, end }) => start.line <= line && line <= end.line)
    .map(({ start, end }) => [start.line === line ? start.column : 0, end.line === line ? end.column : Infinity]);
}

function content(item, how) {
  const out = article(fileTitle(item, el("span", "count", amount(item.matches, "match", "matches"))));
  out.append(el("div", "code", ...rows(item, how)), ...toggle(item, how));
  return out;
}

// toggle is the button that shows the matches that are not there, or takes them
// away again.
function toggle(item, how) {
  if (item.more === 0 && !how.open) return [];
  const button = el("button", "plain small toggle", how.open ? "Show fewer" : `Show ${amount(item.more, "more match", "more matches")}`);
  button.type = "button";
  button.ariaExpanded = String(how.open);
  return [button];
}

// rows makes the rows of an item that are at hand.
export function rows(item, how) {
  if (item.type === "symbol") return item.rows.map((row) => symbolRow(row));
  const to = filePath(item);
  return item.rows.map((row, i) => line(row, to, how, i > 0 && !row.joined));
}

function line(row, to, how, apart) {
  const lines = how.tall ? 1 : wrapped;
  const { text, spans, before, behind, out } = fitted(row.text, row.spans, how.columns * lines);
  const code = el("code", "", marked(text, spans));
  if (before || row.cut?.[0]) code.classList.add("before");
  if (behind || row.cut?.[1]) code.classList.add("behind");
  if (out) code.append(el("span", "out", `+${out}`));
  return el("div", `line${spans.length ? " hit" : ""}${apart ? " apart" : ""}`, number(to, row.line + 1, spans.length > 0), code);
}

// number links to a line; only those that matched are stops of the keyboard.
function number(to, line, hit) {
  const out = link(`${to}?L${line}${behind() && "&" + behind()}`, "no", String(line));
  out.ariaLabel = `line ${line}`;
  if (!hit) out.tabIndex = -1;
  return out;
}

function path(match) {
  return article(fileTitle(match));
}

function symbol(item, how) {
  return article(fileTitle(item, el("span", "count", amount(item.matches, "symbol", "symbols"))),
    el("div", "code symbols", ...rows(item, how)), ...toggle(item, how));
}

function symbolRow(s) {
  return el("div", "line hit",
    badge(s.kind.toLowerCase()),
    link(s.url, "mono", el("bdi", "", s.name)),
    s.containerName && el("span", "dim", ` in ${s.containerName}`),
    el("span", "dim", ` line ${s.line}`));
}

function repo(match) {
  const flags = [match.fork && "fork", match.archived && "archived", match.private && "private"].filter(Boolean);
  const out = article([
    link(repoPath(match), "path", el("bdi", "", marked(match.repository, onLine(match.repositoryMatches, 0)))),
    match.branches?.[0] && badge("@" + match.branches[0]),
    ...flags.map((flag) => badge(flag)),
    match.repoStars && el("span", "count", amount(match.repoStars, "star", "stars")),
  ]);
  const lines = (match.description ?? "").split("\n");
  if (match.description) {
    out.append(el("p", "", ...lines.flatMap((line, i) => [i ? " " : "", marked(line, onLine(match.descriptionMatches, i))])));
  }
  if (match.topics?.length) out.append(el("p", "", ...match.topics.flatMap((topic) => [badge(topic), " "])));
  return out;
}

function commit(match, how) {
  const [subject] = match.message.split("\n");
  const day = match.authorDate.slice(0, 10);
  const date = el("time", "dim", day);
  date.dateTime = match.authorDate;
  const out = article([
    link("/" + escapePath(match.repository), "repo", el("bdi", "", match.repository)),
    el("span", "sep", "›"),
    link(match.url, "path", el("bdi", "", subject)),
    el("span", "dim", match.authorName),
    date,
    link(match.url, "mono", match.oid.slice(0, 10)),
  ]);
  out.append(...body(match, how));
  return out;
}

function person(match) {
  return article([badge("person"), el("span", "path", match.handle || match.email || "unknown")]);
}

function team(match) {
  return article([badge("team"), el("span", "path", match.displayName || match.name || match.handle)]);
}
