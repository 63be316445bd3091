import { type EventSourceMessage, EventSourceParserStream } from "eventsource-parser/stream";
import { RequestFailed, request } from "../http.ts";

export type StreamEvent = { readonly kind: string; readonly data: string };

/** The waits between tries to reconnect, in ms; the last one is repeated. */
const WAITS_MS = [500, 1000, 2000, 5000, 10_000];
/** An event is a page or a status, so a longer one is not ours. */
const MAX_EVENT = 1_000_000;

/**
 * Follows server-sent events (WHATWG HTML, section 9.2) with `fetch`, because `EventSource` cannot send a
 * key. A stream that breaks off is resumed after the last event.
 * @param options.onBreak called when the connection is lost, and with null when it is back
 * @throws RequestFailed for answers that another try cannot improve; AbortError by the signal
 */
export async function* followEvents(
  path: string,
  options: { readonly signal: AbortSignal; readonly onBreak: (error: unknown) => void },
): AsyncGenerator<StreamEvent, void> {
  const { signal, onBreak } = options;
  let lastId = "";
  let failures = 0;
  for (;;) {
    try {
      const headers = { accept: "text/event-stream", ...(lastId === "" ? {} : { "last-event-id": lastId }) };
      const response = await request(path, { headers, signal });
      // The stream is complete.
      if (response.status === 204 || !response.body) return;
      onBreak(null);
      for await (const event of readEvents(response.body)) {
        failures = 0;
        if (event.id !== undefined) lastId = event.id;
        const kind = event.event ?? "message";
        yield { kind, data: event.data };
        if (kind === "end") return;
      }
    } catch (error) {
      signal.throwIfAborted();
      const isFinal = error instanceof RequestFailed && error.status >= 400 && error.status < 500;
      if (isFinal && error.status !== 429) throw error;
      onBreak(error);
    }
    signal.throwIfAborted();
    await pause(WAITS_MS[Math.min(failures++, WAITS_MS.length - 1)]!, signal);
  }
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage, void> {
  // TypeScript's declarations of the two streams differ in what they take besides byte arrays.
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  const events = new EventSourceParserStream({ maxBufferSize: MAX_EVENT });
  const reader = body.pipeThrough(decoder).pipeThrough(events).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
