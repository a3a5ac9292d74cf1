// A list of any length, of which only what is seen is in the page. Each item has
// a place on a long strip, by its height: an estimate, and what it really has
// once it was shown. Browsers lay out boxes of some 30 million pixels at most, so
// a longer strip is moved behind a box of tallest: small steps of the scroll bar
// are steps on the strip, and a leap leads to the same fraction of it.

import { Heights } from "./heights.js";

const tallest = 8e6;
// frameBudget is how many milliseconds a frame may spend on new items; those
// left over come with the next.
const frameBudget = 12;
// settleAfter is for how many milliseconds the page stands still and nobody touches it
// when a movement is over.
const settleAfter = 200;

export class LongList {
  #box;
  #source;
  #heights = new Heights();
  // #live are the elements in the page, by their item.
  #live = new Map();
  // #shift is how far the strip is moved behind the box, #last and #y where the box and
  // the page were.
  #shift = 0;
  #last = 0;
  #y = 0;
  // #moving is whether the page moves, #leapt whether this movement was a leap along the
  // scroll bar.
  #moving = false;
  #leapt = false;
  #asked = false;
  #timer = 0;
  #target = null;
  #closed = new AbortController();

  // A source has estimate(i), the height of an item; element(i), its element;
  // and fit(i, element, from, to), which is called while the part from..to of an
  // item is near the window and reports whether it changed the element.
  constructor(box, source) {
    this.#box = box;
    this.#source = source;
    this.#last = this.#scroll();
    this.#y = scrollY;
    const { signal } = this.#closed;
    addEventListener("scroll", () => this.#scrolled(), { passive: true, signal });
    addEventListener("scrollend", () => this.#stopped(), { signal });
    addEventListener("resize", () => this.reset(), { signal });
    for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(name, () => this.#touched(), { passive: true, signal });
  }

  // close takes the list out of the page. Its height stays, for what comes in its place.
  close() {
    this.#closed.abort();
    clearTimeout(this.#timer);
    for (const element of this.#live.values()) element.remove();
    this.#live.clear();
  }

  get length() {
    return this.#heights.length;
  }

  // elements are those in the page, with their items.
  get elements() {
    return [...this.#live].sort((a, b) => a[0] - b[0]);
  }

  // element is that of an item, if it is in the page.
  element(i) {
    return this.#live.get(i);
  }

  // grow adds items at the end.
  grow(count) {
    for (let i = 0; i < count; i++) this.#heights.push(this.#source.estimate(this.length));
    if (this.#target) this.#seek();
    if (this.#live.size) this.draw();
    else this.#draw(); // the first results do not wait for a frame
  }

  // reset forgets all heights and elements, as when each item has changed. What
  // is at the top stays there.
  reset() {
    const [item, into] = this.at();
    const count = this.length;
    this.#heights = new Heights();
    for (let i = 0; i < count; i++) this.#heights.push(this.#source.estimate(i));
    for (const element of this.#live.values()) element.remove();
    this.#live.clear();
    if (item > 0 || into > 0) this.reveal(item, into);
    this.draw();
  }

  // renew makes the element of an item anew.
  renew(i) {
    const old = this.#live.get(i);
    if (!old) return;
    const element = this.#element(i), focused = old.contains(document.activeElement);
    old.replaceWith(element);
    if (focused) element.focus({ preventScroll: true });
    this.#live.set(i, element);
    this.draw();
  }

  // resized takes over the estimate of an item that has changed, and makes its
  // element anew.
  resized(i) {
    this.#heights.set(i, this.#source.estimate(i));
    this.renew(i);
    this.draw();
  }

  // at is the item at the top of the window, and how far it has gone out of it.
  at() {
    const top = this.#top();
    if (!this.length || top <= 0) return [0, 0];
    const item = this.#heights.at(top);
    return [item, top - this.#heights.before(item)];
  }

  // reveal scrolls an item to the top, also one that is still to come.
  reveal(item, into = 0) {
    this.#target = [item, into];
    this.#seek();
    this.draw();
  }

  // see scrolls as little as it needs to have an item in the window.
  see(i) {
    const top = this.#top(), from = this.#heights.before(i);
    const height = Math.min(this.#heights.before(i + 1) - from, innerHeight - 2 * margin);
    if (from >= top + margin && from + height <= top + innerHeight - margin) return;
    this.#jump(from < top + margin ? from - margin : from + height + margin - innerHeight);
  }

  draw() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (!this.#closed.signal.aborted) this.#draw();
    });
  }

  // #seek goes to the target as far as the list reaches.
  #seek() {
    const [item, into] = this.#target;
    if (item >= this.length) return;
    this.#target = null;
    this.#jump(this.#heights.before(item) + into);
  }

  // #jump has a place of the strip at the top of the window.
  #jump(place) {
    const to = Math.max(0, Math.min(place, this.#heights.total - innerHeight));
    this.#size();
    this.#put(to);
    this.draw();
  }

  // #put scrolls the page to where the scroll bar is to be for a place.
  #put(place) {
    const at = this.#ideal(place);
    scrollTo({ top: at + this.#offset(), behavior: "instant" });
    this.#last = this.#scroll();
    this.#y = scrollY;
    this.#shift = place > 0 ? place - this.#last : 0;
  }

  #size() {
    this.#box.style.height = `${Math.min(this.#heights.total, tallest)}px`;
  }

  // #ideal is where in the box a place of the strip belongs.
  #ideal(place) {
    const { total } = this.#heights;
    if (total <= tallest || place <= 0) return place;
    return (place * (tallest - innerHeight)) / (total - innerHeight);
  }

  #offset() {
    return this.#box.getBoundingClientRect().top + scrollY;
  }

  // #scroll is how far the box has gone out of the window; below 0 it has not
  // come to its top.
  #scroll() {
    return scrollY - this.#offset();
  }

  // #top is the place of the strip at the top of the window.
  #top() {
    return this.#scroll() + this.#shift;
  }

  #scrolled() {
    this.#follow();
    clearTimeout(this.#timer);
    if (!("onscrollend" in window)) this.#rest();
    this.draw();
  }

  // #touched lets a person who scrolls go where they want. The movement is still to
  // come.
  #touched() {
    this.#target = null;
    this.#moving = true;
    this.#rest();
  }

  // #stopped is the end of a movement, after which the next may have begun already: a
  // key that was pressed meanwhile.
  #stopped() {
    this.#source.settled?.();
    this.#rest();
  }

  // #rest has the page settle soon.
  #rest() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#settle(), settleAfter);
  }

  // #follow takes over where the page was scrolled to, which may be before the event
  // that says so.
  #follow() {
    const at = this.#scroll(), by = Math.abs(at - this.#last), { total } = this.#heights;
    if (scrollY !== this.#y) this.#moving = true;
    if (total > tallest) {
      const leap = by > 3 * innerHeight, share = Math.min(1, at / (tallest - innerHeight));
      this.#leapt ||= leap;
      // a leap may come to its end in small steps; at both ends of the scroll bar are those
      // of the strip
      if (leap || (this.#leapt && (at <= 0 || share === 1))) this.#shift = at > 0 ? share * (total - innerHeight) - at : 0;
    }
    this.#last = at;
    this.#y = scrollY;
  }

  // #settle puts the scroll bar where it belongs; nothing else is seen to move. It
  // waits until all movement is over, which it would cut short.
  #settle() {
    this.#follow();
    this.#moving = this.#leapt = false;
    this.#align();
    this.draw();
    this.#source.settled?.();
  }

  // #align puts the scroll bar where it belongs.
  #align() {
    const place = this.#top();
    if (Math.abs(this.#ideal(place) - this.#scroll()) > 1) this.#put(place);
  }

  #element(i) {
    const element = this.#source.element(i);
    element.ariaPosInSet = String(i + 1);
    return element;
  }

  #draw() {
    this.#size();
    if (!this.length) return;
    this.#follow();
    const began = performance.now();
    const top = this.#top(), over = innerHeight;
    const from = Math.max(0, top - over), to = top + innerHeight + over;
    let i = this.#heights.at(from), y = this.#heights.before(i);
    const first = i, wanted = new Set();
    let left = false;
    for (; i < this.length && y < to; i++) {
      const height = this.#heights.before(i + 1) - y;
      const seen = y + height > top && y < top + innerHeight;
      if (!this.#live.has(i)) {
        if (!seen && performance.now() - began > frameBudget) left = true;
        else this.#insert(i);
      }
      const element = this.#live.get(i);
      if (element) this.#source.fit(i, element, from - y, to - y);
      wanted.add(i);
      y += height;
    }
    const focused = document.activeElement;
    for (const [item, element] of this.#live) {
      if (wanted.has(item) || element.contains(focused)) continue;
      element.remove();
      this.#live.delete(item);
    }
    this.#measure(top);
    this.#size();
    if (!this.#moving) this.#align();
    const into = this.#shift;
    for (const [item, element] of this.#live) element.style.top = `${this.#heights.before(item) - into}px`;
    if (left || this.#heights.at(Math.max(0, this.#top() - over)) !== first) this.draw();
  }

  // #insert puts an element where it stands in the order of reading.
  #insert(i) {
    const element = this.#element(i);
    let next = Infinity;
    for (const item of this.#live.keys()) if (item > i && item < next) next = item;
    this.#box.insertBefore(element, this.#live.get(next) ?? null);
    this.#live.set(i, element);
  }

  // #measure takes over the real heights. The item at the top of the window stays
  // where it is, or the end of the list, if that is seen.
  #measure(top) {
    const atEnd = top > 0 && top >= this.#heights.total - innerHeight - 1;
    const anchor = this.#heights.at(Math.max(0, top));
    const before = this.#heights.before(anchor);
    const sizes = [...this.#live].map(([item, element]) => [item, element.getBoundingClientRect().height + gap]);
    for (const [item, height] of sizes) this.#heights.set(item, height);
    if (atEnd) this.#shift += Math.max(0, this.#heights.total - innerHeight) - top;
    else if (top > 0) this.#shift += this.#heights.before(anchor) - before;
  }
}

// gap is between two items; margin is what else is left free around one that is
// brought into the window.
export const gap = 14;
const margin = 60;
