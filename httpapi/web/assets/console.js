// The GraphQL console: GraphiQL with the session of its user. What
// is in the editor stands in the fragment of the address, which no server sees.

import { base } from "./dom.js";

const { React, ReactDOM, GraphiQL } = window;
const nonce = document.querySelector("script[nonce]").nonce;
const asked = new URLSearchParams(location.search);

// GraphiQL makes styles for its dialogs; this is how the policy knows them.
window.__webpack_nonce__ = nonce;

const welcome = `query Start {
  currentUser {
    username
  }
  repositories(first: 1) {
    nodes {
      name
    }
  }
}
# Ctrl+Enter runs a query, Ctrl+Space completes one.
# The documentation of all fields is at the left.
`;

// parameters of the page become headers of its requests.
function headers() {
  const out = { "Content-Type": "application/json", "X-Requested-With": "trawl GraphQL Explorer" };
  if (asked.get("trace")) out["X-Sourcegraph-Should-Trace"] = "true";
  const features = asked.getAll("feat");
  if (features.length) out["X-Sourcegraph-Override-Feature"] = features.join(",");
  return out;
}

// fetcher sends a request. What is no JSON is shown as it is.
async function fetcher(request, options) {
  const response = await fetch(base + "/.api/graphql", {
    method: "POST", headers: { ...headers(), ...options?.headers }, body: JSON.stringify(request),
  });
  document.getElementById("signed-out").hidden = response.status !== 401;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

// fromAddress reads the fragment; one that is not ours says nothing.
function fromAddress() {
  try {
    const { query, variables, operationName } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    return { query, variables: pretty(variables), operationName };
  } catch {
    return {};
  }
}

function pretty(variables) {
  try {
    return JSON.stringify(JSON.parse(variables), null, 2);
  } catch {
    return variables;
  }
}

let shown = fromAddress();
let writing = 0;

// edited keeps the address in step, half a second behind.
function edited(change) {
  shown = { ...shown, ...change };
  clearTimeout(writing);
  writing = setTimeout(() => {
    const state = Object.fromEntries(Object.entries(shown).filter(([, value]) => value));
    history.replaceState(null, "", location.pathname + location.search + "#" + encodeURIComponent(JSON.stringify(state)));
  }, 500);
}

// The documentation is open until the user closes it.
const storageKey = "graphiql:visiblePlugin";
if (localStorage.getItem(storageKey) === null) localStorage.setItem(storageKey, "Documentation Explorer");

const examples = [...document.querySelectorAll("template[data-example]")].map((template) => ({
  query: template.content.textContent,
  variables: template.dataset.variables,
}));

const root = ReactDOM.createRoot(document.getElementById("console"));

function render() {
  root.render(React.createElement(GraphiQL, {
    fetcher,
    defaultQuery: welcome,
    defaultTabs: [{ query: welcome }, ...examples],
    defaultEditorToolsVisibility: true,
    ...(shown.query === undefined ? {} : { query: shown.query, variables: shown.variables ?? "", operationName: shown.operationName }),
    onEditQuery: (query) => edited({ query }),
    onEditVariables: (variables) => edited({ variables }),
    onEditOperationName: (operationName) => edited({ operationName }),
  }));
}

// An example, or a link that was pasted: GraphiQL takes it if it differs from
// what it was given, so it is first given what it shows.
window.addEventListener("hashchange", () => {
  ReactDOM.flushSync(render);
  clearTimeout(writing);
  shown = fromAddress();
  render();
});

// names are those of GraphiQL's editors, for readers of screens.
const names = { "graphiql-query-editor": "Query", "result-window": "Result", "graphiql-editor-tool": "Variables and headers" };

// name adds what GraphiQL leaves out for readers of screens: names of editors, and tabs as
// the buttons that they are, since those within a tab have no role.
function name(box) {
  for (const area of box.querySelectorAll(".CodeMirror textarea:not([aria-label])")) {
    const within = Object.keys(names).find((kind) => area.closest(`.${kind}`));
    area.ariaLabel = names[within] ?? "Editor";
  }
  for (const scroll of box.querySelectorAll('.CodeMirror-scroll[tabindex="-1"]')) scroll.tabIndex = 0;
  for (const list of box.querySelectorAll(".graphiql-tabs[role=tablist]")) list.role = "group";
  for (const tab of box.querySelectorAll(".graphiql-tab[role=tab], .graphiql-tab[aria-selected]")) {
    const button = tab.querySelector(".graphiql-tab-button");
    if (button) button.ariaCurrent = String(tab.ariaSelected === "true");
    tab.ariaSelected = null;
    tab.role = "none";
  }
}

const parts = document.getElementById("console");
new MutationObserver(() => name(parts)).observe(parts, { subtree: true, childList: true, attributes: true, attributeFilter: ["role", "aria-selected", "tabindex"] });

render();
