// The look of the pages: as the system has it, light or dark. It is set before
// anything is drawn, so this is no module.

(() => {
  const name = "trawl.theme", looks = ["auto", "light", "dark"];
  const root = document.documentElement;

  function kept() {
    try {
      const look = localStorage.getItem(name);
      return looks.includes(look) ? look : "auto";
    } catch {
      return "auto";
    }
  }

  function set(look) {
    if (look === "auto") delete root.dataset.theme;
    else root.dataset.theme = look;
  }

  set(kept());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const say = (look) => (button.textContent = `Theme: ${look}`);
    let look = kept();
    say(look);
    button.hidden = false;
    button.addEventListener("click", () => {
      look = looks[(looks.indexOf(look) + 1) % looks.length];
      set(look);
      say(look);
      try {
        localStorage.setItem(name, look);
      } catch {
        // without room for it the page has the look until it is left
      }
    });
  });
})();
