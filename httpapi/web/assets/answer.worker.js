// Keeps an answer while a page shows parts of it. The bytes of a stream come in;
// events go out as they come, but for results: those stay here, deflated in blocks,
// and the page learns how many there are and how large. It asks for what it shows.

import { kept, part, size } from "./snippet.js";

// blockChars is how much text of items is deflated together. parsedBlocks are kept as
// values beside: those that were asked for last.
const blockChars = 512 << 10;
const parsedBlocks = 4;

const decoder = new TextDecoder();
const blocks = [{ first: 0, items: [], chars: 0 }];
const parsed = []; // full blocks with items, the last used last
const work = [];
let held = "", count = 0, context = 1, working = false;

onmessage = ({ data }) => {
  if (data.context !== undefined) context = data.context;
  if (data.ask) answer(data.ask);
  if (data.bytes || data.end) {
    work.push(data);
    if (!working) proceed();
  }
};

// proceed takes one piece after the other.
async function proceed() {
  working = true;
  for (let data = work.shift(); data; data = work.shift()) {
    if (data.end) {
      postMessage({ ended: true });
      continue;
    }
    await take(decoder.decode(data.bytes, { stream: true }));
    postMessage({ taken: data.bytes.length });
  }
  working = false;
}

async function take(text) {
  held += text;
  let at = 0;
  for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n", at)) {
    await event(held.slice(at, end));
    at = end + 2;
  }
  held = held.slice(at);
}

async function event(text) {
  const newline = text.indexOf("\n");
  const name = text.slice("event: ".length, newline), data = JSON.parse(text.slice(newline + "\ndata: ".length));
  if (name === "matches") await keep(data);
  else postMessage({ event: name, data });
}

// keep takes matches in. Those of the first event go out with the note of them, so that
// they are seen at once.
async function keep(matches) {
  const items = matches.map(kept);
  const rows = new Uint32Array(2 * items.length);
  items.forEach((item, i) => rows.set(size(item, context), 2 * i));
  const early = count === 0 ? items.slice(0, 20).map((item) => part(item, { context })) : [];
  count += items.length;
  postMessage({ rows, early }, [rows.buffer]);
  const block = blocks[blocks.length - 1];
  for (const item of items) {
    const text = JSON.stringify(item);
    block.items.push(item);
    (block.texts ??= []).push(text);
    block.chars += text.length;
  }
  if (block.chars >= blockChars) await seal(block);
}

// seal deflates the last block and begins another.
async function seal(block) {
  blocks.push({ first: count, items: [], chars: 0 });
  const text = `[${block.texts.join(",")}]`;
  delete block.texts;
  block.packed = await bytes(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  used(block);
}

const bytes = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());

// used has a block among those whose items are at hand.
function used(block) {
  const i = parsed.indexOf(block);
  if (i >= 0) parsed.splice(i, 1);
  parsed.push(block);
  while (parsed.length > parsedBlocks) parsed.shift().items = null;
}

async function itemsOf(block) {
  if (!block.items) {
    const text = await new Response(new Blob([block.packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
    block.items = JSON.parse(text);
  }
  if (block.packed) used(block);
  return block.items;
}

// answer posts parts of items.
async function answer(ask) {
  const parts = [];
  for (const { key, item, ...what } of ask) {
    const block = blockOf(item);
    parts.push({ key, item, part: part((await itemsOf(block))[item - block.first], { context, ...what }) });
  }
  postMessage({ parts });
}

function blockOf(item) {
  let low = 0, high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (blocks[middle].first <= item) low = middle;
    else high = middle - 1;
  }
  return blocks[low];
}
