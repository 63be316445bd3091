import { onAbort } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import { displayUrl } from "../display-url.ts";

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

export type WatchOptions = {
  readonly caller: AbortSignal | undefined;
  readonly method: "GET" | "POST";
  readonly deadlineMs: number;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
};

/**
 * Starts the deadline. Dispose of the watch, otherwise its timers and its listener on the caller's signal
 * live on.
 */
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
      if (reason === "caller") return new Failure("cancelled", `${describe(url)} was called off`);
      const limit = reason === "deadline" ? deadlineMs : requestTimeoutMs;
      const of = reason === "deadline" ? "its deadline of" : "the limit of a request of";
      return new Failure("timeout", `${describe(url)} took longer than ${of} ${limit} ms`);
    },
    [Symbol.dispose]: release,
  };
}
