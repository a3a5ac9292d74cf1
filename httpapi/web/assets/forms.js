// Small helps for forms. Everything works without them.

import { copy } from "./clipboard.js";

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// What says how something is now is read anew, while it is seen and nobody reads with
// the keyboard or selects in it.
for (const part of document.querySelectorAll("[data-live]")) {
  const wait = 1000 * Number(part.dataset.live);
  const renew = async () => {
    const used = part.contains(document.activeElement) || part.contains(getSelection().anchorNode) && !getSelection().isCollapsed;
    if (document.visibilityState === "visible" && !used) {
      try {
        const answer = await fetch(location.href);
        const page = new DOMParser().parseFromString(answer.ok && !answer.redirected ? await answer.text() : "", "text/html");
        const now = page.getElementById(part.id);
        if (now) part.replaceChildren(...now.childNodes);
      } catch {
        // The server may be about to start again: the page stays as it is.
      }
    }
    setTimeout(renew, wait);
  };
  setTimeout(renew, wait);
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", () => {
    field.select();
    copy(button, field.value);
  });
}
