// Elements, made so that no text becomes markup: text goes in as text, and an
// address only through link, which takes none that leads elsewhere.

export const base = document.body.dataset.base;

// el makes an element with a class and children; a string is text.
export function el(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

// link makes a link to a path of this server.
export function link(path, className, ...children) {
  const element = el("a", className, ...children);
  if (path.startsWith("/") && !/^\/[/\\]/.test(base + path)) element.setAttribute("href", base + path);
  return element;
}

// escapePath makes a path of names, whatever is in them.
export function escapePath(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

// marked returns text with the spans of characters in it marked; each is a
// start and an end, in any order, and they may overlap or lie outside.
export function marked(text, spans) {
  const out = document.createDocumentFragment();
  if (!spans.length) {
    out.append(text);
    return out;
  }
  const chars = Array.from(text);
  let at = 0;
  for (const [from, to] of merged(spans, chars.length)) {
    out.append(chars.slice(at, from).join(""), el("mark", "", chars.slice(from, to).join("")));
    at = to;
  }
  out.append(chars.slice(at).join(""));
  return out;
}

function merged(spans, length) {
  const sorted = spans
    .map(([from, to]) => [Math.max(0, from), Math.min(to, length)])
    .filter(([from, to]) => from < to)
    .sort((a, b) => a[0] - b[0]);
  const out = [];
  for (const span of sorted) {
    const last = out[out.length - 1];
    if (last && span[0] <= last[1]) last[1] = Math.max(last[1], span[1]);
    else out.push(span);
  }
  return out;
}

// prose makes of the little Markdown of messages: lists, lines and `code`.
export function prose(text) {
  const out = document.createDocumentFragment();
  let list = null;
  for (const line of (text ?? "").split("\n")) {
    if (!line.trim()) continue;
    const item = /^\* (.*)$/.exec(line);
    if (!item) list = null;
    else if (!list) out.append((list = el("ul", "")));
    (list ?? out).append(el(item ? "li" : "p", "", ...inline(item ? item[1] : line)));
  }
  return out;
}

function inline(line) {
  return line.split("`").map((part, i) => (i % 2 ? el("code", "", part) : part));
}

// number writes a whole number with commas. Browsers take tens of milliseconds to load what
// toLocaleString needs.
export function number(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

// amount writes a number of things.
export function amount(n, one, many) {
  return `${number(n)} ${n === 1 ? one : many}`;
}
