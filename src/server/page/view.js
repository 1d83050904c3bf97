// What is shown beside the chat, and how: the two panels, the theme, the colours of tokens.
import {$, say} from "./dom.js";

const kStored = "plait.view";
const kThemes = ["", "light", "dark"];
const narrow = matchMedia("(max-width: 60rem)");

export class View {
  // `redraw` is called when messages must be drawn anew.
  constructor(store, redraw) {
    this.store = store;
    const kept = store.object(kStored);
    this.probabilities = kept.probabilities === true;
    this.wide = {side: kept.side !== false, panel: kept.panel !== false};
    this.toggles = {side: $("#toggle-side"), panel: $("#toggle-panel")};
    this.parts = {side: $("#side"), panel: $("#panel")};
    this.open = {side: false, panel: false};
    for (const name of ["side", "panel"]) this.toggles[name].addEventListener("click", () => this.toggle(name));
    for (const button of document.querySelectorAll("[data-close]")) {
      button.addEventListener("click", () => this.closeDrawers(true));
    }
    $("#scrim").addEventListener("click", () => this.closeDrawers(true));
    this.colours = $("#toggle-tokens");
    this.colours.addEventListener("click", () => this.setProbabilities(!this.probabilities, redraw));
    this.setProbabilities(this.probabilities, () => {});
    this.theme = $("#theme");
    this.theme.addEventListener("click", () => this.nextTheme());
    this.setTheme(document.documentElement.dataset.theme ?? "");
    narrow.addEventListener("change", () => this.layOut());
    this.layOut();
  }

  save() {
    this.store.keep(kStored, {probabilities: this.probabilities, ...this.wide});
  }

  layOut() {
    const open = narrow.matches ? {side: false, panel: false} : this.wide;
    for (const name of ["side", "panel"]) this.set(name, open[name]);
  }

  set(name, open) {
    this.open[name] = open;
    this.parts[name].hidden = !open;
    this.toggles[name].setAttribute("aria-expanded", String(open));
    document.body.classList.toggle(`with-${name}`, open);
    // On a narrow window a panel lies over the rest, which then is out of reach.
    const over = narrow.matches && (this.open.side || this.open.panel);
    $("#scrim").hidden = !over;
    $("#chat").inert = over;
    $("#top").inert = over;
  }

  toggle(name) {
    const open = !this.open[name];
    if (narrow.matches) {
      this.set(name === "side" ? "panel" : "side", false);
      this.opener = this.toggles[name];
    } else {
      this.wide[name] = open;
      this.save();
    }
    this.set(name, open);
    if (open && narrow.matches) $("button, input", this.parts[name])?.focus();
  }

  showPanel(open) {
    if (this.open.panel !== open) this.toggle("panel");
  }

  // Returns whether there was one.
  closeDrawers(back = false) {
    if (!narrow.matches || !(this.open.side || this.open.panel)) return false;
    this.set("side", false);
    this.set("panel", false);
    if (back) this.opener?.focus();
    return true;
  }

  setProbabilities(on, redraw) {
    this.probabilities = on;
    this.colours.setAttribute("aria-pressed", String(on));
    $("#legend").hidden = !on;
    this.save();
    redraw();
  }

  nextTheme() {
    this.setTheme(kThemes[(kThemes.indexOf(document.documentElement.dataset.theme ?? "") + 1) % kThemes.length]);
    say(this.theme.getAttribute("aria-label"));
  }

  setTheme(theme) {
    const words = {"": "as the system", light: "light", dark: "dark"}[theme];
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    this.theme.setAttribute("aria-label", `Theme: ${words}`);
    this.theme.title = `Theme: ${words}`;
    try {
      localStorage.setItem("plait.theme", theme);
    } catch {
      // Then it holds for this visit.
    }
  }
}
