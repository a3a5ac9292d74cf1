// The text of a query, changed by filters that the server suggests.

// words splits a query at white space outside of quotes.
export function words(query) {
  return query.match(/(?:[^\s"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|["'])+/g) ?? [];
}

// once are the fields that a query has once at most: a new one replaces it.
const once = /^(count|timeout|fork|archived|case|patterntype|visibility|select):/i;

// has reports whether a query has a filter as it stands.
export function has(query, filter) {
  const all = words(query);
  return words(filter).every((word) => all.includes(word));
}

// without removes a filter.
export function without(query, filter) {
  const gone = words(filter);
  return words(query).filter((word) => !gone.includes(word)).join(" ");
}

// adding puts a filter behind a query. An "or" that it would otherwise belong
// to one side of is put in parentheses.
export function adding(query, filter) {
  const field = once.exec(filter)?.[1].toLowerCase();
  let kept = words(query);
  if (field) kept = kept.filter((word) => !word.toLowerCase().startsWith(field + ":"));
  const text = kept.join(" ");
  if (!text) return filter;
  return `${loose(kept) ? `(${text})` : text} ${filter}`;
}

// loose reports whether an "or" stands outside of all parentheses.
function loose(kept) {
  let deep = 0;
  for (const word of kept) {
    if (deep === 0 && word.toLowerCase() === "or") return true;
    if (/^["'/]/.test(word)) continue;
    for (const c of word) deep += c === "(" ? 1 : c === ")" ? -1 : 0;
  }
  return false;
}
