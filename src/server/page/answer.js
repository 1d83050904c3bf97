// One answer: the request for it, and its pieces put into the message as they come.
import {chat} from "./stream.js";
import {tokenOf} from "./tokens.js";
import {messageOf, pathTo} from "./tree.js";

const kMostTokens = 20_000;  // Of one answer, whose probabilities are kept.

export function requestFor(conversation, message, settings) {
  const turns = pathTo(conversation, messageOf(conversation, message.parent))
    .filter((turn) => turn.role === "user" || turn.text !== "")
    .map(({role, text}) => ({role, content: text}));
  const system = conversation.system.trim();
  return {
    messages: system ? [{role: "system", content: system}, ...turns] : turns,
    stream: true,
    stream_options: {include_usage: true},
    logprobs: true,
    top_logprobs: 5,
    return_progress: true,
    ...settings,
  };
}

// Puts a chunk into a message; returns how many tokens it had.
function take(message, chunk) {
  const choice = chunk?.choices?.[0];
  let tokens = 0;
  if (choice) {
    const {content, reasoning_content: reasoning} = choice.delta ?? {};
    if (typeof content === "string") message.text += content;
    if (typeof reasoning === "string") message.reasoning = (message.reasoning ?? "") + reasoning;
    const scored = Array.isArray(choice.logprobs?.content) ? choice.logprobs.content : [];
    message.tokens ??= [];
    if (message.tokens.length < kMostTokens) message.tokens.push(...scored.map(tokenOf));
    tokens = scored.length || (content || reasoning ? 1 : 0);
    if (choice.finish_reason) message.finish = String(choice.finish_reason);
  }
  if (chunk?.prompt_progress) {
    const {processed, total} = chunk.prompt_progress;
    if (processed < total) message.progress = {processed, total};
  }
  if (chunk?.usage) {
    const whole = (value) => (Number.isFinite(value) && value >= 0 ? value : 0);
    message.usage.prompt = whole(chunk.usage.prompt_tokens);
    message.usage.generated = whole(chunk.usage.completion_tokens);
    message.usage.cached = whole(chunk.usage.prompt_tokens_details?.cached_tokens);
  }
  return tokens;
}

// Writes `message` until its answer has ended, `signal` stops it, or something fails: message.error says what then.
// `changed` is called with the number of new tokens after each piece.
export async function write(conversation, message, settings, signal, changed) {
  const start = performance.now();
  let first = 0;
  let last = 0;
  let count = 0;
  message.usage = {prompt: 0, cached: 0, generated: 0, firstToken: 0, seconds: 0};
  try {
    await chat(requestFor(conversation, message, settings), signal, (chunk) => {
      const tokens = take(message, chunk);
      if (tokens > 0) {
        last = performance.now();
        first ||= last;
        count += tokens;
      }
      changed(tokens);
    });
  } catch (error) {
    if (error.name === "AbortError") message.finish = "stopped";
    else message.error = error.message;
    message.status = error.status;
  }
  delete message.progress;
  if (count === 0) delete message.usage;
  else {
    message.usage.firstToken = (first - start) / 1000;
    message.usage.seconds = (last - first) / 1000;
    message.usage.generated ||= count;
  }
}
