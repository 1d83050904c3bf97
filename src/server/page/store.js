// What the browser keeps: one entry of localStorage for each conversation, one for the settings, one for the view.
// Nothing here may fail: where there is no storage, or it is full or damaged, the page goes on without.
import {checked} from "./tree.js";

const kPrefix = "plait.conversation.";
const kMostCharacters = 4_500_000;  // Of all conversations together; browsers give about five million.

export class Store {
  // `complain` is called with a sentence for the user.
  constructor(complain) {
    this.complain = complain;
    this.conversations = new Map();
    this.sizes = new Map();
    this.complained = new Set();
  }

  warn(sentence) {
    if (!this.complained.has(sentence)) this.complain(sentence);
    this.complained.add(sentence);
  }

  read(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  // An object that was kept under a key, or `{}`.
  object(key) {
    try {
      const value = JSON.parse(this.read(key) ?? "{}");
      return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
    } catch {
      return {};
    }
  }

  keep(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  load() {
    let keys = [];
    try {
      keys = Object.keys(localStorage).filter((key) => key.startsWith(kPrefix));
    } catch {
      this.warn("This browser keeps nothing for this page: conversations end with it.");
    }
    let damaged = 0;
    for (const key of keys) if (!this.take(key, this.read(key))) ++damaged;
    if (damaged > 0) {
      this.warn(damaged === 1 ? "One kept conversation is damaged and was left out."
        : `${damaged} kept conversations are damaged and were left out.`);
    }
  }

  take(key, text) {
    let conversation = null;
    try {
      conversation = checked(JSON.parse(text));
    } catch {
      // Damaged: not JSON.
    }
    if (!conversation || key !== kPrefix + conversation.id) return false;
    this.conversations.set(conversation.id, conversation);
    this.sizes.set(conversation.id, text.length);
    return true;
  }

  // The latest first.
  list() {
    return [...this.conversations.values()].sort((a, b) => b.updated - a.updated);
  }

  // Keeps a conversation. If there is no room, the probabilities of the oldest ones are given up first, then its own.
  save(conversation) {
    this.conversations.set(conversation.id, conversation);
    if (this.put(conversation)) return;
    const others = this.list().reverse().filter((other) => other !== conversation);
    for (const other of [...others, conversation]) {
      if (!other.messages.some((message) => message.tokens)) continue;
      for (const message of other.messages) delete message.tokens;
      this.put(other);
      if (this.put(conversation)) {
        this.warn("The browser's storage is full: the token probabilities of old answers were given up.");
        return;
      }
    }
    this.warn("The browser's storage is full: this conversation is kept only while the page is open. Deleting others " +
      "makes room; exporting keeps a copy.");
  }

  put(conversation) {
    const text = JSON.stringify(conversation);
    const before = this.sizes.get(conversation.id) ?? 0;
    const all = [...this.sizes.values()].reduce((sum, size) => sum + size, 0) - before + text.length;
    if (all > kMostCharacters && text.length > before) return false;
    try {
      localStorage.setItem(kPrefix + conversation.id, text);
    } catch {
      return false;
    }
    this.sizes.set(conversation.id, text.length);
    return true;
  }

  remove(id) {
    this.conversations.delete(id);
    this.sizes.delete(id);
    try {
      localStorage.removeItem(kPrefix + id);
    } catch {
      // Then nothing was kept either.
    }
  }

  // Calls back with an id when another window of this page has changed a conversation. `busy` names the one to leave.
  watch(changed, busy) {
    addEventListener("storage", (event) => {
      if (!event.key?.startsWith(kPrefix)) return;
      const id = event.key.slice(kPrefix.length);
      if (id === busy()) return;
      if (event.newValue === null) {
        this.conversations.delete(id);
        this.sizes.delete(id);
      } else if (!this.take(event.key, event.newValue)) {
        return;
      }
      changed(id);
    });
  }
}
