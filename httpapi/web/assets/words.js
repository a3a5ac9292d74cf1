// Words of a text in rows of a table, by the places of their characters.

const wordText = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

// plain are the classes of text that names nothing: comments, keywords, strings, numbers.
const plain = ".c, .k, .s, .n, .left";

// Word is a name in a row: from and to count characters of the row's text.
export function wordsOf(row) {
  const text = row.querySelector(".tx").textContent;
  return [...text.matchAll(wordText)]
    .map((m) => ({ row, from: m.index, to: m.index + m[0].length, text: m[0], before: text.slice(0, m.index) }))
    .filter((word) => word.text.length > 1 || word.text !== "_");
}

// wordAt is the word at a point of the window, if there is one.
export function wordAt(x, y) {
  const spot = caretAt(x, y);
  const cell = spot?.node.nodeType === 3 && spot.node.parentElement.closest(".tx");
  if (!cell || spot.node.parentElement.closest(".left")) return null;
  const row = cell.parentElement;
  let at = spot.offset;
  for (const node of texts(cell)) {
    if (node === spot.node) break;
    at += node.data.length;
  }
  const word = wordsOf(row).find((word) => word.from <= at && at <= word.to);
  return word && within(word, x, y) ? word : null;
}

// within reports whether a point is on a word, and not behind the end of its line.
function within(word, x, y) {
  return [...rangeOf(word).getClientRects()].some((box) => x >= box.left - 1 && x <= box.right + 1 && y >= box.top && y <= box.bottom);
}

function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const spot = document.caretPositionFromPoint(x, y);
    return spot && { node: spot.offsetNode, offset: spot.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}

function* texts(cell) {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) yield walker.currentNode;
}

// rangeOf is the range of a word in the document.
export function rangeOf(word) {
  const range = document.createRange();
  let at = 0, begun = false;
  for (const node of texts(word.row.querySelector(".tx"))) {
    const end = at + node.data.length;
    if (!begun && word.from < end) {
      range.setStart(node, word.from - at);
      begun = true;
    }
    if (word.to <= end) {
      range.setEnd(node, word.to - at);
      break;
    }
    at = end;
  }
  return range;
}

// isName reports whether a word may be a name, by how it is coloured.
export function isName(word) {
  const node = rangeOf(word).startContainer;
  return !node.parentElement.closest(plain);
}

// qualified is the word with what stands before it: Kiln.fire.
export function qualified(word) {
  const m = /[\p{L}_$][\p{L}\p{N}_$]*(?:\.|::|->)$/u.exec(word.before);
  return m ? m[0] + word.text : word.text;
}

// occurrencesMarked is how many ranges are marked at most.
const occurrencesMarked = 2000;

// markOccurrences marks a word and all others like it in a table; null marks none.
// Browsers without highlights of ranges show none.
export function markOccurrences(table, word) {
  if (!globalThis.Highlight || !CSS.highlights) return 0;
  CSS.highlights.delete("word");
  CSS.highlights.delete("occurrences");
  if (!word) return 0;
  const ranges = [];
  for (const row of table.rows) {
    if (!row.textContent.includes(word.text)) continue;
    for (const other of wordsOf(row)) {
      if (other.text === word.text && ranges.length < occurrencesMarked) ranges.push(rangeOf(other));
    }
  }
  CSS.highlights.set("occurrences", new Highlight(...ranges));
  const own = new Highlight(rangeOf(word));
  own.priority = 1;
  CSS.highlights.set("word", own);
  return ranges.length;
}
