"""Checks of a page that run inside it: names, headings, contrast, width. Each is a function of JavaScript that returns a
list of sentences, one for each fault."""

NAMES = r"""() => {
  const faults = [];
  const visible = (node) => node.checkVisibility({visibilityProperty: true});
  const text = (node) => node.textContent.replace(/\s+/g, " ").trim();
  const named = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)).every((node) => node && text(node));
  const nameOf = (node) => {
    if (node.hasAttribute("aria-labelledby")) return named(node.getAttribute("aria-labelledby")) ? "by another" : "";
    if (node.getAttribute("aria-label")?.trim()) return node.getAttribute("aria-label");
    if (node.labels?.length) return text(node.labels[0]);
    return ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName) ? "" : text(node);
  };
  const short = (node) => node.outerHTML.slice(0, 120);
  for (const node of document.querySelectorAll("button, a[href], input, textarea, select, summary, [role=option]")) {
    if (visible(node) && !nameOf(node)) faults.push(`has no name: ${short(node)}`);
  }
  for (const node of document.querySelectorAll("nav, aside, main, section, dialog, [role=group], [role=listbox]")) {
    if (visible(node) && !nameOf(node)) faults.push(`has no name: ${short(node)}`);
    if (visible(node) && !node.hasAttribute("aria-label") && !node.hasAttribute("aria-labelledby")) {
      faults.push(`has no label: ${short(node)}`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) faults.push(`two have the id ${id}`);
  for (const name of ["aria-controls", "aria-describedby", "aria-labelledby"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) {
      for (const id of node.getAttribute(name).split(/\s+/)) {
        if (!document.getElementById(id)) faults.push(`${name} names ${id}, which is not there: ${short(node)}`);
      }
    }
  }
  for (const node of document.querySelectorAll("svg")) {
    if (node.getAttribute("aria-hidden") !== "true" && !node.getAttribute("aria-label")) {
      faults.push(`a picture without words: ${short(node)}`);
    }
  }
  for (const node of document.querySelectorAll("[aria-hidden=true]")) {
    if (node.querySelector("button, a[href], input, [tabindex='0']")) {
      faults.push(`hides what can have the focus: ${short(node)}`);
    }
  }
  for (const node of document.querySelectorAll("[tabindex]")) {
    if (node.tabIndex > 0) faults.push(`a tabindex above 0: ${short(node)}`);
  }
  let level = 0;
  for (const node of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!visible(node) || node.closest(".markdown")) continue;  // A model has its own ways.
    const own = Number(node.tagName[1]);
    if (own > level + 1) faults.push(`heading ${own} follows ${level}: ${text(node)}`);
    level = own;
  }
  for (const tag of ["h1", "main"]) if (document.querySelectorAll(tag).length !== 1) faults.push(`not one ${tag}`);
  if (!document.documentElement.lang) faults.push("the page has no language");
  return faults;
}"""

CONTRAST = r"""() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const bytesOf = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const groundOf = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(bytesOf(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
    const value = colour[i] / 255;
    return sum + part * (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  }, 0);
  const faults = [];
  for (const node of document.querySelectorAll("body *")) {
    const words = [...node.childNodes].filter((child) => child.nodeType === 3 && child.data.trim());
    if (words.length === 0 || !node.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    if (node.closest(":disabled, .unseen, .skip, option")) continue;
    const style = getComputedStyle(node);
    const ground = groundOf(node);
    const ink = over(bytesOf(style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700);
    if (ratio >= (large ? 3 : 4.5)) continue;
    faults.push(`${ratio.toFixed(2)} is too little contrast: ${words[0].data.trim().slice(0, 40)}`);
  }
  return faults;
}"""

WIDTH = r"""() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const room = document.querySelector("#scroll");
  if (room.scrollWidth > room.clientWidth) faults.push(`the messages are ${room.scrollWidth} wide of ${room.clientWidth}`);
  for (const node of document.querySelectorAll("button, input, textarea, select, .turn, .plain, .code, .table")) {
    if (!node.checkVisibility() || node.closest("pre, .table table")) continue;
    const box = node.getBoundingClientRect();
    if (box.right > width + 0.5 || box.left < -0.5) faults.push(`is outside: ${node.outerHTML.slice(0, 100)}`);
  }
  return faults;
}"""
