// A conversation is a tree of messages. Each has a parent; of several children one is chosen: those are the branches.
//
//   {id, title, system, created, updated, messages: [{id, parent, role, text, reasoning, tokens, usage, ...}],
//    chosen: {parent: child}}
//
// The parent of a first message is "". A parent stands before its children.

let counter = 0;
export const newId = () =>
  `${Date.now().toString(36)}${(counter++).toString(36)}${Math.random().toString(36).slice(2, 7)}`;

export function newConversation(system = "") {
  return {id: newId(), title: "", system, created: Date.now(), updated: Date.now(), messages: [], chosen: {}};
}

export const childrenOf = (conversation, parent) =>
  conversation.messages.filter((message) => message.parent === parent);

export const messageOf = (conversation, id) => conversation.messages.find((message) => message.id === id);

export function addMessage(conversation, parent, role, text) {
  const message = {id: newId(), parent, role, text, created: Date.now()};
  conversation.messages.push(message);
  conversation.chosen[parent] = message.id;
  return message;
}

// The messages that are shown: from the first to the end of the chosen branch.
export function pathOf(conversation) {
  const path = [];
  for (let parent = ""; ;) {
    const children = childrenOf(conversation, parent);
    if (children.length === 0) return path;
    const next = children.find((child) => child.id === conversation.chosen[parent]) ?? children.at(-1);
    path.push(next);
    parent = next.id;
  }
}

// The messages from the first to `message`.
export function pathTo(conversation, message) {
  const path = [];
  for (let at = message; at; at = messageOf(conversation, at.parent)) path.unshift(at);
  return path;
}

// Which of how many branches a message is on.
export function branchOf(conversation, message) {
  const siblings = childrenOf(conversation, message.parent);
  return {index: siblings.indexOf(message), count: siblings.length, siblings};
}

// The branch to the left (-1) or right (1) of a message becomes the chosen one. Returns its message, or null.
export function chooseBranch(conversation, message, step) {
  const {index, siblings} = branchOf(conversation, message);
  const next = siblings[index + step];
  if (!next) return null;
  conversation.chosen[message.parent] = next.id;
  return next;
}

const isText = (value) => typeof value === "string";
const textOr = (value, other) => (isText(value) ? value : other);
const numberOr = (value, other) => (Number.isFinite(value) ? value : other);

// [text, logprob, [[text, logprob], ...]] each; anything else is no list of tokens.
function checkedTokens(tokens) {
  const pair = (entry) => Array.isArray(entry) && isText(entry[0]) && Number.isFinite(entry[1]);
  const whole = Array.isArray(tokens) &&
    tokens.every((token) => pair(token) && Array.isArray(token[2]) && token[2].every(pair));
  return whole ? tokens : undefined;
}

function checkedUsage(usage) {
  if (usage === null || typeof usage !== "object") return undefined;
  const names = ["prompt", "cached", "generated", "firstToken", "seconds"];
  return Object.fromEntries(names.map((name) => [name, Math.max(0, numberOr(usage[name], 0))]));
}

// What was kept, made whole: null if it is no conversation; messages without their parents are left out.
export function checked(value) {
  if (value === null || typeof value !== "object" || !isText(value.id) || value.id === "") return null;
  if (!Array.isArray(value.messages)) return null;
  const known = new Set([""]);
  const messages = [];
  for (const message of value.messages) {
    if (message === null || typeof message !== "object" || !isText(message.id) || known.has(message.id)) continue;
    if (!known.has(message.parent) || !isText(message.text)) continue;
    if (message.role !== "user" && message.role !== "assistant") continue;
    known.add(message.id);
    messages.push({
      id: message.id, parent: message.parent, role: message.role, text: message.text,
      created: numberOr(message.created, 0), reasoning: textOr(message.reasoning, undefined),
      tokens: checkedTokens(message.tokens), usage: checkedUsage(message.usage),
      finish: textOr(message.finish, undefined), error: textOr(message.error, undefined),
    });
  }
  const chosen = {};
  for (const [parent, child] of Object.entries(value.chosen ?? {})) {
    if (known.has(parent) && isText(child) && known.has(child)) chosen[parent] = child;
  }
  return {id: value.id, title: textOr(value.title, "").slice(0, 200), system: textOr(value.system, ""),
    created: numberOr(value.created, 0), updated: numberOr(value.updated, 0), messages, chosen};
}
