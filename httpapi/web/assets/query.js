// The text of a query, changed by filters that the server suggests.

// words splits a query at white space outside of quotes.
export function words(query) {
  return query.match(/(?:[^\s"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|["'])+/g) ?? [];
}

// once are the fields that a query has once at most: a new one replaces it.
const once = /^(count|timeout|fork|archived|case|patterntype|visibility|select):/i;

// has reports whether a query has a filter as it stands, also as one of several in
// parentheses.
export function has(query, filter) {
  const all = words(query).map(unframed);
  return words(filter).every((word) => all.includes(word));
}

// unframed is a word without the parentheses around a group that it begins or ends.
function unframed(word) {
  if (/^\(\w+:/.test(word)) return word.slice(1);
  let deep = 0;
  for (const c of bareOf(word)) deep += c === "(" ? 1 : c === ")" ? -1 : 0;
  return deep < 0 && word.endsWith(")") ? word.slice(0, -1) : word;
}

// bareOf is a word without what is quoted or escaped in it.
function bareOf(word) {
  return word.replace(/\\.|"(?:\\.|[^"\\])*"/g, "");
}

// without removes a filter.
export function without(query, filter) {
  const gone = words(filter);
  if (gone.length === 1) {
    const group = groupWith(words(query), gone[0]);
    if (group) return regrouped(words(query), group, group.values.filter((value) => value !== gone[0]));
  }
  return words(query).filter((word) => !gone.includes(word)).join(" ");
}

// groupWith finds the group "(a or b or c)" of filters that one is in: where it
// begins and ends among the words, and its values.
function groupWith(all, filter) {
  for (let from = 0; from < all.length; from++) {
    if (!/^\(\w+:/.test(all[from])) continue;
    const values = [];
    for (let i = from; i < all.length; i += 2) {
      const last = unframed(i === from ? all[i].slice(1) : all[i]);
      const ends = last !== (i === from ? all[i].slice(1) : all[i]);
      values.push(last);
      if (ends) {
        if (values.length > 1 && values.includes(filter)) return { from, to: i, values };
        break;
      }
      if (!/^or$/i.test(all[i + 1] ?? "")) break;
    }
  }
  return null;
}

function regrouped(all, { from, to }, values) {
  const now = values.length > 1 ? [`(${values.join(" or ")})`] : values;
  return [...all.slice(0, from), ...now, ...all.slice(to + 1)].join(" ");
}

// parts are the filters of a kind in a query: those that leave something out, without
// their "-", and those that are asked for.
export function parts(query, kind) {
  const left = [], chosen = [];
  for (const word of words(query).map(unframed)) {
    if (word.toLowerCase().startsWith(`-${kind}:`)) left.push(word.slice(1));
    else if (word.toLowerCase().startsWith(`${kind}:`)) chosen.push(word);
  }
  return { left, chosen };
}

// either has a query ask for one more filter of a kind of which it has some: one or the
// other.
export function either(query, kind, filter) {
  const all = words(query);
  const { chosen } = parts(query, kind);
  const last = chosen[chosen.length - 1];
  const group = groupWith(all, last);
  if (group) return regrouped(all, group, [...group.values, filter]);
  const at = all.lastIndexOf(last);
  return at < 0 ? adding(query, filter) : regrouped(all, { from: at, to: at }, [last, filter]);
}

// excluding has a query leave out what a filter asks for.
export function excluding(query, kind, filter) {
  const rest = has(query, filter) ? without(query, filter) : query;
  return adding(rest, `-${filter}`);
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

// onlyPatterns is a query without its filters, for a search in one file; letter case and
// the meaning of words stay. A query whose filters stand in parentheses stays whole.
export function onlyPatterns(query) {
  const all = words(query);
  if (all.some((word) => /^\(+-?\w+:/.test(word))) return query;
  const scope = (word) => /^(count|timeout):/i.test(word) || filters.test(word);
  const rest = unset(all, (word) => scope(word));
  return rest.join(" ");
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
