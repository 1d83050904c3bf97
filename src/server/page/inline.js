// Emphasis, code, links and line breaks within a block of Markdown.
import {h} from "./dom.js";

const kMostOpen = 32;    // Runs that may wait for their end: so deep may emphasis be within itself.
const kMostScan = 2000;  // Characters that are looked at for the end of a link.
const kPunctuation = /[!-/:-@[-`{-~\u2010-\u2027\u3001-\u3003]/;

// What may be linked to: an absolute address of the web. Null for all else, scripts and data among it.
export function safeUrl(text) {
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return null;
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

function link(url, children, title) {
  return h("a", {href: url, title, target: "_blank", rel: "noopener noreferrer nofollow"}, ...children);
}

// The position of the bracket that closes the one at `open`, or -1.
function closing(text, open, pair) {
  let depth = 0;
  for (let i = open; i < text.length && i < open + kMostScan; ++i) {
    if (text[i] === "\\") ++i;
    else if (text[i] === pair[0]) ++depth;
    else if (text[i] === pair[1] && --depth === 0) return i;
  }
  return -1;
}

// [label](address "title") at `at`: the node, and where it ends. An address that is not to be followed stays text.
function takeLink(text, at, inLink) {
  const open = text[at] === "!" ? at + 1 : at;
  const close = closing(text, open, "[]");
  if (close < 0 || text[close + 1] !== "(") return null;
  const end = closing(text, close + 1, "()");
  if (end < 0) return null;
  const parts = /^\s*(?:<([^<>\n]*)>|(\S*))(?:\s+["'(]([^]*)["')])?\s*$/.exec(text.slice(close + 2, end));
  const url = parts && safeUrl(parts[1] ?? parts[2]);
  if (!url || inLink) return null;
  const label = text.slice(open + 1, close);
  // A picture of elsewhere is not fetched: its description leads there.
  const children = open === at ? inline(label, true) : [label || "picture"];
  return {node: link(url, children.length ? children : [url], parts[3]), end: end + 1};
}

function takeCode(text, at) {
  const ticks = /^`+/.exec(text.slice(at, at + 64))[0];
  for (let i = text.indexOf(ticks, at + ticks.length); i >= 0; i = text.indexOf(ticks, i)) {
    let after = i;
    while (text[after] === "`") ++after;
    if (after - i === ticks.length) {
      const code = text.slice(at + ticks.length, i).replace(/\n/g, " ");
      const bare = /^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code;
      return {node: h("code", {}, bare), end: after};
    }
    i = after;
  }
  return {text: ticks, end: at + ticks.length};
}

// https://... as it stands, without the marks that end a sentence.
function takeAddress(text, at) {
  const found = /^https?:\/\/[^\s<>"'`\\]+/.exec(text.slice(at, at + kMostScan));
  if (!found) return null;
  let address = found[0].replace(/[.,;:!?*_~\]]+$/, "");
  if (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
  const url = safeUrl(address);
  return url && {node: link(url, [address]), end: at + address.length};
}

// A run of *, _ or ~ and whether it may begin or end something.
function takeRun(text, at) {
  const mark = text[at];
  let end = at;
  while (text[end] === mark) ++end;
  const before = text[at - 1] ?? " ";
  const after = text[end] ?? " ";
  const left = !/\s/.test(after) && (!kPunctuation.test(after) || /\s/.test(before) || kPunctuation.test(before));
  const right = !/\s/.test(before) && (!kPunctuation.test(before) || /\s/.test(after) || kPunctuation.test(after));
  const inWord = mark === "_" && left && right;
  const opens = left && (!inWord || kPunctuation.test(before));
  return {mark, count: end - at, opens, closes: right && (!inWord || kPunctuation.test(after)), end};
}

// Text to a list of strings, nodes and runs.
function scan(text, inLink) {
  const items = [];
  let plain = "";
  const push = (item) => {
    if (plain) items.push(plain);
    plain = "";
    items.push(item);
  };
  for (let at = 0; at < text.length;) {
    const c = text[at];
    let taken = null;
    if (c === "\\" && kPunctuation.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    if (c === "`") taken = takeCode(text, at);
    else if (c === "[" || (c === "!" && text[at + 1] === "[")) taken = takeLink(text, at, inLink);
    else if (c === "\n") taken = {node: h("br"), end: at + 1};
    else if (c === "h" && !inLink && !/\w/.test(text[at - 1] ?? "")) taken = takeAddress(text, at);
    else if (c === "*" || c === "_" || c === "~") taken = takeRun(text, at);
    if (taken?.mark) push(taken);
    else if (taken?.node) push(taken.node);
    else plain += taken?.text ?? c;
    at = taken?.end ?? at + 1;
  }
  if (plain) items.push(plain);
  return items;
}

const element = (mark, count) => (mark === "~" ? "del" : count === 2 ? "strong" : "em");

// Pairs runs, the innermost first, as CommonMark does: each closing one with the nearest that may open it.
function pair(items) {
  const stack = [];  // Indices of runs that may still open something.
  for (let i = 0; i < items.length; ++i) {
    const closer = items[i];
    if (!closer?.mark) continue;
    while (closer.closes && closer.count > 0) {
      const fits = (run) => run.mark === closer.mark && (run.mark !== "~" || run.count >= 2);
      let s = stack.length - 1;
      while (s >= 0 && !fits(items[stack[s]])) --s;
      if (s < 0 || (closer.mark === "~" && closer.count < 2)) break;
      const open = stack[s];
      const opener = items[open];
      const count = opener.count >= 2 && closer.count >= 2 ? 2 : 1;
      const inner = items.slice(open + 1, i).flatMap((item) => item ?? []).map(asNode);
      items.fill(null, open + 1, i);
      items[open + 1] = h(element(closer.mark, count), {}, ...inner);
      opener.count -= count;
      closer.count -= count;
      stack.length = opener.count > 0 ? s + 1 : s;
    }
    if (closer.opens && closer.count > 0) stack.push(i);
    if (stack.length > kMostOpen) stack.shift();
  }
  return items;
}

const asNode = (item) => (item.mark ? item.mark.repeat(item.count) : item);

export function inline(text, inLink = false) {
  return pair(scan(text, inLink)).filter((item) => item !== null).map(asNode).filter((item) => item !== "");
}
