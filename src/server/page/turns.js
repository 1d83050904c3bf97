// The messages of the chosen branch, one list item each.
import {$, copyButton, h, icon, iconButton, plural} from "./dom.js";
import {renderMarkdown} from "./markdown.js";
import {TokenView} from "./tokens.js";
import {branchOf, pathOf} from "./tree.js";

const kFinish = {length: "cut off at the most tokens", stopped: "stopped by you"};

function summaryOf(message) {
  const {usage, finish} = message;
  const parts = [];
  if (usage) {
    parts.push(plural(usage.generated, "token"));
    if (usage.seconds > 0 && usage.generated > 1) parts.push(`${((usage.generated - 1) / usage.seconds).toFixed(1)}/s`);
    if (usage.firstToken > 0) parts.push(`first after ${usage.firstToken.toFixed(2)} s`);
    if (usage.prompt > 0) parts.push(`prompt ${usage.prompt}, ${usage.cached} reused`);
  }
  if (kFinish[finish]) parts.push(kFinish[finish]);
  return parts.join(" \u00b7 ");
}

export class Turns {
  // `app` has: conversation, probabilities, modelName, writing (the message that is being written),
  // branch(message, step), edit(message, text), regenerate(message).
  constructor(app) {
    this.app = app;
    this.list = $("#turns");
    this.views = new Map();  // By id of the message: the nodes that change while it grows.
    this.pending = new Set();
    this.room = $("#scroll");
    this.following = true;
    this.room.addEventListener("scroll", () => {
      this.following = this.room.scrollHeight - this.room.scrollTop - this.room.clientHeight < 60;
    });
  }

  draw() {
    $("#tip").hidden = true;
    this.views.clear();
    const path = this.app.conversation ? pathOf(this.app.conversation) : [];
    this.list.replaceChildren(...path.map((message) => this.turn(message)));
    $("#welcome").hidden = path.length > 0;
    this.follow();
  }

  // To the end, and stay there.
  toEnd() {
    this.following = true;
    this.follow();
  }

  follow() {
    if (this.following) this.room.scrollTop = this.room.scrollHeight;
  }

  turn(message) {
    const user = message.role === "user";
    const who = user ? "You" : this.app.modelName || "Answer";
    const body = h("div", {class: "body"});
    const foot = h("div", {class: user ? "" : "foot"});
    const view = {message, body, foot};
    const head = h("div", {class: "turn-head"}, h("h2", {class: "who"}, who), this.branches(message));
    view.node = h("li", {class: `turn ${message.role}`, "data-id": message.id},
      h("span", {class: "knot", "aria-hidden": "true"}), head, body);
    // Those of a question are short, and stand beside its name.
    (user ? head : view.node).append(foot);
    this.views.set(message.id, view);
    this.fill(view);
    return view.node;
  }

  branches(message) {
    const {index, count} = branchOf(this.app.conversation, message);
    if (count < 2) return null;
    const still = this.app.writing !== null;
    const step = (name, label, by) => iconButton(name, label, () => this.app.branch(message, by),
      {disabled: still || index + by < 0 || index + by >= count, "data-step": by});
    return h("span", {class: "branches", role: "group", "aria-label": `Branch ${index + 1} of ${count}`},
      step("left", "Branch before this one", -1), h("span", {class: "number"}, `${index + 1}/${count}`),
      step("right", "Branch after this one", 1));
  }

  fill(view) {
    const {message, body} = view;
    const writing = this.app.writing === message;
    view.node.classList.toggle("writing", writing);
    if (message.role === "user") {
      body.replaceChildren(h("div", {class: "plain"}, message.text));
    } else if (this.app.probabilities && message.tokens?.length) {
      if (!view.tokens || view.tokens.tokens !== message.tokens || !view.tokens.node.isConnected) {
        view.tokens = new TokenView(message.tokens);
        view.markdown = null;
        body.replaceChildren(view.tokens.node);
      }
      view.tokens.grow();
    } else {
      this.fillText(view, writing);
    }
    this.fillFoot(view, writing);
  }

  fillText(view, writing) {
    const {message, body} = view;
    if (!view.markdown) {
      view.tokens = null;
      view.thoughts = h("div", {class: "thoughts"});
      view.thinking = h("summary", {}, "Reasoning");
      view.reasoning = h("details", {class: "reasoning"}, view.thinking, view.thoughts);
      view.markdown = h("div", {class: "markdown"});
      view.wait = h("p", {class: "wait"}, h("i"), h("i"), h("i"), h("span"));
      body.replaceChildren(view.reasoning, view.markdown, view.wait);
    }
    view.reasoning.hidden = !message.reasoning;
    if (message.reasoning) {
      const busy = writing && !message.text;
      view.thinking.textContent = busy ? "Reasoning \u2026" : "Reasoning";
      renderMarkdown(view.thoughts, message.reasoning);
    }
    view.wait.hidden = !writing || Boolean(message.text || message.reasoning);
    const {processed, total} = message.progress ?? {};
    view.wait.lastChild.textContent = total > 0 ? `Reading the prompt, ${processed} of ${total} tokens`
      : "Reading the prompt";
    renderMarkdown(view.markdown, message.text);
  }

  fillFoot(view, writing) {
    const {message, foot} = view;
    if (writing) {
      if (foot.childNodes.length > 0) foot.replaceChildren();
      return;
    }
    const nodes = [];
    if (message.error) {
      nodes.push(h("div", {class: "fault", role: "alert"}, h("p", {}, message.error),
        h("button", {type: "button", onclick: () => this.app.regenerate(message)}, "Try again")));
    }
    const still = this.app.writing !== null;
    const summary = summaryOf(message);
    const tools = h("div", {class: "tools", role: "group", "aria-label": "This message"},
      summary && h("span", {class: "summary"}, summary),
      copyButton("Copy this message", () => message.text),
      iconButton("edit", message.role === "user" ? "Edit and send as a new branch" : "Edit as a new branch",
        () => this.edit(view), {disabled: still}),
      message.role === "assistant" && iconButton("redo", "Answer again as a new branch",
        () => this.app.regenerate(message), {disabled: still}));
    foot.replaceChildren(...nodes, tools);
  }

  edit(view) {
    const {message, body, foot} = view;
    const user = message.role === "user";
    const area = h("textarea", {class: "edit", rows: "3", "aria-label": "Edit the message"});
    area.value = message.text;
    const fit = () => {
      area.style.height = "auto";
      area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight / 2)}px`;
    };
    const cancel = () => {
      view.markdown = view.tokens = null;
      this.fill(view);
      $("[aria-label^='Edit']", foot)?.focus();
    };
    const done = () => {
      const text = area.value.trim();
      if (text === "" || text === message.text) cancel();
      else this.app.edit(message, text);
    };
    area.addEventListener("input", fit);
    area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        cancel();
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && user) {
        event.preventDefault();
        done();
      }
    });
    body.replaceChildren(area);
    foot.replaceChildren(h("div", {class: "edit-tools"},
      h("button", {type: "button", class: "primary", onclick: done}, icon("check"), user ? "Send" : "Keep"),
      h("button", {type: "button", onclick: cancel}, "Cancel"),
      h("span", {class: "summary"}, "The message as it was stays on its branch.")));
    fit();
    area.focus();
  }

  // A message has grown or ended: drawn with the next frame, whatever comes until then.
  changed(message) {
    if (this.pending.size === 0) requestAnimationFrame(() => this.flush());
    this.pending.add(message);
  }

  flush() {
    for (const message of this.pending) {
      const view = this.views.get(message.id);
      if (view) this.fill(view);
    }
    this.pending.clear();
    this.follow();
  }
}
