// Keyboard shortcuts, and the dialog that lists them.
import {$, h} from "./dom.js";
import {pathOf} from "./tree.js";

// Words for the dialog; the keys of those with a code are held with Alt, and are the same on all layouts.
const kKeys = [
  ["Enter", "Send the message"],
  ["Shift + Enter", "A new line"],
  ["Esc", "Stop the answer, or close what is open"],
  ["Alt + N", "New conversation", "KeyN", (app) => app.startNew()],
  ["Alt + R", "Answer again as a new branch", "KeyR", (app) => again(app)],
  ["Alt + U", "Edit your last message", "KeyU", () => editLast()],
  ["Alt + P", "Colour tokens by probability", "KeyP", () => $("#toggle-tokens").click()],
  ["Alt + C", "Conversations", "KeyC", () => $("#toggle-side").click()],
  ["Alt + I", "Instruments and settings", "KeyI", () => $("#toggle-panel").click()],
  ["Alt + M", "To the message field", "KeyM", (app) => app.field.focus()],
  ["Alt + K", "This list", "KeyK", () => $("#keys").showModal()],
  ["\u2190 \u2192 \u2191 \u2193", "From token to token, while they are coloured"],
];

const editLast = () => [...document.querySelectorAll(".turn.user .tools [aria-label^='Edit']")].at(-1)?.click();

function again(app) {
  const last = pathOf(app.conversation).at(-1);
  if (last?.role === "assistant") app.regenerate(last);
}

export function addKeys(app) {
  $("#key-list").append(...kKeys.map(([keys, words]) =>
    h("tr", {}, h("th", {scope: "row"}, h("kbd", {}, keys)), h("td", {}, words))));
  $("#show-keys").addEventListener("click", () => $("#keys").showModal());
  $("#close-keys").addEventListener("click", () => $("#keys").close());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !$("#keys").open) {
      if (!app.view.closeDrawers(true)) app.stop();
      return;
    }
    if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.repeat || $("#keys").open) return;
    const found = kKeys.find(([, , code]) => code === event.code);
    if (!found) return;
    event.preventDefault();
    found[3](app);
  });
}
