// The list of repositories follows what is typed. Without this script the form does.

const form = document.getElementById("filter");
const field = form.elements.namedItem("q");

// waitMillis is how long a pause in typing is before the list is asked for.
const waitMillis = 120;

const state = { asked: null, timer: 0, shown: field.value.trim() };

async function ask() {
  clearTimeout(state.timer);
  const text = field.value.trim();
  if (text === state.shown) return;
  state.asked?.abort();
  const control = (state.asked = new AbortController());
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) if (value.trim()) address.searchParams.set(name, value.trim());
  try {
    const response = await fetch(address, { signal: control.signal });
    if (!response.ok || state.asked !== control) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (state.asked !== control) return;
    for (const id of ["list", "total"]) document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes);
    state.shown = text;
    history.replaceState(null, "", address);
  } catch {
    // the list stays as it was
  }
}

field.addEventListener("input", () => {
  clearTimeout(state.timer);
  state.timer = setTimeout(ask, waitMillis);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  state.shown = null;
  ask();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
  event.preventDefault();
  field.select();
});
