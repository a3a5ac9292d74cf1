// The answer to a search: an address comes in, events come out, and items are
// there to be asked for, however many. What is in them stays in a worker, which hands it
// to another one now and then: its heap has grown by then, and ends with it.

import { bytes } from "./stream.js";

// ahead is how many bytes the worker may have left to take in.
const ahead = 4 << 20;
// perWorker is how many bytes a worker takes in before another one goes on. At the end of
// an answer a quarter of it is enough.
const perWorker = 64 << 20;
const newline = 10;
// startMillis is how long a worker may take to start.
const startMillis = 5000;
// partsKept are the parts of items that are at hand, those asked for last.
const partsKept = 300;

const script = new URL("answer.worker.js", import.meta.url);

export class Answer {
  #worker = this.#start();
  #next = null; // the worker that is to go on
  #closed = false;
  #waiting = 0;
  #taken = null;
  #ended = null;
  #failed = null;
  #asks = []; // to be posted
  #asked = new Map(); // not answered yet, by key
  #parts = new Map();
  #rows = new Uint32Array(256);
  count = 0;

  // context is how many lines the search was asked for around each match. on has
  // event(name, data), grown(count) and came(item, key).
  constructor(context, on) {
    this.on = on;
    this.#worker.postMessage({ context });
  }

  // #start starts a worker, which is heard once it is that of the answer.
  #start() {
    const worker = new Worker(script, { type: "module" });
    worker.addEventListener("message", ({ data }) => worker === this.#worker && this.#take(data));
    worker.addEventListener("error", (event) => worker === this.#worker && this.#fail(event.message || "the answer cannot be read"));
    return worker;
  }

  // #another starts a worker that is to go on; null if it does not start, as when the
  // server is gone.
  async #another() {
    const worker = this.#start();
    const started = await new Promise((done) => {
      worker.addEventListener("message", () => done(true), { once: true });
      worker.addEventListener("error", () => done(false), { once: true });
      setTimeout(() => done(false), startMillis);
    });
    if (started) return worker;
    worker.terminate();
    return null;
  }

  #fail(message) {
    this.#failed = new Error(message);
    this.#taken?.();
    this.#ended?.();
  }

  // read reads the answer at an address to its end.
  async read(address, signal) {
    let given = 0;
    for await (const piece of bytes(address, signal)) {
      // a worker ends with a line, and so with a whole character
      const end = given > perWorker ? piece.lastIndexOf(newline) + 1 : 0;
      if (end) {
        await this.#give(piece.slice(0, end));
        await this.#handOver();
        given = 0;
      }
      given += piece.length - end;
      await this.#give(end ? piece.slice(end) : piece);
    }
    await this.settled();
    if (given > perWorker / 4) this.#handOver().catch(() => {}); // nobody waits for it
  }

  // #give gives the worker bytes, once it has taken in most of what it was given.
  async #give(piece) {
    this.#waiting += piece.length;
    this.#worker.postMessage({ bytes: piece }, [piece.buffer]);
    while (this.#waiting > ahead && !this.#failed) await new Promise((done) => (this.#taken = done));
    if (this.#failed) throw this.#failed;
  }

  // #handOver has another worker keep what was read, if one starts.
  async #handOver() {
    if (!this.#failed) this.#next = await this.#another();
    if (this.#closed) this.#next?.terminate();
    await this.settled();
  }

  // settled waits until all that was read has been taken in.
  async settled() {
    if (!this.#failed) {
      this.#worker.postMessage({ end: true, leave: this.#next !== null });
      await new Promise((done) => (this.#ended = done));
    }
    if (this.#failed) throw this.#failed;
  }

  // close ends the worker: nothing comes any more.
  close() {
    this.#closed = true;
    this.#worker.terminate();
    this.#next?.terminate();
    this.#fail("the answer was closed");
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
      const ask = { key, item, ...what };
      this.#asks.push(ask);
      this.#asked.set(key, ask);
    }
    return null;
  }

  #keep(key, part) {
    this.#parts.set(key, part);
    if (this.#parts.size > partsKept) this.#parts.delete(this.#parts.keys().next().value);
  }

  // #renew has the next worker keep what the one before took in, and answer what that one
  // did not.
  #renew(state) {
    this.#worker.terminate();
    [this.#worker, this.#next] = [this.#next, null];
    this.#worker.postMessage(state, state.blocks.flatMap(({ packed, ends }) => [packed.buffer, ends.buffer]));
    this.#worker.postMessage({ ask: [...this.#asked.values()] });
  }

  #take({ taken, ended, state, event, data, rows, early, parts }) {
    if (taken) {
      this.#waiting -= taken;
      if (this.#waiting <= ahead) this.#taken?.();
    }
    if (state && !this.#closed) this.#renew(state);
    if (ended) this.#ended?.();
    if (event) this.on.event(event, data);
    if (rows) this.#grow(rows, early);
    for (const { key, item, part } of parts ?? []) {
      this.#asked.delete(key);
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
