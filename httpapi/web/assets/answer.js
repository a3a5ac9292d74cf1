// The answer to a search: an address comes in, events come out, and items are
// there to be asked for, however many. What is in them stays in a worker.

import { bytes } from "./stream.js";

// ahead is how many bytes the worker may have left to take in.
const ahead = 4 << 20;
// partsKept are the parts of items that are at hand, those asked for last.
const partsKept = 300;

export class Answer {
  #worker = new Worker(new URL("answer.worker.js", import.meta.url), { type: "module" });
  #waiting = 0;
  #taken = null;
  #ended = null;
  #failed = null;
  #asks = [];
  #parts = new Map();
  #rows = new Uint32Array(256);
  count = 0;

  // context is how many lines the search was asked for around each match. on has
  // event(name, data), grown(count) and came(item, key).
  constructor(context, on) {
    this.on = on;
    this.#worker.postMessage({ context });
    this.#worker.addEventListener("message", ({ data }) => this.#take(data));
    this.#worker.addEventListener("error", (event) => {
      this.#failed = new Error(event.message || "the answer cannot be read");
      this.#taken?.();
      this.#ended?.();
    });
  }

  // read reads the answer at an address to its end.
  async read(address, signal) {
    for await (const piece of bytes(address, signal)) {
      this.#waiting += piece.length;
      this.#worker.postMessage({ bytes: piece }, [piece.buffer]);
      while (this.#waiting > ahead && !this.#failed) await new Promise((done) => (this.#taken = done));
      if (this.#failed) throw this.#failed;
    }
    await this.settled();
  }

  // settled waits until all that was read has been taken in.
  async settled() {
    if (!this.#failed) {
      this.#worker.postMessage({ end: true });
      await new Promise((done) => (this.#ended = done));
    }
    if (this.#failed) throw this.#failed;
  }

  // close ends the worker: nothing comes any more.
  close() {
    this.#worker.terminate();
    this.#failed = new Error("the answer was closed");
    this.#taken?.();
    this.#ended?.();
  }

  // rows is how many rows an item has while it is capped, and all.
  rows(i) {
    return [this.#rows[2 * i], this.#rows[2 * i + 1]];
  }

  // part returns a part of an item, or asks for it: it comes with on.came.
  part(key, item, what) {
    const known = this.#parts.get(key);
    if (known) {
      this.#parts.delete(key);
      this.#parts.set(key, known);
      return known;
    }
    if (known === undefined) {
      this.#keep(key, null);
      if (!this.#asks.length) queueMicrotask(() => this.#worker.postMessage({ ask: this.#asks.splice(0) }));
      this.#asks.push({ key, item, ...what });
    }
    return null;
  }

  #keep(key, part) {
    this.#parts.set(key, part);
    if (this.#parts.size > partsKept) this.#parts.delete(this.#parts.keys().next().value);
  }

  #take({ taken, ended, event, data, rows, early, parts }) {
    if (taken) {
      this.#waiting -= taken;
      if (this.#waiting <= ahead) this.#taken?.();
    }
    if (ended) this.#ended?.();
    if (event) this.on.event(event, data);
    if (rows) this.#grow(rows, early);
    for (const { key, item, part } of parts ?? []) {
      this.#keep(key, part);
      this.on.came(item, key);
    }
  }

  #grow(rows, early) {
    while (2 * this.count + rows.length > this.#rows.length) {
      const more = new Uint32Array(2 * this.#rows.length);
      more.set(this.#rows);
      this.#rows = more;
    }
    this.#rows.set(rows, 2 * this.count);
    early.forEach((part, i) => this.#keep(`${this.count + i}`, part));
    this.count += rows.length / 2;
    this.on.grown(rows.length / 2);
  }
}
