// Results: a match of a stream comes in, an article for the page goes out.
// Whatever is in a match was written by strangers, names of files too.

import { amount, el, escapePath, link, marked } from "./dom.js";

// chunksShown of a file are there at once; the others are made when they are
// asked for.
const chunksShown = 4;

// result makes the article of a match.
export function result(match) {
  const make = makers[match.type];
  return make ? make(match) : unknown(match);
}

const makers = { content, path, symbol, repo, commit, person, team };

function unknown(match) {
  return article([`A result of the kind ${match.type}, which this page does not know`]);
}

function article(title, ...rest) {
  return el("article", "result", el("h3", "", ...title), ...rest);
}

// hidden characters change what is read without being seen: the order of
// writing, mostly.
const hidden = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

function warning(...texts) {
  return texts.some((text) => hidden.test(text)) && badge("hidden characters", "warn");
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

// fileTitle names a file, as links to its repository and to itself.
function fileTitle(match, ...badges) {
  const rev = match.branches?.[0];
  const spans = onLine(match.pathMatches, 0);
  return [
    link(repoPath(match), "repo", el("bdi", "", match.repository)),
    rev && badge("@" + rev),
    el("span", "sep", "›"),
    link(filePath(match), "path", el("bdi", "", marked(match.path, spans))),
    ...badges,
    match.language && badge(match.language),
    warning(match.path, ...(match.chunkMatches ?? []).map((chunk) => chunk.content)),
  ];
}

// onLine are the parts of ranges that lie on a line, as spans of characters.
function onLine(ranges, line) {
  return (ranges ?? [])
    .filter(({ start, end }) => start.line <= line && line <= end.line)
    .map(({ start, end }) => [start.line === line ? start.column : 0, end.line === line ? end.column : Infinity]);
}

function content(match) {
  const chunks = [...(match.chunkMatches ?? [])].sort((a, b) => a.contentStart.line - b.contentStart.line);
  const count = chunks.reduce((sum, chunk) => sum + chunk.ranges.length, 0);
  const to = filePath(match);
  const out = article(fileTitle(match, el("span", "count", amount(count, "match", "matches"))));
  out.append(...chunks.slice(0, chunksShown).map((chunk) => code(chunk, to)));
  const rest = chunks.slice(chunksShown);
  if (rest.length) {
    const more = rest.reduce((sum, chunk) => sum + chunk.ranges.length, 0);
    const button = el("button", "plain small", `Show ${amount(more, "more match", "more matches")}`);
    button.type = "button";
    button.addEventListener("click", () => {
      const made = rest.map((chunk) => code(chunk, to));
      button.replaceWith(...made);
      made[0].querySelector(".hit a")?.focus();
    });
    out.append(button);
  }
  return out;
}

// code makes the lines of a chunk, each with a link to it.
function code(chunk, to) {
  const lines = chunk.content.replace(/\n$/, "").split("\n");
  return el("div", "code", ...lines.map((text, i) => {
    const line = chunk.contentStart.line + i;
    const spans = onLine(chunk.ranges, line);
    return el("div", spans.length ? "line hit" : "line",
      number(to, line + 1, spans.length > 0),
      el("code", "", marked(text.replace(/\r$/, ""), spans)));
  }));
}

// number links to a line; only those that matched are stops of the keyboard.
function number(to, line, hit) {
  const out = link(`${to}?L${line}`, "no", String(line));
  out.setAttribute("aria-label", `line ${line}`);
  if (!hit) out.tabIndex = -1;
  return out;
}

function path(match) {
  return article(fileTitle(match));
}

function symbol(match) {
  return article(fileTitle(match), el("ul", "symbols", ...match.symbols.map((s) => el("li", "",
    badge(s.kind.toLowerCase()),
    link(s.url, "mono", el("bdi", "", s.name)),
    s.containerName && el("span", "dim", ` in ${s.containerName}`),
    el("span", "dim", ` line ${s.line}`)))));
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

function commit(match) {
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
  const [fence, ...lines] = match.content.split("\n");
  const diff = fence.startsWith("```diff");
  while (lines.length && /^(```)?$/.test(lines[lines.length - 1])) lines.pop();
  out.append(el("div", diff ? "code diff" : "code", ...lines.map((text, i) => {
    const spans = match.ranges.filter(([line]) => line === i + 1).map(([, from, length]) => [from, from + length]);
    return el("div", diff ? `line ${diffLine(text)}` : "line", el("code", "", marked(text, spans)));
  })));
  return out;
}

function diffLine(text) {
  const kinds = { "+": "plus", "-": "minus", "@": "hunk", " ": "" };
  return kinds[text[0]] ?? "file";
}

function person(match) {
  return article([badge("person"), el("span", "path", match.handle || match.email || "unknown")]);
}

function team(match) {
  return article([badge("team"), el("span", "path", match.displayName || match.name || match.handle)]);
}
