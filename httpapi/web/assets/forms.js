// Small helps for forms. Everything works without them.

import { copy } from "./clipboard.js";

// The form may have come later than the page.
document.addEventListener("submit", (event) => {
  const text = event.target.dataset.confirm;
  if (text !== undefined && !window.confirm(text)) event.preventDefault();
});

// isUsed reports whether somebody reads in a part with the keyboard or selects in it.
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
    if (!ids.has(row.id)) row.remove();
  }
  for (const [i, row] of rows.entries()) {
    const old = document.getElementById(row.id);
    const there = body.rows[i];
    if (old && old !== there) body.insertBefore(old, there ?? null);
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

// What says how something is now is read anew, while it is seen. It stays as it is where
// somebody reads with the keyboard or selects in it.
const parts = [...document.querySelectorAll("[data-live]")];
if (parts.length > 0) {
  const wait = 1000 * Math.min(...parts.map((part) => Number(part.dataset.live)));
  const again = async () => {
    if (document.visibilityState === "visible") {
      try {
        const answer = await fetch(location.href);
        const page = new DOMParser().parseFromString(answer.ok && !answer.redirected ? await answer.text() : "", "text/html");
        for (const part of parts) {
          const now = page.getElementById(part.id);
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
