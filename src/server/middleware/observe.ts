import type { Metrics } from "../../base/metrics.ts";
import { traced } from "../../base/tracing.ts";
import { withoutCredentials } from "../../urls/index.ts";
import type { Exchange, Handler, Layer } from "./exchange.ts";
import { logFault, problemResponse, toProblem } from "./problem.ts";

/**
 * The outermost layer. It turns errors into answers, adds the request id and the headers that protect
 * browsers to every answer, and logs and counts each request.
 * @param quietPaths whose requests are logged at debug level, because probes would fill the log
 */
export const observe =
  (metrics: Metrics, quietPaths: readonly string[]): Layer =>
  (next) =>
  async (exchange) => {
    const { request, log, client, path, requestId } = exchange;
    const started = performance.now();
    const isQuiet = quietPaths.includes(path);
    const { answer, traceId } = isQuiet
      ? { answer: await answered(next, exchange), traceId: null }
      : await answeredInSpan(next, exchange);
    const response = withOwnHeaders(answer, requestId);
    const durationMs = performance.now() - started;
    const { method, route } = kindOf(exchange);
    metrics.count("http_requests", { method, route, status: String(response.status) });
    metrics.time("http_request_duration", { method, route }, durationMs);
    const write = isQuiet && response.status < 500 ? log.debug : log.info;
    write("request", {
      method: request.method,
      path: shownPath(path),
      status: response.status,
      duration_ms: Math.round(durationMs * 10) / 10,
      client: client.address,
      ...exchange.notes,
      trace_id: traceId ?? undefined,
    });
    return response;
  };

/** Returns the labels that a request is counted under. */
const kindOf = ({ request, notes }: Exchange) => ({
  method: METHODS.has(request.method) ? request.method : OTHER,
  route: notes.route ?? OTHER,
});

const answeredInSpan = (next: Handler, exchange: Exchange) => {
  const { request, client, path, requestId } = exchange;
  const attributes = () => ({
    "http.request.method": kindOf(exchange).method,
    "url.scheme": client.scheme,
    "url.path": shownPath(path),
    "client.address": client.address,
    request_id: requestId,
  });
  return traced({ name: "request", kind: "server", attributes, headers: request.headers }, async (span) => {
    const answer = await answered(next, exchange);
    const { method, route } = kindOf(exchange);
    span.rename(`${method} ${route}`);
    span.set({ "http.route": route, "http.response.status_code": answer.status });
    if (answer.status >= 500) span.fail(String(answer.status));
    return { answer, traceId: span.traceId };
  });
};

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** Label for other methods, and for requests that no operation answered, such as refusals, files of pages, 404s. */
const OTHER = "other";

/** How many nested escapes are undone; text that is escaped more often is not shown. */
const MAX_ESCAPES = 8;

/**
 * Returns a path as the log shows it. The path of `GET /https://user:secret@site/?token=…` contains
 * credentials and the query of another site, escaped once, several times or not at all.
 */
export function shownPath(path: string): string {
  let text = path.slice(1);
  for (let round = 0; round < MAX_ESCAPES && text.includes("%"); round++) text = unescaped(text);
  const readable = text.search(/[?#]|%[0-7]/);
  return `/${withoutCredentials(readable < 0 ? text : `${text.slice(0, readable)}…`)}`;
}

/** Decodes escapes of ASCII only, since other characters are not part of a URL's syntax. */
const unescaped = (text: string): string =>
  text.replace(/%([0-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

// This says what an answer may load when a browser shows it. Pages with scripts set their own policy.
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

// Some responses have immutable headers; a copy's body is a stream, which costs time.
function withOwnHeaders(response: Response, requestId: string): Response {
  try {
    setOwnHeaders(response.headers, requestId);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    setOwnHeaders(copy.headers, requestId);
    return copy;
  }
}

/** Keeps browsers from guessing types, framing answers and revealing them to other sites. */
function setOwnHeaders(headers: Headers, requestId: string): void {
  headers.set("x-request-id", requestId);
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  if (!headers.has("content-security-policy")) headers.set("content-security-policy", NOTHING);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
}

/** Returns the answer of a handler, even when it throws. */
export async function answered(next: Handler, exchange: Exchange): Promise<Response> {
  try {
    return await next(exchange);
  } catch (error) {
    const problem = toProblem(error);
    if (problem.code === "internal") logFault(exchange.log, error);
    return problemResponse(problem, exchange.requestId);
  }
}
