// The settings: sampling, the system prompt, the key. An empty field leaves the choice to the server.
import {$, h} from "./dom.js";
import {apiKey, setApiKey} from "./stream.js";

const kStored = "plait.settings";

// name in the request, label, lowest, highest, step, whole numbers only
export const kFields = [
  ["temperature", "Temperature", 0, 2, 0.05, false],
  ["top_p", "Top-p", 0, 1, 0.01, false],
  ["top_k", "Top-k", 0, 100000, 1, true],
  ["min_p", "Min-p", 0, 1, 0.01, false],
  ["max_completion_tokens", "Max tokens", 1, 1000000, 1, true],
  ["seed", "Seed", 0, 9007199254740991, 1, true],
];

// The value of a field as text: a number, nothing for "", or a sentence that says what is wrong.
export function valueOf([, label, low, high, , whole], text) {
  if (text.trim() === "") return {};
  const number = Number(text);
  if (!Number.isFinite(number) || number < low || number > high || (whole && !Number.isInteger(number))) {
    const range = high > 1e12 ? `of ${low} or more` : `from ${low} to ${high}`;
    return {fault: `${label} is ${text.trim()}, wanted a ${whole ? "whole " : ""}number ${range}.`};
  }
  return {number};
}

export class Settings {
  // `changed` is called with the new system prompt.
  constructor(store, changed) {
    this.store = store;
    this.values = {};
    const kept = store.object(kStored);
    for (const [name] of kFields) this.values[name] = typeof kept[name] === "string" ? kept[name] : "";
    this.reasoning = ["on", "off"].includes(kept.reasoning) ? kept.reasoning : "";
    this.inputs = {};
    $("#sampling").append(...kFields.map((field) => this.row(field)));
    $("#reset-sampling").addEventListener("click", () => this.reset());

    this.choice = $("#reasoning");
    this.choice.value = this.reasoning;
    this.choice.addEventListener("change", () => {
      this.reasoning = this.choice.value;
      this.save();
    });
    this.system = $("#system");
    this.system.addEventListener("change", () => changed(this.system.value));
    const key = $("#key");
    key.value = apiKey();
    const take = () => {
      if (key.value.trim() === apiKey()) return;
      setApiKey(key.value.trim());
      key.dispatchEvent(new CustomEvent("key-changed", {bubbles: true}));
    };
    key.addEventListener("change", take);
    $("#key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      take();
    });
  }

  row(field) {
    const [name, label, , , step, whole] = field;
    const fault = h("span", {class: "field-fault", id: `${name}-fault`, role: "alert"});
    const input = h("input", {id: `set-${name}`, type: "text", inputmode: whole ? "numeric" : "decimal",
      autocomplete: "off", placeholder: "default", "aria-describedby": `${name}-fault`});
    input.value = this.values[name];
    const take = () => {
      this.values[name] = input.value;
      this.mark(field);
      this.save();
    };
    input.addEventListener("input", take);
    input.addEventListener("keydown", (event) => {
      const up = {ArrowUp: 1, ArrowDown: -1}[event.key];
      const {number, fault: wrong} = valueOf(field, input.value);
      if (!up || wrong || number === undefined) return;
      event.preventDefault();
      const next = Math.min(field[3], Math.max(field[2], number + up * step));
      input.value = String(Math.round(next * 1e6) / 1e6);
      take();
    });
    this.inputs[name] = {input, fault};
    this.mark(field);
    return h("div", {class: "field"}, h("label", {for: `set-${name}`}, label), input, fault);
  }

  mark(field) {
    const {input, fault} = this.inputs[field[0]];
    const sentence = valueOf(field, input.value).fault ?? "";
    fault.textContent = sentence;
    if (sentence) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }

  save() {
    this.store.keep(kStored, {...this.values, reasoning: this.reasoning});
  }

  reset() {
    for (const field of kFields) {
      this.values[field[0]] = this.inputs[field[0]].input.value = "";
      this.mark(field);
    }
    this.reasoning = this.choice.value = "";
    this.save();
  }

  // What goes into a request; {fault} if a field has no sense.
  request() {
    const request = {};
    for (const field of kFields) {
      const {number, fault} = valueOf(field, this.values[field[0]]);
      if (fault) return {fault};
      if (number !== undefined) request[field[0]] = number;
    }
    if (this.reasoning) request.chat_template_kwargs = {enable_thinking: this.reasoning === "on"};
    return {request};
  }

  show(conversation) {
    this.system.value = conversation.system;
  }
}
