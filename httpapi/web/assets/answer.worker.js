// Keeps an answer while a page shows parts of it. The bytes of a stream come in;
// events go out as they come, but for results: those stay here, deflated in blocks,
// and the page learns how many there are and how large. It asks for what it shows.
// A large answer goes to another worker by way of the page, at its end or before.

import { kept, part, size } from "./snippet.js";

// blockBytes is how much text of items is deflated together. inflatedBlocks are kept as
// text beside: those that were asked for last.
const blockBytes = 512 << 10;
const inflatedBlocks = 4;
// The last itemsKept of the items with so much text are kept as values: the page asks for
// them screen by screen.
const longItem = 64 << 10;
const itemsKept = 4;
// atOnce is how many bytes become text at once, of which little is to be held.
const atOnce = 64 << 10;

// A block is some items, from the number first on: the JSON of each behind that of the one
// before, as bytes or packed; ends says where each ends. Values would be garbage of which
// the browser collects little while there is room.
let buffer = new Uint8Array(2 * blockBytes), filled = 0; // of the last block
let blocks = [{ first: 0, ends: [], bytes: buffer }];
const inflated = []; // full blocks with bytes, the last used last
const longItems = new Map(); // by number, the last used last

const decoder = new TextDecoder(), encoder = new TextEncoder(), text = new TextDecoder();
const work = [];
let held = "", count = 0, context = 1, working = false;
// left is whether another worker has the blocks now, or is about to.
let answered = Promise.resolve(), left = false;

onmessage = ({ data }) => {
  if (data.context !== undefined) context = data.context;
  if (data.blocks) goOn(data);
  if (data.ask && !left) answered = answered.then(() => answer(data.ask));
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
      if (data.leave) await leave();
      else postMessage({ ended: true });
      continue;
    }
    for (let at = 0; at < data.bytes.length; at += atOnce) {
      await take(decoder.decode(data.bytes.subarray(at, at + atOnce), { stream: true }));
    }
    postMessage({ taken: data.bytes.length });
  }
  working = false;
}

async function take(some) {
  held += some;
  let at = 0;
  for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n", at)) {
    await event(held.slice(at, end));
    at = end + 2;
  }
  held = held.slice(at);
}

async function event(lines) {
  const newline = lines.indexOf("\n");
  const name = lines.slice("event: ".length, newline), data = JSON.parse(lines.slice(newline + "\ndata: ".length));
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
  items.forEach(add);
  if (filled >= blockBytes) await seal();
}

// add adds an item to the last block.
function add(item) {
  const block = blocks[blocks.length - 1], json = JSON.stringify(item);
  const most = filled + 3 * json.length; // UTF-8 has three bytes for each unit of UTF-16 at most
  if (most > buffer.length) {
    const larger = new Uint8Array(Math.max(most, 2 * buffer.length));
    larger.set(buffer.subarray(0, filled));
    buffer = block.bytes = larger;
  }
  filled += encoder.encodeInto(json, buffer.subarray(filled)).written;
  block.ends.push(filled);
}

// seal deflates the last block and begins another.
async function seal() {
  const block = blocks[blocks.length - 1];
  block.packed = await through(new CompressionStream("deflate-raw"), buffer.subarray(0, filled));
  block.ends = Uint32Array.from(block.ends);
  block.bytes = null;
  if (buffer.length > 2 * blockBytes) buffer = new Uint8Array(2 * blockBytes); // after a very long item
  filled = 0;
  blocks.push({ first: count, ends: [], bytes: buffer });
}

// goOn goes on with what another worker has taken in.
function goOn(state) {
  ({ held, count } = state);
  blocks = [...state.blocks, { first: count, ends: [], bytes: buffer }];
}

// leave hands all that was taken in over to the page once all is answered that was asked
// for. What is asked for from then on is for the next worker.
async function leave() {
  left = true;
  await answered;
  if (filled) await seal();
  const full = blocks.filter(({ packed }) => packed).map(({ first, ends, packed }) => ({ first, ends, packed }));
  postMessage({ state: { context, held, count, blocks: full }, ended: true }, full.flatMap(({ packed, ends }) => [packed.buffer, ends.buffer]));
}

// through returns what a stream makes of bytes.
async function through(stream, bytes) {
  const writer = stream.writable.getWriter(), reader = stream.readable.getReader();
  const written = Promise.all([writer.write(bytes), writer.close()]);
  const pieces = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value);
    length += read.value.length;
  }
  await written;
  const out = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}

// inflate returns the bytes of a full block.
async function inflate(block) {
  block.bytes ??= await through(new DecompressionStream("deflate-raw"), block.packed);
  const i = inflated.indexOf(block);
  if (i >= 0) inflated.splice(i, 1);
  inflated.push(block);
  while (inflated.length > inflatedBlocks) inflated.shift().bytes = null;
  return block.bytes;
}

// itemOf returns the item of a number.
async function itemOf(number) {
  const known = longItems.get(number);
  if (known) return keepLong(number, known);
  const block = blockOf(number), i = number - block.first;
  const bytes = block.packed ? await inflate(block) : block.bytes; // which is written to while others wait
  const from = i ? block.ends[i - 1] : 0, to = block.ends[i];
  const item = JSON.parse(text.decode(bytes.subarray(from, to)));
  return to - from < longItem ? item : keepLong(number, item);
}

function keepLong(number, item) {
  longItems.delete(number);
  longItems.set(number, item);
  if (longItems.size > itemsKept) longItems.delete(longItems.keys().next().value);
  return item;
}

// answer posts parts of items.
async function answer(ask) {
  const parts = [];
  for (const { key, item, ...what } of ask) parts.push({ key, item, part: part(await itemOf(item), { context, ...what }) });
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

// What fails while others wait for it is for the page to hear of.
onunhandledrejection = ({ reason }) => reportError(reason);
postMessage({ ready: true });
