// A search: what was asked comes in, and the page shows what is found. One that typing
// began leaves what the page shows as it is until there is something else to show.

import { Answer } from "./answer.js";
import { base } from "./dom.js";
import { Facets } from "./facets.js";
import { Found } from "./found.js";
import { ended, notes, shortfalls, soFar, stalled } from "./outcome.js";
import { StreamError } from "./stream.js";

// slow is after how many milliseconds a search that typing began is seen to run. Most end
// before, and nothing flickers.
const slow = 500;
// stall is after how many milliseconds an answer of which nothing comes is said to have
// stalled: the server says how far it is every 5 seconds.
const stall = 15_000;

export class Search {
  #page;
  #typed;
  #answer;
  #control = new AbortController();
  #state = { progress: null, alert: null, error: null, finished: false, stopped: "" };
  #filters = null;
  #facets = null;
  #running = true;
  #closed = false;
  #quiet = false;
  #before = null;
  #timer = 0;
  #stall = 0;
  found = null;

  // page has the elements of the page. typed is whether typing began the search.
  constructor(asked, page, typed) {
    this.asked = asked;
    this.#page = page;
    this.#typed = typed;
    this.#answer = new Answer(asked.context, {
      event: (name, data) => this.#take(name, data),
      grown: (count) => {
        this.#show();
        this.found.grown(count);
      },
      came: (item, key) => this.found?.came(item, key),
    });
  }

  // whole is whether all was shown that there was to show, or will be.
  get whole() {
    return !this.#state.stopped;
  }

  // run runs the search to its end. shown is called before the page shows it, failed if
  // it never does.
  async run(shown, failed) {
    this.shown = shown;
    if (this.#typed) this.#timer = setTimeout(() => this.#wait(), slow);
    else {
      this.#show();
      this.#page.stop.hidden = false;
    }
    const state = this.#state;
    this.#heard();
    try {
      await this.#answer.read(`${base}/search/stream?${this.asked.stream}`, this.#control.signal);
      if (!state.finished) state.error = { message: "The answer broke off before its end.", status: 0 };
    } catch (cause) {
      if (this.#closed) return;
      if (!state.stopped) state.error = cause;
      if (!state.stopped && !(cause instanceof StreamError)) console.error(cause);
      await this.#answer.settled().catch(() => {}); // what came before is shown
    }
    clearTimeout(this.#stall);
    if (this.#closed) return;
    this.#running = false;
    if (state.error && this.#typed && !this.found) failed();
    else this.#end();
  }

  // stop ends the search early. Its results stay, and why says what ended it. Quietly, it
  // is not told to those who do not see it.
  stop(why, quietly = false) {
    if (!this.#running) return;
    this.#state.stopped = why;
    this.#quiet = quietly;
    this.#control.abort();
  }

  // close ends the search and takes its results out of the page, and what says that it runs.
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stall);
    this.#control.abort();
    this.#answer.close();
    this.found?.close();
    if (this.#before) {
      this.#page.summary.replaceChildren(...this.#before);
      this.#page.stop.hidden = true;
    }
  }

  // #show has the page show this search.
  #show() {
    if (this.found) return;
    const page = this.#page;
    this.#before = null;
    this.shown();
    this.#facets = new Facets(page.filters, this.asked.query, (text) => this.asked.path(text));
    if (this.#filters) this.#facets.show(this.#filters);
    this.found = new Found(page.results, this.#answer, page.mode);
    this.found.settled = (place) => history.replaceState({ ...history.state, at: place }, "");
  }

  // #wait says that a search takes its time, and takes notes away that are not of it. A
  // page without an answer has nothing that could stay until then.
  #wait() {
    if (!this.#page.summary) {
      this.#show();
      this.#page.summary.replaceChildren(...(this.#state.progress ? soFar(this.#state) : ["Searching\u2026"]));
    }
    const { summary, stop, alert, skipped } = this.#page;
    stop.hidden = false;
    if (this.found) for (const box of [alert, skipped]) box.replaceChildren();
    else {
      this.#before = [...summary.childNodes];
      summary.replaceChildren("Searching\u2026");
    }
  }

  // #heard notes that the server is there, and waits for it to be heard of again.
  #heard() {
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => {
      if (this.found || this.#before) this.#page.summary.replaceChildren(...stalled(this.#state, stall));
    }, stall);
  }

  #take(name, data) {
    const state = this.#state;
    this.#heard();
    if (name === "filters") {
      this.#filters = data;
      this.#facets?.show(data);
    } else if (name === "done") state.finished = true;
    else if (name === "progress" || name === "alert" || name === "error") state[name] = data;
    if (name === "progress" && this.found) this.#page.summary.replaceChildren(...soFar(state));
  }

  #end() {
    const page = this.#page, state = this.#state;
    clearTimeout(this.#timer);
    this.#show();
    if (!this.found.list.length) page.results.style.height = "";
    page.stop.hidden = true;
    this.#facets.end();
    page.summary.replaceChildren(...ended(this.asked, state));
    if (!this.#quiet) page.told.textContent = page.summary.textContent;
    page.alert.replaceChildren(...notes(this.asked, state, !this.#typed));
    page.skipped.replaceChildren(...shortfalls(this.asked, state));
  }
}
