// The results of a search, counted by what they have in common: a chart of which each
// bar leads to its results.

import { amount, base, el, link, number } from "./dom.js";

// groups has a choice show a chart in a box. query returns the query to count, type says
// how its words are read, and path is the page of the query with one more filter.
export function groups(choice, box, query, type, path) {
  let asked = null;
  choice.addEventListener("change", async () => {
    asked?.abort();
    box.hidden = !choice.value;
    if (!choice.value) return;
    const control = (asked = new AbortController());
    box.replaceChildren(el("p", "dim", "Counting the whole answer\u2026"));
    box.ariaBusy = "true";
    try {
      const response = await fetch(`${base}/.api/search/groups?${new URLSearchParams({ by: choice.value, q: query(), t: type })}`, { signal: control.signal });
      const answer = response.ok ? await response.json() : null;
      if (asked !== control) return;
      if (answer) chart(box, answer, path);
      else box.replaceChildren(el("p", "", await response.text()));
    } catch {
      if (asked === control) box.replaceChildren(el("p", "", "The server cannot be reached."));
    }
    box.ariaBusy = "false";
  });
}

function chart(box, answer, path) {
  const more = answer.exact ? "" : "+";
  const most = answer.groups[0]?.count ?? 1;
  const list = el("ol", "", ...answer.groups.map((group) => {
    const name = el("span", "name");
    const label = el("bdi", "mono", group.repository ? `${group.repository} \u203a ${group.value}` : group.value || "(empty)");
    name.append(group.filter ? link(path(group.filter), "", label) : link(path(quoted(group.value)), "", label));
    const bar = el("div", "bar-of");
    bar.style.width = `${(100 * group.count) / most}%`;
    return el("li", "", name, bar, el("span", "n", `${number(group.count)}${more}`));
  }));
  list.tabIndex = 0;
  list.ariaLabel = "Groups, the largest first";
  const said = [`${amount(answer.groupsCount, "group", "groups")}${more && answer.groupsCount ? " or more" : ""}`];
  if (answer.others) said.push(`${amount(answer.others, "result", "results")} in groups that are not shown`);
  if (answer.without) said.push(`${amount(answer.without, "result", "results")} in none`);
  if (!answer.exact) said.push("not everything was counted");
  box.replaceChildren(el("p", "", said.join(", ")), list);
}

// quoted is a text as a pattern.
function quoted(text) {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
