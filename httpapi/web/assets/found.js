// What was found, as a list that is as long as the answer: titles with the best
// matches of each file, all of them where a person asks for more.

import { copy } from "./clipboard.js";
import { colour } from "./colours.js";
import { LongList, gap } from "./longlist.js";
import { blank, result, rows, rowsAtOnce } from "./results.js";

// The heights of what articles are made of, in pixels.
const titleHeight = 40, rowHeight = 20, padding = 9, toggleHeight = 44;
// windowRows are asked for together of an article that is too tall to be whole.
const windowRows = 100;

export class Found {
  #box;
  #answer;
  #list;
  #mode;
  #states = new Map();
  #folded = new Set();
  #columns;
  #aim = -1;
  #closed = new AbortController();

  // mode is how much of each file is there: capped, open or shut.
  constructor(box, answer, mode) {
    this.#box = box;
    this.#mode = mode;
    this.#answer = answer;
    this.#columns = columns(box);
    this.#list = new LongList(box, {
      estimate: (i) => this.#height(i),
      element: (i) => this.#element(i),
      fit: (i, element, from, to) => this.#fit(i, element, from, to),
      settled: () => this.settled?.(this.#list.at()),
    });
    const { signal } = this.#closed;
    // before the list hears of it
    addEventListener("resize", () => (this.#columns = columns(box)), { capture: true, signal });
    box.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.matches(".toggle")) this.toggle(this.itemOf(button));
      if (button?.matches(".copy")) copy(button, button.dataset.text);
    }, { signal });
  }

  // close takes the list out of the page. The keyboard stays with the results.
  close() {
    const focused = this.#box.contains(document.activeElement);
    this.#closed.abort();
    this.#aim = -1;
    this.#list.close();
    this.#box.removeAttribute("role");
    if (focused) this.#box.focus({ preventScroll: true });
  }

  get mode() {
    return this.#mode;
  }

  get list() {
    return this.#list;
  }

  // itemOf is the item that an element of the page belongs to.
  itemOf(element) {
    const article = element?.closest?.("#results > article");
    return article ? Number(article.ariaPosInSet) - 1 : -1;
  }

  // focus leads the keyboard to the title of an item, once it is there.
  async focus(i) {
    this.#aim = i;
    this.#list.see(i);
    for (;;) {
      const element = this.#list.element(i);
      if (this.#aim !== i) return;
      if (element && !element.classList.contains("blank")) {
        (element.querySelector("h3 .path[href]") ?? element).focus({ preventScroll: true });
        return;
      }
      await new Promise(requestAnimationFrame);
    }
  }

  grown(count) {
    this.#box.role = "feed"; // one without articles is none
    this.#list.grow(count);
  }

  // came shows what was asked for.
  came(i, key) {
    const element = this.#list.element(i);
    if (!element) return;
    if (element.classList.contains("blank") && key === this.#key(i)) this.#list.renew(i);
    else this.#list.draw();
  }

  // show has all items capped, open or shut.
  show(mode) {
    this.#mode = mode;
    this.#states.clear();
    this.#list.reset();
  }

  // toggle opens an item or caps it again.
  toggle(i) {
    if (i < 0) return;
    const open = this.#state(i) !== "open";
    this.#states.set(i, open ? "open" : "capped");
    this.#list.resized(i);
    if (!open) this.#list.see(i);
    this.#list.element(i)?.focus({ preventScroll: true });
  }

  #state(i) {
    return this.#states.get(i) ?? this.#mode;
  }

  #tall(i) {
    return this.#state(i) === "open" && this.#answer.rows(i)[1] > rowsAtOnce;
  }

  #key(i) {
    if (this.#state(i) !== "open") return `${i}`;
    return this.#tall(i) ? `${i} 0` : `${i} open`;
  }

  #height(i) {
    const [capped, all] = this.#answer.rows(i), state = this.#state(i);
    if (state === "shut" || all === 0) return titleHeight + gap;
    const shown = state === "open" ? all : capped;
    return titleHeight + padding + shown * rowHeight + (capped < all ? toggleHeight : 0) + gap;
  }

  #element(i) {
    const item = this.#answer.part(this.#key(i), i, this.#what(i, 0));
    if (!item) return blank(this.#height(i) - gap);
    const how = { columns: this.#columns, open: this.#state(i) === "open" && this.#answer.rows(i)[0] < this.#answer.rows(i)[1], tall: this.#tall(i), ...this.#folds(i) };
    const out = result(this.#state(i) === "shut" ? { ...item, rows: [], more: 0 } : item, how);
    out.classList.toggle("shut", this.#state(i) === "shut");
    if (how.tall) {
      out.classList.add("tall");
      out.querySelector(".code").append(room((item.total - item.rows.length) * rowHeight));
      out.tall = { total: item.total, from: 0, to: item.rows.length };
    }
    if (item.type === "content") colour(out, item.path, item.language);
    return out;
  }

  // #folds knows the files of a diff that are folded.
  #folds(i) {
    return {
      folded: (file) => this.#folded.has(`${i} ${file}`),
      fold: (file, on) => {
        if (this.#folded.has(`${i} ${file}`) === on) return;
        this.#folded[on ? "add" : "delete"](`${i} ${file}`);
        this.#list.draw();
      },
    };
  }

  #what(i, from) {
    if (this.#state(i) !== "open") return { open: false };
    return this.#tall(i) ? { open: true, from, to: from + windowRows } : { open: true };
  }

  // fit has those rows of a tall article in the page that are near the window.
  #fit(i, element, from, to) {
    const { tall } = element;
    if (!tall) return;
    const step = windowRows * rowHeight;
    const first = Math.max(0, Math.floor((from - titleHeight - padding) / step)) * windowRows;
    const last = Math.min(tall.total, Math.max(first + windowRows, Math.ceil((to - titleHeight - padding) / step) * windowRows));
    if (first === tall.from && last === tall.to) return;
    const parts = [];
    for (let row = first; row < last; row += windowRows) parts.push(this.#answer.part(`${i} ${row}`, i, this.#what(i, row)));
    if (parts.some((part) => !part)) return;
    const how = { columns: this.#columns, open: true, tall: true };
    const code = element.querySelector(".code");
    code.replaceChildren(room(first * rowHeight), ...parts.flatMap((part) => rows(part, how)), room((tall.total - last) * rowHeight));
    Object.assign(tall, { from: first, to: last });
    if (parts[0]?.type === "content") colour(element, parts[0].path, parts[0].language);
  }
}

// room stands for rows that are not there.
function room(height) {
  const out = document.createElement("div");
  out.className = "room";
  out.style.height = `${height}px`;
  return out;
}

// columns is how many characters of code go beside each other into a box.
function columns(box) {
  const code = document.createElement("code");
  const line = document.createElement("div");
  line.className = "line";
  code.textContent = "0".repeat(100);
  line.append(code);
  line.classList.add("ruler");
  box.append(line);
  const width = code.getBoundingClientRect().width / 100;
  const number = parseFloat(getComputedStyle(line).paddingLeft);
  const room = box.clientWidth - number - 2 * 16;
  line.remove();
  return Math.max(20, Math.floor(room / (width || 8)));
}
