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

// settings hold for the whole query, wherever they stand outside of parentheses.
const settings = /^(count|timeout|case|patterntype):/i;

// filters are those that hold for a part of a query.
const filters = new RegExp("^(-?(repo|r|file|f|path|lang|language|l|author|committer|message|msg|m|repohasfile|g)" +
  "|rev|revision|type|select|fork|archived|visibility|context|index|before|until|after|since|repohascommitafter):", "i");

// adding puts a filter behind a query. An "or" that it would otherwise belong
// to one side of is put in parentheses, and settings stay outside of them.
export function adding(query, filter) {
  const field = once.exec(filter)?.[1].toLowerCase();
  let kept = words(query);
  if (field) kept = kept.filter((word) => !word.toLowerCase().startsWith(field + ":"));
  if (!kept.length) return filter;
  const bare = outside(kept);
  const set = (word, i) => bare[i] && settings.test(word);
  const rest = unset(kept, set);
  const still = outside(rest);
  const loose = rest.some((word, i) => still[i] && /^or$/i.test(word));
  if (loose && !framed(rest)) return [`(${rest.join(" ")})`, ...kept.filter(set), filter].join(" ");
  const whole = rest.length === kept.filter((word, i) => !set(word, i)).length;
  return (whole ? [...kept, filter] : [...rest, ...kept.filter(set), filter]).join(" ");
}

const binary = (word) => /^(and|or)$/i.test(word ?? "");

// unset returns the words that are no settings, without the operators that lose
// an operand with one. "and" binds closer than "or".
function unset(kept, set) {
  const not = (word) => /^not$/i.test(word ?? "");
  const rest = kept.filter((word, i) => !set(word, i) && !(not(word) && i + 1 < kept.length && set(kept[i + 1], i + 1)));
  if (rest.length === kept.length) return rest;
  for (let i = 0; i < rest.length;) {
    if (binary(rest[i]) && binary(rest[i + 1])) {
      rest.splice(/^and$/i.test(rest[i]) ? i : i + 1, 1);
    } else if (binary(rest[i]) && (i === 0 || i === rest.length - 1)) {
      rest.splice(i, 1);
      i = 0;
    } else i++;
  }
  return rest;
}

// outside returns for each word whether it begins outside of all parentheses.
function outside(kept) {
  let deep = 0;
  return kept.map((word) => {
    const bare = deep === 0;
    if (!/^["'/]/.test(word)) for (const c of word) deep += c === "(" ? 1 : c === ")" ? -1 : 0;
    return bare;
  });
}

// framed reports whether the server reads the filters of an "or" as those of all
// its operands: they stand before the first or behind the last, and nothing is in
// parentheses. One more behind the last is read so too.
function framed(rest) {
  if (rest.some((word) => word.startsWith("("))) return false;
  const operands = [""]; // of each the kinds of its words: f for a filter, p for a pattern
  for (const word of rest) {
    if (/^or$/i.test(word)) operands.push("");
    else if (!/^(and|not)$/i.test(word)) operands[operands.length - 1] += filters.test(word) ? "f" : "p";
  }
  return operands.join("").includes("f") && operands.every((kinds, i) =>
    (i === 0 ? /^f*p+$/ : i === operands.length - 1 ? /^p+f*$/ : /^p+$/).test(kinds));
}
