// Requests to the server. An answer comes as server-sent events, which are read as they arrive.

// A fault that has a sentence for the user.
export class Fault extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

const kKey = "plait.key";

// Kept until the tab is closed, and not in any other.
export function apiKey() {
  try {
    return sessionStorage.getItem(kKey) ?? "";
  } catch {
    return "";
  }
}

export function setApiKey(key) {
  try {
    if (key) sessionStorage.setItem(kKey, key);
    else sessionStorage.removeItem(kKey);
  } catch {
    // Without storage there is no key; the server will say that it wants one.
  }
}

function headers(more = {}) {
  const key = apiKey();
  // A header holds bytes: a key with other letters cannot be the server's.
  if (/[^\x21-\x7e]/.test(key)) throw new Fault("The API key has characters that no key can have.");
  return key ? {...more, Authorization: `Bearer ${key}`} : more;
}

// The server's own sentence where it has one.
export function sentenceOf(body, status) {
  try {
    const value = JSON.parse(body);
    const error = value.error ?? value;
    const message = typeof error === "string" ? error : error.message;
    if (typeof message === "string" && message) return message;
  } catch {
    // Not JSON: a proxy's page, perhaps.
  }
  return `The server answered with status ${status}.`;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, {...options, headers: headers(options.headers)});
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Fault) throw error;
    throw new Fault("The server cannot be reached.");
  }
  if (!response.ok) throw new Fault(sentenceOf(await response.text(), response.status), response.status);
  return response;
}

export const getJson = async (path) => (await ask(path, {})).json();
export const getText = async (path) => (await ask(path, {})).text();

// The data of the events in a body, one string each.
export async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      rest += value;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
        if (line === "" && data.length > 0) {
          yield data.join("\n");
          data = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Asks for an answer and calls `take` with each chunk of it. Ends when the answer has; throws a Fault, or an AbortError
// after `signal`.
export async function chat(request, signal, take) {
  const response = await ask("v1/chat/completions",
    {method: "POST", body: JSON.stringify(request), signal, headers: {"Content-Type": "application/json"}});
  let finished = false;
  try {
    for await (const data of eventsOf(response.body)) {
      if (data === "[DONE]") return;
      let chunk;
      try {
        chunk = JSON.parse(data);
      } catch {
        throw new Fault("The server sent an event that is not JSON.");
      }
      if (chunk?.error) throw new Fault(sentenceOf(data, response.status), response.status);
      finished ||= Boolean(chunk?.choices?.[0]?.finish_reason);
      take(chunk);
    }
  } catch (error) {
    if (error instanceof Fault || error.name === "AbortError") throw error;
    throw new Fault("The connection ended before the answer did.");
  }
  if (!finished) throw new Fault("The connection ended before the answer did.");
}
