import { onAbort, pause } from "../../base/abort.ts";
import { steadyNow } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Log, LogFields } from "../../base/log.ts";
import { meaningsIn } from "../../base/text.ts";
import type { FetchedHeaders } from "../types.ts";

/** Time and random numbers, so that tests can control both. */
export type Clock = {
  /** Milliseconds on a clock that is never set back or forward. */
  readonly now: () => number;
  /** Waits, or rejects as soon as the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A random number in [0, 1). */
  readonly random: () => number;
};

/** One try that got an answer. */
export type Try<T> = {
  readonly answer: T;
  readonly status: number;
  /** The wait that `Retry-After` asks for; null when it is absent. */
  readonly retryAfterMs: number | null;
  /** Discards the answer before the next try, if there is something to discard. */
  readonly discard?: () => Promise<void>;
};

type TriesOptions = {
  readonly url: URL | string;
  readonly tries: number;
  readonly watch: Watch;
  readonly clock: Clock;
  readonly log: Log;
  readonly logFields: LogFields | undefined;
};

/**
 * Tries until an answer needs no other try, the tries are used up, or the next wait would pass the deadline.
 * It then returns the last answer.
 * @throws Failure of the last try, or `rate_limited` when the target asks to wait longer than the deadline
 */
export async function tryRepeatedly<T>(
  options: TriesOptions,
  attempt: () => Promise<Try<T>>,
): Promise<{ readonly answer: T; readonly tries: number }> {
  const { clock, tries, watch } = options;
  for (let made = 1; ; made++) {
    const outcome = await settle(attempt);
    const isLast = made >= tries;
    if (outcome.kind === "failed" && (isLast || !isTransient(outcome.error))) throw outcome.error;
    if (outcome.kind === "answered" && (isLast || !isRetryableStatus(outcome.result.status)))
      return { answer: outcome.result.answer, tries: made };

    const asked = outcome.kind === "answered" ? outcome.result.retryAfterMs : null;
    const waitMs = asked ?? backOffDelayMs(made, clock.random);
    if (clock.now() + waitMs >= watch.deadlineAt) {
      if (outcome.kind === "failed") throw outcome.error;
      if (asked === null) return { answer: outcome.result.answer, tries: made };
      await outcome.result.discard?.();
      const wait = `the target asks to wait ${Math.ceil(asked / 1000)} s, which is past the deadline`;
      const { status } = outcome.result;
      throw new Failure("rate_limited", `${watch.describe(options.url)}: ${wait}`, { targetStatus: status });
    }
    if (outcome.kind === "answered") await outcome.result.discard?.();
    options.log.info("trying again", {
      url: displayUrl(options.url),
      failed_tries: made,
      wait_ms: waitMs,
      reason: outcome.kind === "failed" ? outcome.error.message : "the status asks for another try",
      ...options.logFields,
    });
    await clock.sleep(waitMs, watch.signal);
  }
}

type Outcome<T> =
  | { readonly kind: "answered"; readonly result: Try<T> }
  | { readonly kind: "failed"; readonly error: Failure };

async function settle<T>(attempt: () => Promise<Try<T>>): Promise<Outcome<T>> {
  try {
    return { kind: "answered", result: await attempt() };
  } catch (error) {
    if (error instanceof Failure) return { kind: "failed", error };
    throw error;
  }
}

/** This process's clock and random numbers. */
export const systemClock: Clock = {
  now: steadyNow,
  random: Math.random,
  async sleep(ms, signal) {
    await pause(ms, signal);
    if (signal.aborted) throw new Failure("cancelled", "the wait was cancelled");
  },
};

/** Whether a later try may get another status: request timeout, too early, too many requests, server errors. */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);

const MAX_BACK_OFF_MS = 60_000;

/**
 * Exponential back-off with full jitter: evenly distributed over 0 to 1, 2, 4, 8 … s, at most 60 s.
 * @param failedTries tries so far, from 1
 * @param random in [0, 1)
 */
export const backOffDelayMs = (failedTries: number, random: () => number): number =>
  Math.floor(random() * Math.min(MAX_BACK_OFF_MS, 1000 * 2 ** (failedTries - 1)));

/**
 * The wait that `Retry-After` asks for, in ms: a number of seconds or an HTTP date (RFC 9110, 10.2.3), which counts from
 * the answer's own date, because this machine's clock may be wrong.
 * @returns null when the header is absent or neither; 0 for a date in the past
 */
export function retryAfterMsOf({ "retry-after": value, date }: FetchedHeaders): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // HTTP dates begin with the name of a day; Date.parse alone would accept "-5" and "2.5" as dates.
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text)) return null;
  const at = Date.parse(/gmt|utc/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - (Date.parse(date ?? "") || Date.now()));
}

/**
 * Everything that can end a fetch from outside: the caller, the deadline of the whole fetch, and the time
 * limit of the current request. All three share one signal, since none of them is retried.
 */
export type Watch = Disposable & {
  readonly signal: AbortSignal;
  /** The deadline's time on the clock of `now`. */
  readonly deadlineAt: number;
  /** Starts or restarts the time limit of a request. */
  startRequest(): void;
  endRequest(): void;
  /** The operation as messages name it: the method and the URL. */
  describe(url: URL | string): string;
  /** The Failure behind an aborted signal; null while it is not aborted. */
  failure(url: URL | string): Failure | null;
};

type WatchOptions = {
  readonly caller: AbortSignal | undefined;
  readonly method: "GET" | "POST";
  readonly deadlineMs: number;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
};

/** Starts the deadline. Dispose of the watch, or else its timers and its listener on the caller live on. */
export function startWatch(options: WatchOptions): Watch {
  const { caller, deadlineMs, requestTimeoutMs } = options;
  const describe = (url: URL | string): string => `${options.method} ${displayUrl(url)}`;
  // AbortSignal.any would do this in one line, but keeps every fetch alive as long as the caller's signal.
  const controller = new AbortController();
  let reason: "caller" | "deadline" | "request" | null = null;
  const end = (why: "caller" | "deadline" | "request"): void => {
    reason ??= why;
    release();
    controller.abort();
  };
  const deadline = setTimeout(() => end("deadline"), deadlineMs);
  let request: ReturnType<typeof setTimeout> | undefined;
  const endRequest = (): void => clearTimeout(request);
  const release = (): void => {
    endRequest();
    clearTimeout(deadline);
    following?.[Symbol.dispose]();
  };
  let following: Disposable | null = null;
  following = onAbort(caller, () => end("caller"));

  return {
    signal: controller.signal,
    deadlineAt: options.now() + deadlineMs,
    startRequest() {
      endRequest();
      if (requestTimeoutMs < deadlineMs) request = setTimeout(() => end("request"), requestTimeoutMs);
    },
    endRequest,
    describe,
    failure(url) {
      if (reason === null) return null;
      if (reason === "caller") return new Failure("cancelled", `${describe(url)} was cancelled`);
      const limit = reason === "deadline" ? deadlineMs : requestTimeoutMs;
      const of = reason === "deadline" ? "its deadline of" : "the limit of a request of";
      return new Failure("timeout", `${describe(url)} took longer than ${of} ${limit} ms`);
    },
    [Symbol.dispose]: release,
  };
}

/** Errors of connections that could not be opened; another address of the same host may work. */
const UNCONNECTED = meaningsIn({
  "the connection was refused": "ECONNREFUSED ConnectionRefused",
  "the host is unreachable": "EHOSTUNREACH",
  "the network is unreachable": "ENETUNREACH EADDRNOTAVAIL",
  "the connection timed out": "ETIMEDOUT UND_ERR_CONNECT_TIMEOUT",
  "no connection could be opened": "FailedToOpenSocket",
});

/** Errors of answers that broke off; the next answer may be complete. `BROWSER_GONE` is the browser fetcher's. */
const BROKEN_OFF = meaningsIn({
  "the connection closed before the answer was complete": `ECONNRESET ConnectionClosed UND_ERR_SOCKET ERR_CONNECTION_RESET ERR_CONNECTION_CLOSED
     ERR_CONTENT_LENGTH_MISMATCH ERR_INCOMPLETE_CHUNKED_ENCODING ERR_EMPTY_RESPONSE`,
  "the connection closed before the request was sent": "EPIPE",
  "the compressed body is cut short": "Z_BUF_ERROR ERR__ERROR_FORMAT_PADDING_1",
  "the resolver did not answer": "EAI_AGAIN ETIMEOUT",
  "the resolver failed": "ESERVFAIL",
  "the browser closed the page": "BROWSER_GONE",
  "no connection could be opened": "ERR_TUNNEL_CONNECTION_FAILED",
  "the proxy could not reach the host": "PROXY_502 PROXY_503 PROXY_504",
});

const LASTING = meaningsIn({
  "the certificate is for another name": "ERR_TLS_CERT_ALTNAME_INVALID ERR_CERT_COMMON_NAME_INVALID",
  "the certificate has expired": "CERT_HAS_EXPIRED ERR_CERT_DATE_INVALID",
  "the certificate is self-signed": "DEPTH_ZERO_SELF_SIGNED_CERT",
  "the certificate is signed by an unknown authority, which SSL_CERT_FILE or NODE_EXTRA_CA_CERTS can name in PEM": `SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY
     ERR_CERT_AUTHORITY_INVALID`,
  "the answer is not HTTP": "Malformed_HTTP_Response HPE_INVALID_CONSTANT ERR_INVALID_HTTP_RESPONSE",
  "the answer's headers are too large":
    "ResponseHeadersTooLarge UND_ERR_HEADERS_OVERFLOW ERR_RESPONSE_HEADERS_TOO_BIG",
  "the body is compressed more than three times": "TOO_MANY_CODINGS",
  "there was no TLS": "ERR_SSL_PROTOCOL_ERROR",
  "the server agreed to no TLS with HTTP/1.1; one that speaks HTTP/2 only is read by the browser":
    "EPROTO ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL",
  "the compressed body is damaged": "ERR_CONTENT_DECODING_FAILED",
  "it redirects without end": "ERR_TOO_MANY_REDIRECTS",
  "browsers refuse this port": "ERR_UNSAFE_PORT",
  "the proxy asks for other credentials": "PROXY_407",
});

/**
 * Translates an error of the connection or of the decompression into a Failure.
 * @param what the operation: `GET https://…`
 */
export function wireFailure(what: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = errorCode(error);
  const unknown = code.startsWith("PROXY_")
    ? "the proxy refused the connection"
    : "there was no usable answer";
  const why = UNCONNECTED[code] ?? BROKEN_OFF[code] ?? LASTING[code] ?? unknown;
  // The runtime's own message repeats the URL and gives advice about its API, so only its code is shown.
  const message = `${what}: ${why}${code === "" ? "" : ` (${code})`}`;
  return new Failure("network", message, { cause: error });
}

/** Whether the connection could not be opened, so that the host's next address is worth trying. */
export const isUnconnected = (error: unknown): boolean => errorCode(error) in UNCONNECTED;

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Failure) || error.code !== "network") return false;
  const code = errorCode(error.cause);
  return code in UNCONNECTED || code in BROKEN_OFF;
}

/** The runtime's code for a proxy that opens no tunnel; such an error has the `status` of the proxy's answer. */
export const NO_TUNNEL = "ERR_PROXY_TUNNEL";

/** The code of an error or, where a library wrapped it, of its cause. */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string")
    // The status of a proxy's refusal to open a tunnel shows whether it may open a tunnel later.
    return error.code === NO_TUNNEL && "status" in error ? `PROXY_${error.status}` : error.code;
  return "cause" in error && error.cause !== error ? errorCode(error.cause) : "";
}

const MAX_SHOWN = 200;

/** A URL as messages and log lines show it: without credentials, cut at 200 characters. */
export function displayUrl(url: URL | string): string {
  const shown = typeof url === "string" ? URL.parse(url) : new URL(url);
  if (!shown) return "(not a URL)";
  // In any other scheme nobody knows which part is a credential: "user:secret@host" parses as the scheme "user".
  if (shown.protocol !== "http:" && shown.protocol !== "https:") return "(not an http or https URL)";
  shown.username = "";
  shown.password = "";
  const text = shown.href;
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
