// Building DOM nodes: text goes in as text, never as markup.

export const $ = (selector, root = document) => root.querySelector(selector);

// h("button", {class: "quiet", type: "button", onclick: f, "aria-label": "Copy"}, "Copy", icon("copy"))
// A property with the value null, undefined or false is left out; true is an attribute without a value.
export function h(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const kSvg = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

// Strokes on a square of 16.
const kIcons = {
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h7",
  plus: "M8 3v10M3 8h10",
  edit: "M3 13l.7-3L10.6 3.1a1.2 1.2 0 0 1 1.7 0l.6.6a1.2 1.2 0 0 1 0 1.7L6 12.3z",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  redo: "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.8 2.5v3h-3",
  left: "M9.8 4L5.8 8l4 4",
  right: "M6.2 4l4 4-4 4",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9",
  save: "M8 2.5v7M5 6.8L8 9.8l3-3M3 13h10",
  send: "M8 13V3.5M4 7.3L8 3.3l4 4",
  stop: "M4.5 4.5h7v7h-7z",
  check: "M3.5 8.5l3 3 6-7",
  close: "M4 4l8 8M12 4l-8 8",
  panel: "M2.5 13.5v-3M6.2 13.5v-7M9.8 13.5v-5M13.5 13.5v-11",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  keys: "M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.5h6",
  tokens: "M2 5.5h4.5v5H2zM9.5 5.5H14v5H9.5zM6.5 8h3",
};

export function icon(name) {
  return svg("svg", {class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false"},
    svg("path", {d: kIcons[name]}));
}

// A button that shows an icon and says `label` to those who cannot see it.
export function iconButton(name, label, onclick, more = {}) {
  return h("button", {type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...more},
    icon(name));
}

// Browsers give the clipboard to pages of a secure origin only; the old way still works on others.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", {class: "unseen", "aria-hidden": "true", tabindex: "-1"});
    const before = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    before?.focus();
    return done;
  }
}

export function copyButton(label, text) {
  const button = iconButton("copy", label, async () => {
    const done = await copyText(text());
    button.replaceChildren(icon(done ? "check" : "close"));
    say(done ? "Copied" : "The browser did not allow copying");
    setTimeout(() => button.replaceChildren(icon("copy")), 1500);
  });
  return button;
}

// Says a sentence to screen readers, once.
export function say(sentence) {
  const region = $("#spoken");
  region.textContent = "";
  setTimeout(() => { region.textContent = sentence; }, 50);
}

// Shows a sentence for a while, and says it. `kind`: "note" or "fault".
export function notice(sentence, kind = "note") {
  const box = h("div", {class: `notice ${kind}`}, h("span", {}, sentence),
    iconButton("close", "Dismiss", () => box.remove()));
  $("#notices").append(box);
  if (kind === "note") setTimeout(() => box.remove(), 8000);
}

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
