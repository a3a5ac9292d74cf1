// The files of the repository beside a file: a tree whose folders are read when they
// are opened. Which are open, and whether the tree is there at all, the browser keeps.

import { base, el, escapePath, link, number } from "./dom.js";

const nav = document.getElementById("tree");
const opener = document.getElementById("showtree");

// mostShown is how many entries of a folder the tree shows.
const mostShown = 1000;

const shownName = "trawl.tree";
const widthAtFirst = "(min-width: 80rem)";

// get and put keep texts in this browser, if it keeps any.
function get(store, name) {
  try {
    return store.getItem(name);
  } catch {
    return null;
  }
}

function put(store, name, value) {
  try {
    store.setItem(name, value);
  } catch {
    // without room for it nothing is kept
  }
}

const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&#34;": '"', "&#39;": "'" };

// entriesOf reads the names of a folder as the server lists them: escaped, with a slash
// behind those of folders. Folders come first.
async function entriesOf(root, dir) {
  const response = await fetch(`${base}${root}/-/raw${dir ? "/" + escapePath(dir) : ""}`);
  if (!response.ok) throw new Error((await response.text()).trim() || response.statusText);
  const names = (await response.text()).split("\n").filter(Boolean).map((name) => name.replace(/&(?:lt|gt|amp|#34|#39);/g, (entity) => entities[entity]));
  const folders = names.filter((name) => name.endsWith("/"));
  return [...folders.map((name) => ({ name: name.slice(0, -1), folder: true })), ...names.filter((name) => !name.endsWith("/")).map((name) => ({ name }))];
}

function build() {
  const { repository, revision, path } = nav.dataset;
  const root = "/" + escapePath(repository) + (revision ? "@" + escapePath(revision) : "");
  const stateName = `${shownName}:${root}`;
  const kept = JSON.parse(get(sessionStorage, stateName) ?? "{}");
  const open = new Set(Array.isArray(kept.open) ? kept.open.slice(0, 200) : []);
  const parts = path.split("/");
  for (let i = 1; i < parts.length; i++) open.add(parts.slice(0, i).join("/"));
  const top = el("ul", "");
  top.setAttribute("role", "tree");
  top.setAttribute("aria-label", "Files");
  nav.replaceChildren(top);

  function keep() {
    put(sessionStorage, stateName, JSON.stringify({ open: [...open], top: nav.scrollTop }));
  }

  // fill lists a folder, and those in it that are open.
  async function fill(list, dir, level) {
    let entries;
    try {
      entries = await entriesOf(root, dir);
    } catch (cause) {
      const told = el("li", "hint", cause.message);
      told.setAttribute("role", "none");
      list.replaceChildren(told);
      return;
    }
    const shown = entries.slice(0, mostShown);
    list.replaceChildren(...shown.map(({ name, folder }, i) => {
      const at = dir ? `${dir}/${name}` : name;
      const item = link(`${root}/-/${folder ? "tree" : "blob"}/${escapePath(at)}`, folder ? "folder" : "", el("bdi", "", name));
      item.setAttribute("role", "treeitem");
      item.setAttribute("aria-level", level);
      item.setAttribute("aria-setsize", shown.length);
      item.setAttribute("aria-posinset", i + 1);
      item.tabIndex = -1;
      item.dataset.path = at;
      const row = el("li", "", item);
      row.setAttribute("role", "none");
      if (at === path) item.setAttribute("aria-current", "page");
      if (folder) item.setAttribute("aria-expanded", "false");
      return row;
    }));
    if (entries.length > shown.length) {
      const more = el("li", "hint", link(`${root}/-/tree/${escapePath(dir)}`, "", `${number(entries.length - shown.length)} more`));
      more.setAttribute("role", "none");
      list.append(more);
    }
    await Promise.all([...list.querySelectorAll(":scope > li > .folder")].filter((item) => open.has(item.dataset.path)).map(expand));
  }

  async function expand(item) {
    open.add(item.dataset.path);
    item.setAttribute("aria-expanded", "true");
    let group = item.nextElementSibling;
    if (group) {
      group.hidden = false;
      return;
    }
    group = el("ul", "");
    group.setAttribute("role", "group");
    item.after(group);
    await fill(group, item.dataset.path, Number(item.getAttribute("aria-level")) + 1);
  }

  function collapse(item) {
    open.delete(item.dataset.path);
    item.setAttribute("aria-expanded", "false");
    if (item.nextElementSibling) item.nextElementSibling.hidden = true;
  }

  async function toggle(item) {
    if (item.getAttribute("aria-expanded") === "true") collapse(item);
    else await expand(item);
    keep();
  }

  const items = () => [...top.querySelectorAll("[role=treeitem]")].filter((item) => !item.closest("[hidden]"));

  // focus makes an item the one that the tab key leads to.
  function focus(item) {
    if (!item) return;
    reach(item);
    item.focus();
  }

  function reach(item) {
    for (const other of top.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    item.tabIndex = 0;
  }

  const parent = (item) => item.parentElement.parentElement.previousElementSibling;

  top.addEventListener("click", (event) => {
    const item = event.target.closest(".folder");
    if (!item || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    focus(item);
    toggle(item);
  });
  top.addEventListener("keydown", (event) => {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = items();
    const at = all.indexOf(item);
    const expanded = item.getAttribute("aria-expanded");
    const does = {
      ArrowDown: () => focus(all[at + 1]),
      ArrowUp: () => focus(all[at - 1]),
      Home: () => focus(all[0]),
      End: () => focus(all[all.length - 1]),
      ArrowRight: () => (expanded === "false" ? toggle(item) : expanded && focus(all[at + 1])),
      ArrowLeft: () => (expanded === "true" ? toggle(item) : focus(parent(item))),
      " ": () => item.click(),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  addEventListener("pagehide", keep);
  return fill(top, "", 1).then(() => {
    const current = top.querySelector("[aria-current]") ?? top.querySelector("[role=treeitem]");
    if (current) reach(current);
    if (kept.top) nav.scrollTop = kept.top;
    const box = current?.getBoundingClientRect(), frame = nav.getBoundingClientRect();
    if (box && (box.top < frame.top || box.bottom > frame.bottom)) nav.scrollTop += box.top - frame.top - frame.height / 3;
  });
}

if (nav) {
  let made = null;
  const set = (on) => {
    nav.hidden = !on;
    nav.parentElement.classList.toggle("treed", on);
    opener.setAttribute("aria-expanded", String(on));
    if (on) made ??= build();
    return made;
  };
  const kept = get(localStorage, shownName);
  opener.hidden = false;
  set(matchMedia(widthAtFirst).matches && kept !== "no" || kept === "yes" && matchMedia("(min-width: 48rem)").matches);
  const toggle = async () => {
    const on = nav.hidden;
    put(localStorage, shownName, on ? "yes" : "no");
    const focused = nav.contains(document.activeElement);
    await set(on);
    if (on) nav.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
    else if (focused) opener.focus();
  };
  opener.addEventListener("click", toggle);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "e" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    toggle();
  });
}
