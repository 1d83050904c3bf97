// The list of conversations: choose, rename, export, delete.
import {$, h, iconButton, notice} from "./dom.js";

export const titleOf = (conversation) => {
  if (conversation.title) return conversation.title;
  const first = conversation.messages.find((message) => message.role === "user")?.text.trim() ?? "";
  const line = first.split("\n")[0];
  return line ? (line.length > 60 ? `${line.slice(0, 59)}\u2026` : line) : "New conversation";
};

export function saveFile(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  const anchor = h("a", {href: url, download: name});
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const fileName = (title) =>
  `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40) || "chat"}.json`;

const asFile = (conversation) =>
  JSON.stringify({format: "plait conversation", version: 1, ...conversation}, null, 1);

const day = (time) => {
  const date = new Date(time);
  const today = new Date().toDateString() === date.toDateString();
  return today ? date.toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"})
    : date.toLocaleDateString([], {day: "numeric", month: "short"});
};

export class Sidebar {
  // `app` has: store, current (id), open(id), changed(conversation), removed(id).
  constructor(app) {
    this.app = app;
    this.list = $("#conversations");
    this.editing = null;
  }

  draw() {
    if (this.editing) return;  // Not below the user's hands.
    const conversations = this.app.store.list().filter((conversation) => conversation.messages.length > 0 ||
      conversation.title !== "" || conversation.id === this.app.current);
    const focused = document.activeElement?.closest?.("#conversations li")?.dataset.id;
    this.list.replaceChildren(...conversations.map((conversation) => this.row(conversation)));
    if (focused) $(`li[data-id="${CSS.escape(focused)}"] .conversation`, this.list)?.focus();
  }

  row(conversation) {
    const title = titleOf(conversation);
    const current = conversation.id === this.app.current;
    const row = h("li", {"data-id": conversation.id, class: current ? "current" : null},
      h("button", {type: "button", class: "conversation", "aria-current": current ? "true" : null,
        onclick: () => this.app.open(conversation.id)},
      h("span", {class: "conversation-title"}, title),
      h("span", {class: "conversation-day"}, day(conversation.updated))),
      h("span", {class: "row-tools"},
        iconButton("edit", `Rename \u201c${title}\u201d`, () => this.rename(row, conversation)),
        iconButton("save", `Export \u201c${title}\u201d as JSON`, () =>
          saveFile(fileName(title), asFile(conversation))),
        iconButton("trash", `Delete \u201c${title}\u201d`, (event) => this.remove(event.currentTarget, conversation))));
    return row;
  }

  rename(row, conversation) {
    const input = h("input", {class: "rename", type: "text", maxlength: "200",
      "aria-label": "Name of the conversation"});
    input.value = titleOf(conversation);
    this.editing = conversation.id;
    const end = (keep) => {
      if (!this.editing) return;
      this.editing = null;
      if (keep) {
        conversation.title = input.value.trim();
        this.app.changed(conversation);
      }
      this.draw();
      $(`li[data-id="${CSS.escape(conversation.id)}"] .conversation`, this.list)?.focus();
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        end(event.key === "Enter");
      }
    });
    input.addEventListener("blur", () => end(true));
    row.replaceChildren(input);
    input.select();
  }

  // The first press asks, the second deletes.
  remove(button, conversation) {
    if (button.dataset.sure) {
      this.app.removed(conversation.id);
      $("#new-conversation").focus();
      return;
    }
    button.dataset.sure = "yes";
    button.replaceChildren("Delete?");
    button.setAttribute("aria-label", `Delete \u201c${titleOf(conversation)}\u201d: press again to delete`);
    button.addEventListener("blur", () => this.draw(), {once: true});
  }

  exportAll() {
    const conversations = this.app.store.list().filter((conversation) => conversation.messages.length > 0);
    if (conversations.length === 0) return notice("There is no conversation to export.");
    const all = {format: "plait conversations", version: 1, conversations};
    saveFile("plait-conversations.json", JSON.stringify(all, null, 1));
  }
}
