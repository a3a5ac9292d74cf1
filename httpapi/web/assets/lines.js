// Lines of a file: a click on a number names the line in the address, with
// shift it names all from the last one. What the address names is marked. A page
// holds a window of a large file; the server finds that of a line by ?L, and never
// sees a fragment.
const table = document.getElementById("source");

function parse(text) {
  const m = /^[?#]L(\d+)(?::\d+)?(?:-L?(\d+)(?::\d+)?)?$/.exec(decodeURIComponent(text).split("&")[0]);
  if (!m) return null;
  const first = Number(m[1]), last = Number(m[2] || m[1]);
  return [Math.min(first, last), Math.max(first, last)];
}

// shown are the lines that the page has.
const shown = () => [Number(table.dataset.first), Number(table.dataset.last)];

function mark(range) {
  for (const row of table.querySelectorAll("tr.hit")) row.classList.remove("hit");
  const [from, to] = shown();
  const last = Math.min(range[1], to);
  for (let n = Math.max(range[0], from); n <= last; n++) document.getElementById("L" + n)?.classList.add("hit");
}

// follow shows the lines that the fragment names, and reports whether there is
// one. Lines of another window are on another page.
function follow() {
  const range = parse(location.hash);
  if (!range) return false;
  const [from, to] = shown();
  if ((range[0] < from || range[0] > to) && range[0] >= 1 && range[0] <= Number(table.dataset.total)) {
    location.replace(location.pathname + "?" + name(range) + rest());
    return true;
  }
  mark(range);
  document.getElementById("L" + range[0])?.scrollIntoView({ block: "center" });
  return true;
}

function name(range) {
  return "L" + range[0] + (range[1] > range[0] ? "-" + range[1] : "");
}

// rest is what else the address names: what is looked for in the file.
function rest() {
  const parts = location.search.slice(1).split("&").filter((part) => part && !/^(L\d|from=)/.test(part));
  return parts.map((part) => "&" + part).join("");
}

// fix has the permalink, the other view of the file, the history of lines and those elsewhere
// name the lines.
function fix(range) {
  const past = document.getElementById("linehistory");
  if (past) past.hidden = range[0] < 1 || range[0] > Number(table.dataset.total);
  for (const link of document.querySelectorAll("#permalink, #view, #linehistory")) link.href = link.href.split("?")[0] + "?" + name(range);
  for (const link of document.querySelectorAll(".elsewhere")) if (link.dataset.pattern) link.href = link.dataset.pattern.replaceAll("{line}", range[0]);
}

// Browsers remember how wide a block was that they do not lay out now, and the table would
// stay as wide when the window gets narrower.
function narrow() {
  const scroll = table.closest(".scroll");
  let before = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width < before && scroll.scrollWidth > scroll.clientWidth) table.classList.add("whole");
    before = contentRect.width;
  }).observe(scroll);
}

// toSource leads from a text that is shown as it is meant to the lines that the fragment
// names: only its source has them.
function toSource() {
  const range = parse(location.hash);
  if (range) location.replace(location.pathname + "?" + name(range));
}

if (!table && document.querySelector(".prose")) {
  toSource();
  window.addEventListener("hashchange", toSource);
}

if (table) {
  narrow();
  let last = parse(location.hash) || parse(location.search);
  if (last) fix(last);
  if (!follow()) table.querySelector("tr.hit")?.scrollIntoView({ block: "center" });
  window.addEventListener("hashchange", () => {
    last = parse(location.hash) || last;
    if (last) fix(last);
    follow();
  });
  table.addEventListener("lines", () => last && mark(last));
  table.addEventListener("click", (event) => {
    const link = event.target.closest("td.no a");
    if (!link) return;
    event.preventDefault();
    const n = Number(link.textContent);
    last = event.shiftKey && last ? [Math.min(n, last[0]), Math.max(n, last[0])] : [n, n];
    history.replaceState(null, "", location.pathname + "?" + name(last) + rest());
    mark(last);
    fix(last);
  });
}
