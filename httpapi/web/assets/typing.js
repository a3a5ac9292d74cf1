// Searches that typing begins: after a pause, for a query that is read without a remark
// and that the index answers soon. A person may switch them off, in this browser.

// pause is how long nobody types before, in milliseconds; shortest is how many characters
// a query has.
const pause = 300, shortest = 3;
const name = "trawl.typing";

export class Typing {
  #field;
  #search;
  #on = kept();
  #timer = 0;
  #due = false;
  #reading = null;

  // search is called with the text of a field once it is to be searched for.
  constructor(field, search) {
    this.#field = field;
    this.#search = search;
    for (const name of ["input", "written"]) field.addEventListener(name, () => this.#typed());
  }

  // read takes in how the server reads the text of the field.
  read(reading) {
    this.#reading = reading;
    this.#consider();
  }

  // stop forgets what was typed so far.
  stop() {
    clearTimeout(this.#timer);
    this.#due = false;
  }

  // choice has a box of a form switch it on and off.
  choice(box) {
    box.checked = this.#on;
    box.addEventListener("change", () => {
      this.#on = box.checked;
      try {
        localStorage.setItem(name, this.#on ? "on" : "off");
      } catch {
        // without room for it the page has the choice until it is left
      }
    });
  }

  #typed() {
    this.stop();
    this.#reading = null;
    this.#timer = setTimeout(() => {
      this.#due = true;
      this.#consider();
    }, pause);
  }

  #consider() {
    if (!this.#on || !this.#due || !this.#reading) return;
    this.#due = false;
    const text = this.#field.value.trim();
    const { error, warnings, quick } = this.#reading;
    if (quick && !error && !warnings.length && Array.from(text).length >= shortest) this.#search(text);
  }
}

function kept() {
  try {
    return localStorage.getItem(name) !== "off";
  } catch {
    return true;
  }
}
