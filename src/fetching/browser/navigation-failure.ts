import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../egress/pinning-proxy.ts";
import { errorCode, wireFailure } from "../http/wire-failure.ts";

const DOWNLOAD = "BROWSER_DOWNLOAD";

/**
 * Whether a failure means that the browser would download the answer; a plain client may be able to read it.
 */
export const isDownload = (error: unknown): boolean =>
  error instanceof Failure && errorCode(error.cause) === DOWNLOAD;

const UNUSABLE = "BROWSER_UNUSABLE";

export const unusable = (message: string, error: unknown): Failure =>
  new Failure("internal", message, { cause: { code: UNUSABLE, error } });

/** Whether a failure means that no browser can be started on this machine. */
export const isUnusable = (error: unknown): boolean =>
  error instanceof Failure && errorCode(error.cause) === UNUSABLE;

/** Translates a navigation error into a Failure. */
export function navigationFailure(
  error: unknown,
  context: {
    readonly what: string;
    readonly url: string;
    readonly proxy: PinningProxy;
    readonly requestTimeoutMs: number;
  },
): Failure {
  if (error instanceof Failure)
    return error.code === "network" && !error.message.startsWith(context.what)
      ? new Failure("network", `${context.what}: ${error.message}`, { cause: error.cause })
      : error;
  const message = error instanceof Error ? error.message : String(error);
  const code = /net::(ERR_[A-Z_0-9]+)/.exec(message)?.[1] ?? "";
  if (code === "ERR_TUNNEL_CONNECTION_FAILED") {
    const refused = context.proxy.failureFor(context.url);
    if (refused) return refused;
  }
  if (/download is starting/i.test(message))
    return new Failure("unsupported_content", `${context.what}: the answer is a file to save, not a page`, {
      cause: { code: DOWNLOAD, error },
    });
  if (error instanceof Error && error.name === "TimeoutError")
    return new Failure(
      "timeout",
      `${context.what} took longer than the limit of a request of ${context.requestTimeoutMs} ms`,
    );
  const isGone = /has been closed|crashed|Target closed|detached/i.test(message);
  return wireFailure(context.what, { code: isGone ? "BROWSER_GONE" : code || "BROWSER", cause: error });
}
