// The clipboard: a text goes on it, and the button that asked for it says so.

// toldMillis is for how long a button says what became of it.
const toldMillis = 1500;

// put puts text on the clipboard. Pages that came over plain HTTP have none, and others may
// not be allowed to use it, but a field in them can be copied.
async function put(text, button) {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    // a field it is
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  button.after(field); // in its dialog, if it is in one
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  button.focus({ preventScroll: true });
  if (!done) throw new Error("not copied");
}

// copy puts a text, or a promised one, on the clipboard.
export async function copy(button, text) {
  button.dataset.label ??= button.textContent;
  try {
    await put(await text, button);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = button.dataset.label), toldMillis);
}
