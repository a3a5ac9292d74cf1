// The raw events of the search that the address asks for.

import { amount, base, el, link, number } from "./dom.js";
import { events } from "./stream.js";

// What is shown is bounded; a browser takes an answer of any size.
const eventsShown = 400;
const charactersShown = 20000;

const asked = new URLSearchParams(location.search);
for (const [name, value] of [...asked]) if (!value) asked.delete(name, value);

const state = document.getElementById("state");
const stop = document.getElementById("stop");

if (asked.get("q")) {
  document.getElementById("curl").textContent = command();
  run();
}

// command asks for the same from a shell.
function command() {
  const address = document.getElementById("curl").dataset.url;
  const parts = [...asked].map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  return ["curl -N --get -H \"Authorization: token $SRC_ACCESS_TOKEN\"", ...parts, quoted(address)].join(" \\\n  ");
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function run() {
  const control = new AbortController();
  stop.hidden = false;
  stop.addEventListener("click", () => control.abort());
  const began = performance.now();
  let count = 0;
  let bytes = 0;
  let last = "";
  try {
    for await (const event of events(`${base}/search/stream?${asked}`, control.signal)) {
      const size = new TextEncoder().encode(event.text).length + 2;
      count++;
      bytes += size;
      last = event.name;
      if (count <= eventsShown || event.name !== "matches") show(event, performance.now() - began, size);
      state.textContent = `${amount(count, "event", "events")} so far`;
    }
    const hidden = count > eventsShown ? `; only the first ${eventsShown} with matches are shown` : "";
    state.textContent = last === "done"
      ? `${amount(count, "event", "events")}, ${amount(bytes, "byte", "bytes")}${hidden}.`
      : `The answer broke off after ${amount(count, "event", "events")}: the last one is not done.`;
  } catch (cause) {
    state.textContent = control.signal.aborted ? `Stopped after ${amount(count, "event", "events")}.` : cause.message;
    if (cause.status === 401) state.append(" ", link("/sign-in?returnTo=" + encodeURIComponent(location.pathname + location.search), "", "Sign in again"));
  }
  stop.hidden = true;
}

function show(event, after, size) {
  const data = event.text.slice(event.text.indexOf("data: ") + 6);
  const cut = data.length > charactersShown;
  const pre = el("pre", "", cut ? data.slice(0, charactersShown) : data);
  pre.tabIndex = 0;
  pre.setAttribute("aria-label", `data of ${event.name}`);
  document.querySelector("#events tbody").append(el("tr", "",
    el("td", "n", after.toFixed(1)), el("td", "", el("code", "", event.name)), el("td", "n", number(size)),
    el("td", "", pre, cut && el("span", "hint", `cut off after ${number(charactersShown)} characters`))));
}
