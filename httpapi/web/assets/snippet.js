// Snippets: a match of the stream comes in, what is kept of it goes out, and
// from that the rows that are shown. It runs in a worker and knows no page.

// cap is how many matching lines of a file, or symbols, are there at once.
export const cap = 5;

// wrapped is over how many lines of the page a long line of text may go.
export const wrapped = 3;

// kept is what the page keeps of a match: of text the lines with their ranges,
// as numbers without the bytes they are at.
export function kept(match) {
  if (match.type !== "content") return match;
  const { repositoryID, repoLastFetched, repoStars, hunks, chunkMatches, ...rest } = match;
  return {
    ...rest,
    chunks: (chunkMatches ?? []).map((chunk) => [
      chunk.contentStart.line, chunk.content,
      chunk.ranges.flatMap(({ start, end }) => [start.line, start.column, end.line, end.column]),
      ...(chunk.cuts ? [chunk.cuts] : []),
    ]).sort((a, b) => a[0] - b[0]),
  };
}

// size is how many rows an item has: while it is capped, and all. It counts
// without looking into the lines.
export function size(item, context) {
  if (item.type === "symbol") return [Math.min(cap, item.symbols.length), item.symbols.length];
  if (item.type === "commit") {
    const all = newlines(item.content) + 1;
    return [all, all];
  }
  if (item.type !== "content") return [0, 0];
  let all = 0, hits = 0;
  for (const [, content, ranges] of item.chunks) {
    all += newlines(content) + (content.endsWith("\n") ? 0 : 1);
    let last = -1;
    for (let i = 0; i < ranges.length; i += 4) {
      const from = Math.max(ranges[i], last + 1), to = ranges[i + 2];
      if (to >= from) hits += to - from + 1;
      last = Math.max(last, to);
    }
  }
  return [hits <= cap ? all : Math.min(all, cap * (1 + 2 * context)), all];
}

function newlines(text) {
  let n = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) n++;
  return n;
}

// hidden characters change what is read without being seen: the order of
// writing, mostly.
const hidden = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

// part is what is shown of an item: its head, and of its rows those that are
// there while it is capped, or those from one to another of all. total counts
// the rows, matches the matches, and more those whose rows are not there.
export function part(item, { open, context, from = 0, to = Infinity }) {
  if (item.type === "symbol") {
    const total = open ? item.symbols.length : Math.min(cap, item.symbols.length);
    return { ...item, symbols: undefined, rows: item.symbols.slice(from, Math.min(to, total)), from, total, matches: item.symbols.length, more: item.symbols.length - total };
  }
  if (item.type !== "content") return item;
  const { chunks, ...head } = item;
  const all = linesOf(chunks);
  const rows = open ? all : capped(all, context);
  const matches = chunks.reduce((sum, chunk) => sum + chunk[2].length / 4, 0);
  const shown = rows.reduce((sum, row) => sum + row.begun, 0);
  return {
    ...head, odd: hidden.test(item.path) || chunks.some((chunk) => hidden.test(chunk[1])),
    rows: rows.slice(from, to), from, total: rows.length, matches, more: open ? 0 : matches - shown,
  };
}

// large are the lines of items with many, while those are at hand: they are asked
// for window by window.
const large = new WeakMap();

function linesOf(chunks) {
  const known = large.get(chunks);
  if (known) return known;
  const all = lines(chunks);
  if (all.length > 1000) large.set(chunks, all);
  return all;
}

// lines are all lines of chunks: number, text, spans of characters that
// matched, how many matches begin there, and whether it follows on the line
// above.
function lines(chunks) {
  const out = [];
  for (const [first, content, ranges, cuts] of chunks) {
    const texts = content.replace(/\n$/, "").split("\n");
    let next = 0; // range
    texts.forEach((text, k) => {
      const line = first + k, spans = [];
      let begun = 0;
      for (let i = next; i < ranges.length && ranges[i] <= line; i += 4) {
        if (ranges[i + 2] < line) {
          next = i + 4;
          continue;
        }
        if (ranges[i] === line) begun++;
        spans.push([ranges[i] === line ? ranges[i + 1] : 0, ranges[i + 2] === line ? ranges[i + 3] : Infinity]);
      }
      const cut = cuts?.find(([l]) => l === line);
      const last = out[out.length - 1];
      // a line so long that the server divided its matches comes several times
      if (last?.line === line) {
        last.spans.push(...spans.map(([from, to]) => [from - (last.cut?.[0] ?? 0), to - (last.cut?.[0] ?? 0)]));
        last.begun += begun;
        return;
      }
      const before = cut?.[1] ?? 0, behind = cut?.[2] ?? 0;
      const seen = before || behind ? spans.map(([from, to]) => [from - before, to - before]).filter(([, to]) => to > 0) : spans;
      out.push({ line, text: text.replace(/\r$/, ""), spans: seen, begun, joined: last?.line === line - 1, cut: cut && [before, behind] });
    });
  }
  return out;
}

// defines is what a line is worth at least that defines what was looked for.
const defines = 5;

// capped are the rows of the best lines that matched, each with the lines around
// it: a definition first, the others in their order.
function capped(all, context) {
  const hits = all.map((row, i) => i).filter((i) => all[i].spans.length);
  if (hits.length <= cap) return all;
  const points = new Map(hits.map((i) => [i, worth(all[i])]));
  const picked = hits.sort((a, b) => points.get(b) - points.get(a) || a - b).slice(0, cap);
  const best = picked[0];
  const runs = [];
  for (const i of picked.sort((a, b) => a - b)) {
    let from = i, to = i;
    while (from > 0 && all[from].joined && i - from < context) from--;
    while (to + 1 < all.length && all[to + 1].joined && to - i < context) to++;
    const last = runs[runs.length - 1];
    if (last && from <= last[1] + 1 && all[from].joined) last[1] = Math.max(to, last[1]);
    else runs.push([from, to]);
  }
  const first = points.get(best) < defines ? 0 : runs.findIndex(([from, to]) => from <= best && best <= to);
  runs.unshift(...runs.splice(first, 1));
  return runs.flatMap(([from, to]) => all.slice(from, to + 1).map((row, k) => ({ ...row, joined: row.joined && k > 0 })));
}

// definition is the text before a name where it is defined, in most languages.
const definition = /(^|[^\w$])(class|struct|enum|union|interface|trait|type|func|fn|def|function|module|namespace|typedef|impl|protocol|record|object|sub|package|#\s*define|const|let|var|val|static)\s+(\([^)]*\)\s*)?([\w$]+\s+|\*)*$/;
const strong = /\b(class|struct|enum|union|interface|trait|type|func|fn|def|function|module|namespace|typedef|impl|protocol|record|define)\b/;

// worth is how much a line tells: a definition of what was looked for more than a
// use, a use more than a comment, and each different match besides.
function worth(row) {
  const before = row.text.slice(0, row.spans[0][0]);
  let points = new Set(row.spans.map(([from, to]) => row.text.slice(from, to).toLowerCase())).size;
  if (definition.test(before.slice(-200))) points += strong.test(before.slice(-200)) ? 2 * defines : defines;
  if (/^\s*(\/\/|\/?\*|#(?!\s*define)|--|;|%)/.test(row.text)) points -= defines;
  return points;
}

// wide characters take two columns.
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const tab = 4;

// fitted is a line cut to so many columns around its first match: the text, its
// spans, whether something is left out before and behind, and how many matches
// are.
export function fitted(text, spans, columns) {
  if (text.length * tab <= columns) return { text, spans, before: false, behind: false, out: 0 };
  const chars = Array.from(text);
  const places = new Float64Array(chars.length + 1);
  chars.forEach((c, i) => (places[i + 1] = places[i] + (c === "\t" ? tab - (places[i] % tab) : wide.test(c) ? 2 : 1)));
  const width = places[chars.length];
  if (width <= columns) return { text, spans, before: false, behind: false, out: 0 };
  const room = Math.max(8, columns - 6);
  let from = 0;
  if (spans.length) {
    const [start, end] = spans.reduce((first, span) => (span[0] < first[0] ? span : first));
    const begin = places[Math.min(start, chars.length)], until = places[Math.min(end, chars.length)];
    if (until > room) {
      const lead = Math.max(0, Math.min(room / 3, room - (until - begin)));
      const place = Math.max(0, Math.min(begin - lead, width - room));
      while (from < chars.length && places[from + 1] <= place) from++;
    }
  }
  let to = from;
  while (to < chars.length && places[to + 1] - places[from] <= room) to++;
  const out = spans.filter(([a, b]) => a >= to || b <= from).length;
  return {
    text: chars.slice(from, to).join(""), spans: spans.map(([a, b]) => [a - from, b - from]).filter(([a, b]) => b > 0 && a < to - from),
    before: from > 0, behind: to < chars.length, out,
  };
}
