// A stream of events, as the server sends it: an address comes in, and events
// come out one after the other as {name, data, text}.

// StreamError is an answer that is no stream. Its status is 0 where there is no
// answer at all.
export class StreamError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// bytes reads an answer piece by piece until it ends. A signal ends it earlier.
export async function* bytes(address, signal) {
  const response = await open(address, signal);
  const reader = response.body.getReader();
  for (;;) {
    const { value, done } = await reader.read().catch((cause) => {
      throw signal?.aborted ? cause : new StreamError(0, "The connection broke off.");
    });
    if (done) return;
    yield value;
  }
}

// events reads a stream event by event.
export async function* events(address, signal) {
  const decoder = new TextDecoder();
  let held = "";
  for await (const piece of bytes(address, signal)) {
    const pieces = (held + decoder.decode(piece, { stream: true })).split("\n\n");
    held = pieces.pop();
    for (const text of pieces) yield parse(text);
  }
}

async function open(address, signal) {
  let response;
  try {
    response = await fetch(address, { headers: { Accept: "text/event-stream" }, redirect: "manual", signal });
  } catch (cause) {
    throw signal?.aborted ? cause : new StreamError(0, "The server cannot be reached.");
  }
  if (response.type === "opaqueredirect") throw new StreamError(401, "You are not signed in any more.");
  const type = response.headers.get("Content-Type") ?? "";
  if (!response.ok || !type.startsWith("text/event-stream")) {
    throw new StreamError(response.status, (await response.text()).trim() || `The server answered ${response.status}.`);
  }
  return response;
}

// parse reads one event: a line with its name and a line of JSON.
function parse(text) {
  const [, name = "", json = "null"] = /^event: (.*)\ndata: (.*)$/s.exec(text) ?? [];
  return { name, text, data: JSON.parse(json) };
}
