// Lines of a file: a click on a number names the line in the address, with
// shift it names all from the last one. What the address names is marked.
const table = document.getElementById("source");

function parse(text) {
  const m = /^[?#]L(\d+)(?::\d+)?(?:-L?(\d+)(?::\d+)?)?$/.exec(decodeURIComponent(text).split("&")[0]);
  if (!m) return null;
  const first = Number(m[1]), last = Number(m[2] || m[1]);
  return [Math.min(first, last), Math.max(first, last)];
}

function mark(range) {
  for (const row of table.querySelectorAll("tr.hit")) row.classList.remove("hit");
  for (let n = range[0]; n <= range[1]; n++) {
    const row = document.getElementById("L" + n);
    if (!row) break;
    row.classList.add("hit");
  }
}

function name(range) {
  return "L" + range[0] + (range[1] > range[0] ? "-" + range[1] : "");
}

if (table) {
  let last = parse(location.hash) || parse(location.search);
  if (parse(location.hash)) {
    mark(last);
    document.getElementById("L" + last[0])?.scrollIntoView({ block: "center" });
  } else {
    table.querySelector("tr.hit")?.scrollIntoView({ block: "center" });
  }
  table.addEventListener("click", (event) => {
    const link = event.target.closest("td.no a");
    if (!link) return;
    event.preventDefault();
    const n = Number(link.textContent);
    last = event.shiftKey && last ? [Math.min(n, last[0]), Math.max(n, last[0])] : [n, n];
    history.replaceState(null, "", location.pathname + "?" + name(last));
    mark(last);
    const fixed = document.getElementById("permalink");
    fixed.href = fixed.href.split("?")[0] + "?" + name(last);
  });
}
