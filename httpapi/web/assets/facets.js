// The filters beside an answer, as parts of the query: each adds its value, stands
// beside another of its kind as one or the other, or leaves its value out.

import { amount, el, link, number } from "./dom.js";
import { adding, either, excluding, has, parts, without } from "./query.js";

const groups = [
  ["type", "Type"], ["lang", "Language"], ["repo", "Repository"], ["file", "Files"], ["symbol type", "Symbol"],
  ["author", "Author"], ["commit date", "Date"], ["utility", "More"],
];

// several are the kinds of which one or another may be asked for, or none of some.
const several = new Set(["lang", "repo", "file", "author"]);

// shown of a group are there at once, and most at all.
const shown = 8, most = 200;
// every is how often the filters are made anew while an answer comes, in
// milliseconds: there may be thousands.
const every = 500;

// tabs are the kinds of results that people choose from.
const tabs = [["", "All"], ["file", "Code"], ["path", "Paths"], ["symbol", "Symbols"], ["repo", "Repositories"], ["commit", "Commits"], ["diff", "Diffs"]];

// showTabs shows the kinds of results, with the one at hand marked. path is the page
// of a query.
export function showTabs(box, query, path) {
  const types = (query.match(/(^|\s)type:(\S+)/gi) ?? []).map((word) => word.trim().slice(5).toLowerCase());
  const bare = query.replace(/(^|\s)(type|select):\S+/gi, "$1").replace(/\s+/g, " ").trim();
  box.replaceChildren(...tabs.map(([type, name]) => {
    const out = link(path(type ? adding(bare, `type:${type}`) : bare), "", name);
    if (types.length === 0 ? !type : types.length === 1 && types[0] === type) out.setAttribute("aria-current", "page");
    return out;
  }));
}

export class Facets {
  #box;
  #query;
  #path;
  #filters = null;
  #timer = 0;

  // box is where they go, and path the page of a query.
  constructor(box, query, path) {
    this.#box = box;
    this.#query = query;
    this.#path = path;
  }

  // show shows the filters of the answer so far.
  show(filters) {
    const first = this.#filters === null;
    this.#filters = filters;
    if (first) this.#make();
    else this.#timer ||= setTimeout(() => this.#make(), every);
  }

  // end shows what has not been shown yet, and remembers all.
  end() {
    if (this.#timer) this.#make();
    if (!this.#filters) this.show([]);
    for (const kind of several) remember(kind, this.#base(kind), this.#filters.filter((f) => f.kind === kind));
  }

  #make() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const open = new Set([...this.#box.querySelectorAll("details[open]")].map((d) => d.dataset.kind));
    this.#box.replaceChildren(...groups.flatMap(([kind, title]) => {
      const some = this.#group(kind);
      if (!some.length) return [];
      const out = [el("h2", "", title), el("ul", "", ...some.slice(0, shown).map((f) => this.#item(f, title)))];
      if (some.length > shown) out.push(this.#more(kind, some.slice(shown, most), some.length - shown, open.has(kind), title));
      return out;
    }));
  }

  // #group is what there is of a kind: what the query leaves out or asks for, what the
  // answer has, and what an answer had before one was chosen.
  #group(kind) {
    const some = this.#filters.filter((f) => f.kind === kind);
    if (!several.has(kind)) return some;
    const { left, chosen } = parts(this.#query, kind);
    const suggested = new Set(some.map((f) => f.value));
    const out = left.filter((value) => !suggested.has(`-${value}`)).map((value) => ({ kind, value, label: plain(value), out: true }));
    const known = new Set(suggested);
    for (const value of chosen) if (!known.has(value)) out.push({ kind, value, label: plain(value) });
    out.push(...some);
    if (!chosen.length) return out;
    for (const value of chosen) known.add(value);
    const before = recall(kind, this.#base(kind)).filter((f) => !known.has(f.value) && !left.includes(f.value));
    return [...out, ...before.map((f) => ({ ...f, kind, before: true }))];
  }

  // #base is the query without what it asks for of a kind.
  #base(kind) {
    return parts(this.#query, kind).chosen.reduce((query, value) => without(query, value), this.#query);
  }

  // #more are made when they are first looked at.
  #more(kind, some, count, open, title) {
    const list = el("ul", "");
    const more = el("details", "", el("summary", "", `${number(count)} more`), list);
    more.dataset.kind = kind;
    more.addEventListener("toggle", () => more.open && !list.firstChild && list.append(...some.map((f) => this.#item(f, title))));
    more.open = open;
    return more;
  }

  // #item is a link that adds a filter to the query or takes it away, and for values of
  // which there may be several one that leaves it out.
  #item(f, title) {
    const query = this.#query;
    const on = f.out || has(query, f.value);
    const { chosen } = several.has(f.kind) ? parts(query, f.kind) : { chosen: [] };
    const beside = !on && chosen.length > 0;
    const next = f.out ? without(query, `-${f.value}`) : on ? without(query, f.value) : beside ? either(query, f.kind, f.value) : adding(query, f.value);
    const item = link(this.#path(next), f.out ? "on out" : on ? "on" : "",
      el("bdi", "", f.label), f.count !== undefined && !f.before && el("span", "n", `${number(f.count)}${f.exhaustive ? "" : "+"}`));
    item.title = on ? `remove ${f.out ? "-" : ""}${f.value}` : beside ? `or ${f.value}, of which there were ${amount(f.count ?? 0, "result", "results")}` : `add ${f.value}`;
    if (f.out) item.prepend(el("span", "unseen", "not "));
    else if (beside) item.prepend(el("span", "dim", "or "));
    if (on) item.setAttribute("aria-current", "true");
    const out = el("li", "", item);
    if (several.has(f.kind) && !f.out && !f.value.startsWith("-") && !/\s/.test(f.value.replace(/"(\\.|[^"\\])*"/g, ""))) {
      const not = link(this.#path(excluding(query, f.kind, f.value)), "not", "\u2212");
      not.title = `leave out ${f.value}`;
      not.ariaLabel = `leave out ${f.label}`;
      out.append(not);
    }
    return out;
  }
}

// plain is the value of a filter for people.
function plain(filter) {
  const value = filter.replace(/^[a-z]+:/i, "").replace(/^"(.*)"$/, "$1");
  return value.replace(/^\^(.*)\$$/, (all, name) => (/[*+?()[\]{}|]/.test(name.replace(/\\./g, "")) ? all : name.replace(/\\(.)/g, "$1")));
}

const keptName = "trawl.facets";

// remember keeps what an answer had of a kind, for as long as the tab is open.
function remember(kind, base, filters) {
  try {
    const all = JSON.parse(sessionStorage.getItem(keptName) ?? "{}");
    if (all[kind]?.base === base && all[kind].filters.length >= filters.length) return;
    all[kind] = { base, filters: filters.slice(0, 50).map(({ value, label, count }) => ({ value, label, count })) };
    sessionStorage.setItem(keptName, JSON.stringify(all));
  } catch {
    // without room for it nothing is kept
  }
}

function recall(kind, base) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keptName) ?? "{}")[kind];
    return kept?.base === base && Array.isArray(kept.filters) ? kept.filters : [];
  } catch {
    return [];
  }
}
