// The page: joins the list of conversations, the messages, the field to write in, the settings and the instruments.
import {write} from "./answer.js";
import {$, h, icon, notice, plural, say} from "./dom.js";
import {Instruments} from "./instruments.js";
import {addKeys} from "./keys.js";
import {plait} from "./mark.js";
import {MetricsWatch} from "./metrics.js";
import {Settings} from "./settings.js";
import {Sidebar, titleOf} from "./sidebar.js";
import {Store} from "./store.js";
import {getJson} from "./stream.js";
import {addMessage, chooseBranch, messageOf, newConversation, pathOf} from "./tree.js";
import {Turns} from "./turns.js";
import {View} from "./view.js";

class App {
  constructor() {
    this.store = new Store((sentence) => notice(sentence, "fault"));
    this.store.load();
    this.writing = null;      // The message that is being written, and where; one at a time.
    this.writingIn = null;
    this.modelName = "";
    this.conversation = null;
    this.view = new View(this.store, () => this.turns.draw());
    this.turns = new Turns(this);
    this.settings = new Settings(this.store, (system) => this.setSystem(system));
    this.sidebar = new Sidebar(this);
    this.instruments = new Instruments($("#plots"));
    this.watch = new MetricsWatch((seen) => this.instruments.metrics(seen), () => this.writing !== null);
    this.field = $("#message");
    this.store.watch((id) => this.changedElsewhere(id), () => this.writingIn?.id);
    this.wire();
    const kept = this.store.conversations.get(this.store.object("plait.current").id);
    if (kept) this.show(kept);
    else this.startNew();
    this.askModel();
  }

  get current() { return this.conversation?.id; }
  get probabilities() { return this.view.probabilities; }

  wire() {
    $("#composer").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.writing) this.stop();
      else this.send();
    });
    this.field.addEventListener("input", () => this.fitField());
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.send();
    });
    // What has been written until then is kept.
    addEventListener("pagehide", () => this.writingIn && this.store.save(this.writingIn));
    $("#new-conversation").addEventListener("click", () => this.startNew());
    $("#export-all").addEventListener("click", () => this.sidebar.exportAll());
    document.addEventListener("key-changed", () => {
      this.askModel();
      this.watch.next(0);
    });
    for (const button of document.querySelectorAll("[data-icon]")) button.prepend(icon(button.dataset.icon));
    $("#mark").append(plait(1));
    $("#welcome-mark").append(plait(6, true));
    addKeys(this);
  }

  async askModel() {
    const line = $("#model");
    try {
      const models = await getJson("v1/models");
      this.modelName = String(models.data?.[0]?.id ?? "");
      line.textContent = this.modelName;
      line.classList.remove("fault-text");
    } catch (error) {
      line.textContent = error.message;
      line.classList.add("fault-text");
      if (error.status === 401) this.askKey();
    }
    this.turns.draw();
  }

  askKey() {
    this.view.showPanel(true);
    $("#key").focus();
  }

  // The height of what is written, within reason.
  fitField() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, innerHeight * 0.4)}px`;
    this.drawSend();
  }

  drawSend() {
    const button = $("#send");
    const writing = this.writing !== null;
    button.replaceChildren(icon(writing ? "stop" : "send"), h("span", {}, writing ? "Stop" : "Send"));
    button.disabled = !writing && this.field.value.trim() === "";
    button.classList.toggle("stopping", writing);
  }

  draw() {
    this.turns.draw();
    this.sidebar.draw();
    this.drawSend();
    this.instruments.answers(pathOf(this.conversation));
    const title = titleOf(this.conversation);
    document.title = this.conversation.messages.length > 0 ? `${title} \u2013 plait` : "plait";
  }

  // Conversations.

  show(conversation) {
    this.conversation = conversation;
    this.store.keep("plait.current", {id: conversation.id});
    this.settings.show(conversation);
    this.turns.following = true;
    this.draw();
  }

  startNew() {
    const empty = this.conversation && this.conversation.messages.length === 0 && this.conversation.title === "";
    this.show(empty ? this.conversation : newConversation(this.conversation?.system ?? ""));
    this.view.closeDrawers();
    this.field.focus();
  }

  open(id) {
    const conversation = this.store.conversations.get(id);
    if (conversation && conversation !== this.conversation) this.show(conversation);
    this.view.closeDrawers();
  }

  changed(conversation) {
    this.store.save(conversation);
    if (conversation === this.conversation) this.draw();
  }

  removed(id) {
    if (this.writingIn?.id === id) this.stop();
    this.store.remove(id);
    say("The conversation was deleted");
    if (id !== this.current) return this.sidebar.draw();
    this.conversation = null;
    this.show(this.store.list()[0] ?? newConversation());
  }

  changedElsewhere(id) {
    const conversation = this.store.conversations.get(id);
    if (id === this.current && conversation) this.show(conversation);
    else this.sidebar.draw();
  }

  setSystem(system) {
    this.conversation.system = system;
    if (this.conversation.messages.length > 0) this.store.save(this.conversation);
  }

  // Messages.

  send() {
    const text = this.field.value.trim();
    if (text === "" || this.writing) return;
    if (this.answer((conversation) => addMessage(conversation, pathOf(conversation).at(-1)?.id ?? "", "user", text))) {
      this.field.value = "";
      this.fitField();
    }
  }

  regenerate(message) {
    this.answer((conversation) => messageOf(conversation, message.parent));
  }

  edit(message, text) {
    if (message.role === "user") {
      this.answer((conversation) => addMessage(conversation, message.parent, "user", text));
      return;
    }
    addMessage(this.conversation, message.parent, "assistant", text);
    this.changed(this.conversation);
  }

  branch(message, step) {
    const next = chooseBranch(this.conversation, message, step);
    if (!next) return;
    this.turns.following = false;
    this.changed(this.conversation);
    const turn = $(`li[data-id="${CSS.escape(next.id)}"]`);
    ($(`[data-step="${step}"]:enabled`, turn) ?? $("[data-step]:enabled", turn))?.focus();
    turn.scrollIntoView({block: "nearest"});
  }

  // Lets the model answer the message that `question` returns. False: not now.
  answer(question) {
    if (this.writing) return false;
    const {request, fault} = this.settings.request();
    if (fault) {
      notice(fault, "fault");
      return false;
    }
    const conversation = this.conversation;
    const message = addMessage(conversation, question(conversation).id, "assistant", "");
    this.run(conversation, message, request);
    return true;
  }

  async run(conversation, message, request) {
    const abort = new AbortController();
    this.abort = abort;
    this.writing = message;
    this.writingIn = conversation;
    conversation.updated = Date.now();
    this.store.save(conversation);
    this.turns.following = true;
    this.draw();
    say("The answer is being written");
    await write(conversation, message, request, abort.signal, (tokens) => {
      if (tokens > 0) this.instruments.count(tokens);
      this.turns.changed(message);
    });
    this.writing = this.writingIn = null;
    this.instruments.ended();
    conversation.updated = Date.now();
    if (this.store.conversations.has(conversation.id)) this.store.save(conversation);
    this.draw();
    this.watch.next(300);
    if (message.status === 401) this.askKey();
    // All at once, and not each token: a screen reader could not keep up.
    if (!message.error) say(`${plural(message.usage?.generated ?? 0, "token")}. ${message.text.slice(0, 1500)}`);
  }

  stop() {
    this.abort?.abort();
  }
}

new App();
