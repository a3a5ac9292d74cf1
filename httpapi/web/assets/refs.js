// Branches and tags of a repository, as the page that lists them has them.

// refsLike are those whose names have a text in them; all have the empty one. Without an
// answer it is null.
export async function refsLike(list, text, signal) {
  const address = new URL(list, location.href);
  if (text) address.searchParams.set("q", text);
  try {
    const response = await fetch(address, { signal });
    if (!response.ok) return null;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return [...page.querySelectorAll("#branches tr, #tags tr")].flatMap((row) => {
      const from = row.querySelector("td:first-child a");
      return from ? [{ name: from.textContent, to: from.getAttribute("href"), kind: row.closest("#tags") ? "tag" : "branch" }] : [];
    });
  } catch {
    return null;
  }
}
