// Markdown to DOM nodes, block by block. Text of a model becomes text nodes and a few known elements; HTML in it stays
// text.
import {copyButton, h} from "./dom.js";
import {inline} from "./inline.js";

const kDeepest = 8;  // Quotes and lists within each other; deeper ones are text.
const kFence = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;
const kHeading = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const kRule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const kQuote = /^ {0,3}> ?/;
const kItem = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}(?=\S)|[ \t]*$| )/;
const kTableLine = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const kBlank = /^[ \t]*$/;

const indentOf = (line) => line.length - line.trimStart().length;

// The cells of a line of a table; "\|" is no border.
function cellsOf(line) {
  const cells = [];
  let cell = "";
  const inner = line.trim().replace(/^\|/, "");
  for (let i = 0; i < inner.length; ++i) {
    if (inner[i] === "\\" && inner[i + 1] === "|") cell += inner[++i];
    else if (inner[i] === "|") { cells.push(cell.trim()); cell = ""; } else cell += inner[i];
  }
  if (cell.trim() !== "") cells.push(cell.trim());
  return cells;
}

function startsTable(lines, at) {
  return at + 1 < lines.length && lines[at].includes("|") && lines[at + 1].includes("-") &&
    kTableLine.test(lines[at + 1]) && cellsOf(lines[at]).length === cellsOf(lines[at + 1]).length;
}

const startsBlock = (lines, at) => kFence.test(lines[at]) || kHeading.test(lines[at]) || kRule.test(lines[at]) ||
  kQuote.test(lines[at]) || startsTable(lines, at);

// Whether a line ends the paragraph before it as the first of a list: a number does if it is 1.
function interrupts(line) {
  const item = kItem.exec(line);
  return item !== null && item[0].length < line.length && (!/\d/.test(item[2]) || parseInt(item[2], 10) === 1);
}

function takeFence(lines, at) {
  const [, fence, info] = kFence.exec(lines[at]);
  const indent = indentOf(lines[at]);
  const closing = new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}[ \\t]*$`);
  let end = at + 1;
  while (end < lines.length && !closing.test(lines[end])) ++end;
  const code = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indent, indentOf(line))));
  const language = info.trim().split(/\s/)[0];
  return {kind: "code", language, code: code.join("\n"), end: Math.min(end + 1, lines.length)};
}

function takeTable(lines, at) {
  const align = cellsOf(lines[at + 1]).map((cell) =>
    cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : null);
  const rows = [];
  let end = at + 2;
  for (; end < lines.length && !kBlank.test(lines[end]) && !startsBlock(lines, end); ++end) {
    rows.push(cellsOf(lines[end]));
  }
  return {kind: "table", head: cellsOf(lines[at]), align, rows, end};
}

function takeQuote(lines, at) {
  const inner = [];
  let end = at;
  for (; end < lines.length && !kBlank.test(lines[end]); ++end) {
    if (!kQuote.test(lines[end]) && startsBlock(lines, end)) break;
    inner.push(lines[end].replace(kQuote, ""));
  }
  return {kind: "quote", lines: inner, end};
}

// Items of one list: those with the same kind of mark. What is indented as far as an item's text belongs to it.
function takeList(lines, at) {
  const mark = kItem.exec(lines[at])[2];
  const ordered = /\d/.test(mark);
  const list = {kind: "list", ordered, start: ordered ? parseInt(mark, 10) : 1, items: [], loose: false};
  let end = at;
  let blank = false;
  let width = 0;
  for (; end < lines.length; ++end) {
    const line = lines[end];
    const item = kRule.test(line) ? null : kItem.exec(line);
    if (kBlank.test(line)) {
      blank = true;
      continue;
    }
    if (list.items.length > 0 && indentOf(line) >= width) {
      if (blank) list.items.at(-1).push("");
      list.items.at(-1).push(line.slice(width));
      list.loose ||= blank;
    } else if (item && /\d/.test(item[2]) === ordered) {
      width = item[0].trimEnd().length + Math.max(1, item[3].length);
      list.items.push([line.slice(item[0].length)]);
      list.loose ||= blank && list.items.length > 1;
    } else if (item || blank || startsBlock(lines, end)) {
      break;
    } else {
      list.items.at(-1).push(line.trimStart());  // A line that goes on with the item's text.
    }
    blank = false;
  }
  return {...list, end: blank ? end - 1 : end};
}

// The blocks of some lines; each has the `end` that it reached.
function takeBlock(lines, at, depth) {
  const line = lines[at];
  if (kFence.test(line)) return takeFence(lines, at);
  const heading = kHeading.exec(line);
  if (heading) return {kind: "heading", level: heading[1].length, text: heading[2] ?? "", end: at + 1};
  if (kRule.test(line)) return {kind: "rule", end: at + 1};
  if (depth < kDeepest && kQuote.test(line)) return takeQuote(lines, at);
  if (depth < kDeepest && kItem.test(line)) return takeList(lines, at);
  if (startsTable(lines, at)) return takeTable(lines, at);
  let end = at + 1;
  while (end < lines.length && !kBlank.test(lines[end]) && !startsBlock(lines, end) && !interrupts(lines[end])) ++end;
  // Blanks that begin a line are kept, as blanks that do not break: small models write code without a fence.
  const indented = (text, i) =>
    (i === 0 ? text.trimStart() : text.replace(/^ {2,}/, (blanks) => "\u00a0".repeat(blanks.length)));
  return {kind: "paragraph", text: lines.slice(at, end).map(indented).join("\n"), end};
}

function blocksOf(lines, depth) {
  const blocks = [];
  for (let at = 0; at < lines.length;) {
    if (kBlank.test(lines[at])) {
      ++at;
      continue;
    }
    const block = takeBlock(lines, at, depth);
    const end = Math.max(block.end, at + 1);
    blocks.push({...block, source: lines.slice(at, end).join("\n")});
    at = end;
  }
  return blocks;
}

function codeNode(block) {
  const language = block.language || "text";
  return h("div", {class: "code"},
    h("div", {class: "code-head"}, h("span", {}, language), copyButton("Copy this code", () => block.code)),
    h("pre", {tabindex: "0", role: "group", "aria-label": `Code, ${language}`}, h("code", {}, block.code)));
}

function tableNode(block) {
  const row = (cells, tag) => h("tr", {}, ...block.align.map((align, i) =>
    h(tag, {class: align, scope: tag === "th" ? "col" : null}, ...inline(cells[i] ?? ""))));
  const rows = block.rows.map((cells) => row(cells, "td"));
  return h("div", {class: "table", tabindex: "0", role: "group", "aria-label": "Table"},
    h("table", {}, h("thead", {}, row(block.head, "th")), h("tbody", {}, ...rows)));
}

function itemNode(lines, loose, depth) {
  const task = /^\[([ xX])\] /.exec(lines[0]);
  const inner = blocksOf(task ? [lines[0].slice(4), ...lines.slice(1)] : lines, depth);
  const nodes = inner.map((block) =>
    block.kind === "paragraph" && !loose ? h("span", {}, ...inline(block.text)) : nodeOf(block, depth));
  const mark = task && h("span", {class: "task"}, task[1] === " " ? "\u2610 " : "\u2611 ");
  return h("li", {class: task ? "task-item" : null}, mark, ...nodes);
}

function nodeOf(block, depth) {
  switch (block.kind) {
    case "code": return codeNode(block);
    case "rule": return h("hr");
    case "table": return tableNode(block);
    case "quote":
      return h("blockquote", {}, ...blocksOf(block.lines, depth + 1).map((inner) => nodeOf(inner, depth + 1)));
    // The page itself has headings of the first two levels.
    case "heading":
      return h(`h${Math.min(6, block.level + 2)}`, {class: `level-${block.level}`}, ...inline(block.text));
    case "list":
      return h(block.ordered ? "ol" : "ul", {start: block.ordered && block.start !== 1 ? block.start : null},
        ...block.items.map((lines) => itemNode(lines, block.loose, depth + 1)));
    default: return h("p", {}, ...inline(block.text));
  }
}

// Makes `container` show `text`. Blocks that are as before keep their nodes, so that a growing answer costs little and
// a selection in it stays.
export function renderMarkdown(container, text) {
  const blocks = blocksOf(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0);
  const before = container.markdownBlocks ?? [];
  let same = 0;
  while (same < blocks.length && same < before.length && blocks[same].source === before[same]) ++same;
  while (container.childNodes.length > same) container.lastChild.remove();
  for (const block of blocks.slice(same)) container.append(nodeOf(block, 0));
  container.markdownBlocks = blocks.map((block) => block.source);
}
