// The lines of a large file are read window by window, as one scrolls: the next one is
// fetched when the end of those on the page comes near, and those furthest away leave, so
// that a file of any length takes no more than a few windows. The links beside them stay
// for what cannot be fetched.

const table = document.getElementById("source");

// most windows are on the page. near is how far from the end of the lines, in heights of
// the browser's window, the next ones are fetched.
const most = 4, near = 2;

const links = { prev: [...document.querySelectorAll('.pager a[rel="prev"]')], next: [...document.querySelectorAll('.pager a[rel="next"]')] };

// windows are those on the page, from the top: their lines, their parts of the table, and
// the addresses of the windows before and behind them.
const windows = [windowOf(document)];

// state has the fetch at work, and which ways nothing more is fetched by itself.
const state = { asked: false, failed: { prev: false, next: false } };

function windowOf(page) {
  const source = page.getElementById("source");
  const to = (rel) => page.querySelector(`.pager a[rel="${rel}"]`)?.getAttribute("href") ?? "";
  return {
    first: Number(source.dataset.first), last: Number(source.dataset.last), total: source.dataset.total, bodies: [...source.tBodies],
    digits: /\bdigits(\d+)/.exec(source.className)?.[1] ?? "0", prev: to("prev"), next: to("next"), permalink: page.getElementById("permalink").getAttribute("href").split("?")[0].replace(/^.*:\/\/[^/]*/, ""), told: page.querySelector(".pager span").textContent,
  };
}

// end is the window at one end of those on the page.
const end = (rel) => (rel === "next" ? windows[windows.length - 1] : windows[0]);

async function fetchWindow(rel) {
  state.asked = true;
  const found = await read(end(rel)[rel]);
  state.asked = false;
  if (found && joins(rel, found)) take(rel, found);
  else state.failed[rel] = true; // the link is there
  look();
}

// joins reports whether a window of the same text stands beside those on the page. A branch
// may have moved meanwhile.
function joins(rel, found) {
  const at = end(rel);
  return found.permalink === at.permalink && (rel === "next" ? found.first === at.last + 1 : found.last === at.first - 1);
}

// read is the window at an address, or null.
async function read(address) {
  try {
    const response = await fetch(address);
    if (!response.ok) return null;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return page.querySelector(".pager span") && page.getElementById("source") ? windowOf(page) : null;
  } catch {
    return null;
  }
}

// take puts a window at an end of those on the page. What is in view stays where it is.
function take(rel, found) {
  const anchor = inView();
  const before = anchor?.getBoundingClientRect().top;
  const bodies = found.bodies.map((body) => document.adoptNode(body));
  if (rel === "next") {
    table.append(...bodies);
    windows.push(found);
  } else {
    table.prepend(...bodies);
    windows.unshift(found);
  }
  if (windows.length > most && getSelection().isCollapsed) leave(rel);
  widen();
  tell();
  if (anchor?.isConnected) scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
  table.dispatchEvent(new Event("lines"));
}

// leave takes the window at the other end away, if that is not near either.
function leave(rel) {
  const gone = rel === "next" ? windows[0] : windows[windows.length - 1];
  const top = gone.bodies[0].getBoundingClientRect().top, bottom = gone.bodies.at(-1).getBoundingClientRect().bottom;
  if (bottom >= -innerHeight * near && top <= innerHeight * (1 + near)) return;
  for (const body of gone.bodies) body.remove();
  windows.splice(windows.indexOf(gone), 1);
}

// inView is a line that one sees.
function inView() {
  const box = table.getBoundingClientRect();
  const row = document.elementFromPoint(Math.max(1, box.left + 1), Math.min(innerHeight - 1, Math.max(1, innerHeight / 2)))?.closest("tr");
  return row && table.contains(row) ? row : null;
}

// widen makes room for the longest number.
function widen() {
  const digits = Math.max(...windows.map((w) => Number(w.digits)));
  table.className = table.className.replace(/\bdigits\d+/, `digits${digits}`);
}

// tell has the page say which lines it has, and lead to the others.
function tell() {
  table.dataset.first = windows[0].first;
  table.dataset.last = end("next").last;
  for (const rel of ["prev", "next"]) {
    for (const link of links[rel]) {
      link.hidden = !end(rel)[rel];
      if (!link.hidden) link.href = end(rel)[rel];
    }
  }
  const numbers = end("next").told.replace(/^lines \S+?(?=\u2013)/, /^lines \S+?(?=\u2013)/.exec(windows[0].told)?.[0] ?? "");
  for (const span of document.querySelectorAll(".pager span")) span.textContent = numbers;
}

// look fetches what is near, one window at a time.
function look() {
  if (state.asked) return;
  const box = table.getBoundingClientRect();
  const there = (rel) => end(rel)[rel] && !state.failed[rel];
  if (there("next") && box.bottom < innerHeight * (1 + near)) fetchWindow("next");
  else if (there("prev") && box.top > -innerHeight * near && scrollY > 0) fetchWindow("prev");
}

if (table) {
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", look);
  look();
}
