// Colours of the code in results: what is in the page is asked for together, and comes
// into the lines once the server has answered. Until then, and without an answer, the
// code is plain.

import { base } from "./dom.js";

// together is how long results are gathered, in milliseconds, atOnce how many are asked
// for together, and longest how many characters of a line are.
const together = 60, atOnce = 40, longest = 2000;
// bytesAtOnce is what a request may take.
const bytesAtOnce = 200_000;
// kept is how many snippets are remembered.
const kept = 400;

const known = new Map(); // of snippets, as they were asked for
let waiting = [];
let timer = 0;

// colour colours the lines of an article of a file.
export function colour(article, path, language) {
  if (language) colourLines(article, [...article.querySelectorAll(".line code")].map((code) => ({ code })), path, language);
}

// colourLines colours lines that stand in a box. Some may be texts which are no lines of it,
// but stand between them.
export function colourLines(box, all, path, language) {
  if (!all.length) return;
  const codes = all.map(({ code }) => code);
  const lines = all.map(({ code, text }) => (text ?? texts(code).map(({ data }) => data).join("")).slice(0, longest).replaceAll("\n", " "));
  const asked = JSON.stringify({ path, language, lines });
  const colours = known.get(asked);
  if (colours) {
    apply(codes, colours);
    return;
  }
  waiting.push({ box, codes, asked });
  timer ||= setTimeout(ask, together);
}

async function ask() {
  timer = 0;
  const all = waiting.filter(({ box }) => box.isConnected);
  waiting = [];
  for (let from = 0; from < all.length;) {
    let to = from, bytes = 0;
    while (to < all.length && to - from < atOnce && (to === from || bytes + all[to].asked.length < bytesAtOnce)) bytes += all[to++].asked.length;
    await some(all.slice(from, to));
    from = to;
  }
}

async function some(all) {
  try {
    const response = await fetch(`${base}/.api/colours`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: `{"snippets":[${all.map(({ asked }) => asked).join()}]}`,
    });
    if (!response.ok) return;
    const { snippets } = await response.json();
    all.forEach(({ box, codes, asked }, i) => {
      known.set(asked, snippets[i]);
      if (box.isConnected) apply(codes, snippets[i]);
    });
    for (const first of known.keys()) {
      if (known.size <= kept) break;
      known.delete(first);
    }
  } catch {
    // plain code is code
  }
}

const classes = /^[a-z]$/;

function apply(codes, colours) {
  codes.forEach((code, i) => code && colours[i]?.length && paint(code, colours[i]));
}

// paint puts colours into a line, whose marks stay as they are. Places count
// characters.
function paint(code, colours) {
  let at = 0, next = 0;
  for (const node of texts(code)) {
    const chars = Array.from(node.data);
    const parts = [];
    let from = 0;
    while (from < chars.length) {
      while (next < colours.length && colours[next][1] <= at + from) next++;
      const [start, end, kind] = colours[next] ?? [Infinity, Infinity, ""];
      const inside = start <= at + from;
      const to = Math.min(chars.length, (inside ? end : start) - at);
      const text = chars.slice(from, to).join("");
      if (inside && classes.test(kind)) {
        const span = document.createElement("span");
        span.className = `c-${kind}`;
        span.textContent = text;
        parts.push(span);
      } else parts.push(text);
      from = to;
    }
    at += chars.length;
    if (parts.some((part) => typeof part !== "string")) node.replaceWith(...parts);
  }
}

// texts are the pieces of text in a line, without its sign and what says how much is left
// out.
function texts(code) {
  const out = [];
  const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (!walk.currentNode.parentElement.closest(".out, .sign")) out.push(walk.currentNode);
  return out;
}
