// Small helps for forms. Everything works without them.

import { copy } from "./clipboard.js";

// The form may have come later than the page.
document.addEventListener("submit", (event) => {
  const text = event.target.dataset.confirm;
  if (text !== undefined && !window.confirm(text)) event.preventDefault();
});

// isUsed reports whether a part has the focus or a selection.
function isUsed(part) {
  const selection = getSelection();
  return part.contains(document.activeElement) || !selection.isCollapsed && selection.containsNode(part, true);
}

// renewRow makes a row of a table as it is now. Cells that are used stay.
function renewRow(row, now) {
  if (row.isEqualNode(now)) return;
  if (!isUsed(row)) {
    row.replaceWith(now);
    return;
  }
  const cells = [...now.cells];
  for (const [i, cell] of [...row.cells].entries()) {
    if (cells[i] && !isUsed(cell)) cell.replaceWith(cells[i]);
  }
}

// renewRows makes the rows of a table, which have ids, as they are now.
function renewRows(body, now) {
  const rows = [...now.rows];
  const ids = new Set(rows.map((row) => row.id));
  for (const row of [...body.rows]) {
    if (!ids.has(row.id) && !isUsed(row)) row.remove();
  }
  for (const [i, row] of rows.entries()) {
    const old = document.getElementById(row.id);
    const there = body.rows[i];
    if (old && old !== there && !isUsed(old)) body.insertBefore(old, there ?? null);
    if (old) renewRow(old, row);
    else body.insertBefore(row, there ?? null);
  }
}

// renew makes a part of the page as it is now.
function renew(part, now) {
  const [body, next] = [part, now].map((of) => of.querySelector("tbody:has(> tr[id])"));
  if (body && next) renewRows(body, next);
  else if (!isUsed(part)) part.replaceChildren(...now.childNodes);
}

// Live parts of a page are read anew while the page is visible. What has the focus or a
// selection stays.
const parts = [...document.querySelectorAll("[data-live]")];
if (parts.length > 0) {
  const wait = 1000 * Math.min(...parts.map((part) => Number(part.dataset.live)));
  // A form that was refused is answered at its own address, which has no page.
  const { page } = parts[0].dataset;
  const shown = () => (page && location.pathname !== page ? page : location.href);
  const again = async () => {
    if (document.visibilityState === "visible") {
      try {
        const answer = await fetch(shown());
        const next = new DOMParser().parseFromString(answer.ok && !answer.redirected ? await answer.text() : "", "text/html");
        for (const part of parts) {
          const now = next.getElementById(part.id);
          if (now) renew(part, now);
        }
      } catch {
        // The server may be about to start again: the page stays as it is.
      }
    }
    setTimeout(again, wait);
  };
  setTimeout(again, wait);
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", () => {
    field.select();
    copy(button, field.value);
  });
}
