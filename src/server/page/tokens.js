// Tokens of an answer, coloured by probability; the alternatives of one are shown on hover and on keyboard focus.
import {$, h} from "./dom.js";

// Lower bounds of the colours, the surest first. The colours are in chat.css.
export const kLevels = [0.9, 0.6, 0.3, 0.1, 0.02, 0];

const levelOf = (logprob) => kLevels.findIndex((bound) => Math.exp(logprob) >= bound);

export function percent(logprob) {
  const p = Math.exp(logprob) * 100;
  return `${p >= 99.95 ? 100 : p >= 9.95 ? p.toFixed(0) : p >= 0.1 ? p.toFixed(1) : "< 0.1"} %`;
}

// White space made visible, for a token that stands alone.
export function shown(text) {
  if (text === "") return "(no text)";
  return text.replace(/ /g, "\u2423").replace(/\n/g, "\u21b5").replace(/\t/g, "\u21e5");
}

const spoken = (text) => (text === "" ? "no text" : text.trim() === "" ? "white space" : text.trim());

// Of a choice as the server tells it: [text, logprob, [[text, logprob], ...]], in few digits, since it is kept.
export function tokenOf(entry) {
  const short = (value) => Math.round(Math.max(Number(value) || 0, -99) * 1e4) / 1e4;
  const text = (value) => (typeof value === "string" ? value : "");
  const others = Array.isArray(entry.top_logprobs) ? entry.top_logprobs : [];
  return [text(entry.token), short(entry.logprob), others.map((other) => [text(other.token), short(other.logprob)])];
}

// A view of a growing list of tokens. One stop of the tab key; arrow keys go from token to token.
export class TokenView {
  constructor(tokens) {
    this.tokens = tokens;
    this.count = 0;
    this.node = h("div", {class: "tokens", role: "listbox", "aria-label": "Tokens by probability",
      "aria-orientation": "horizontal"});
    const at = (event) => event.target.closest?.(".token");
    this.node.addEventListener("mouseover", (event) => this.open(at(event)));
    this.node.addEventListener("mouseleave", () => this.close());
    this.node.addEventListener("focusin", (event) => this.open(at(event)));
    this.node.addEventListener("focusout", () => this.close());
    this.node.addEventListener("click", (event) => this.move(at(event)));
    this.node.addEventListener("keydown", (event) => this.key(event, at(event)));
    this.grow();
  }

  grow() {
    for (; this.count < this.tokens.length; ++this.count) {
      const [text, logprob] = this.tokens[this.count];
      // What ends a line is shown, and ends it.
      const visible = text === "" ? "\u2205" : text.replace(/\n/g, "\u21b5\n");
      this.node.append(h("span", {class: `token p${levelOf(logprob)}`, role: "option", "aria-selected": "false",
        tabindex: this.count === 0 ? "0" : "-1", "data-index": this.count,
        "aria-label": `${spoken(text)}, ${percent(logprob)}`}, visible));
    }
  }

  move(token) {
    if (!token) return;
    const before = $("[tabindex='0']", this.node);
    before?.setAttribute("tabindex", "-1");
    token.setAttribute("tabindex", "0");
    token.focus();
  }

  key(event, token) {
    const all = this.node.children;
    const index = Number(token?.dataset.index ?? 0);
    const to = {ArrowRight: index + 1, ArrowLeft: index - 1, ArrowDown: index + 10, ArrowUp: index - 10, Home: 0,
      End: all.length - 1}[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.move(all[Math.min(Math.max(to, 0), all.length - 1)]);
  }

  open(token) {
    if (!token) return;
    this.close();
    const [text, logprob, others] = this.tokens[Number(token.dataset.index)];
    $("#tip").replaceChildren(...tipRows(text, logprob, others));
    token.setAttribute("aria-describedby", "tip");
    token.classList.add("open");
    this.opened = token;
    place($("#tip"), token);
  }

  close() {
    this.opened?.removeAttribute("aria-describedby");
    this.opened?.classList.remove("open");
    this.opened = null;
    $("#tip").hidden = true;
  }
}

function tipRows(text, logprob, others) {
  const among = others.some(([other, value]) => other === text && Math.abs(value - logprob) < 1e-3);
  const rows = among ? others : [...others, [text, logprob]];
  let marked = false;
  return [h("p", {class: "tip-head"}, h("code", {}, shown(text)), ` was chosen at ${percent(logprob)}`),
    h("table", {}, h("tbody", {}, ...rows.map(([other, value]) => {
      const chosen = !marked && other === text && Math.abs(value - logprob) < 1e-3;
      marked ||= chosen;
      const bar = h("span", {class: "bar"});
      bar.style.width = `${(Math.exp(value) * 100).toFixed(1)}%`;
      return h("tr", {class: chosen ? "chosen" : null}, h("th", {scope: "row"}, shown(other)),
        h("td", {class: "bar-cell", "aria-hidden": "true"}, bar), h("td", {class: "number"}, percent(value)));
    })))];
}

// Below the token, or above it where there is no room; inside the window.
function place(tip, token) {
  tip.hidden = false;
  const box = token.getClientRects()[0] ?? token.getBoundingClientRect();
  const below = box.bottom + 6 + tip.offsetHeight <= innerHeight;
  tip.style.top = `${below ? box.bottom + 6 : Math.max(4, box.top - 6 - tip.offsetHeight)}px`;
  tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
}
