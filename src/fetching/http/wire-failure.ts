import { Failure } from "../../base/failure.ts";

/** Errors of connections that could not be opened; another address of the same host may work. */
const UNCONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ConnectionRefused: "the connection was refused",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  EADDRNOTAVAIL: "the network is unreachable",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  FailedToOpenSocket: "no connection could be opened",
};

/** Errors of answers that broke off; the next answer may be complete. */
const BROKEN_OFF: Readonly<Record<string, string>> = {
  ECONNRESET: "the connection closed before the answer was complete",
  ConnectionClosed: "the connection closed before the answer was complete",
  UND_ERR_SOCKET: "the connection closed before the answer was complete",
  EPIPE: "the connection closed before the request was sent",
  Z_BUF_ERROR: "the compressed body is cut short",
  ERR__ERROR_FORMAT_PADDING_1: "the compressed body is cut short",
  EAI_AGAIN: "the resolver did not answer",
  ETIMEOUT: "the resolver did not answer",
  ESERVFAIL: "the resolver failed",
  // This code comes from the browser fetcher.
  BROWSER_GONE: "the browser closed the page",
  ERR_CONNECTION_RESET: "the connection closed before the answer was complete",
  ERR_CONNECTION_CLOSED: "the connection closed before the answer was complete",
  ERR_CONTENT_LENGTH_MISMATCH: "the connection closed before the answer was complete",
  ERR_INCOMPLETE_CHUNKED_ENCODING: "the connection closed before the answer was complete",
  ERR_EMPTY_RESPONSE: "the connection closed before the answer was complete",
  ERR_TUNNEL_CONNECTION_FAILED: "no connection could be opened",
};

const LASTING: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
  CERT_HAS_EXPIRED: "the certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is signed by an unknown authority",
  Malformed_HTTP_Response: "the answer is not HTTP",
  HPE_INVALID_CONSTANT: "the answer is not HTTP",
  ResponseHeadersTooLarge: "the answer's headers are too large",
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
  TOO_MANY_CODINGS: "the body is compressed more than three times",
  ERR_CERT_COMMON_NAME_INVALID: "the certificate is for another name",
  ERR_CERT_DATE_INVALID: "the certificate has expired",
  ERR_CERT_AUTHORITY_INVALID: "the certificate is signed by an unknown authority",
  ERR_SSL_PROTOCOL_ERROR: "there was no TLS",
  ERR_INVALID_HTTP_RESPONSE: "the answer is not HTTP",
  ERR_CONTENT_DECODING_FAILED: "the compressed body is damaged",
  ERR_RESPONSE_HEADERS_TOO_BIG: "the answer's headers are too large",
  ERR_TOO_MANY_REDIRECTS: "it redirects without end",
  ERR_UNSAFE_PORT: "browsers refuse this port",
  ERR_PROXY_TUNNEL: "the proxy refused the connection",
};

/**
 * Translates an error of the connection or of the decompression into a Failure.
 * @param what the operation: `GET https://…`
 */
export function wireFailure(what: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = errorCode(error);
  const why = UNCONNECTED[code] ?? BROKEN_OFF[code] ?? LASTING[code] ?? "there was no usable answer";
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

/** The code of an error or, where a library wrapped it, of its cause. */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  return "cause" in error && error.cause !== error ? errorCode(error.cause) : "";
}

const MAX_SHOWN = 200;

/** A URL as messages and log lines show it: without credentials, cut at 200 characters. */
export function displayUrl(url: URL | string): string {
  const shown = typeof url === "string" ? URL.parse(url) : new URL(url);
  if (!shown) return "(not a URL)";
  // In any other scheme nobody knows which part is a credential: "user:secret@host" parses as the scheme
  // "user".
  if (shown.protocol !== "http:" && shown.protocol !== "https:") return "(not an http or https URL)";
  shown.username = "";
  shown.password = "";
  const text = shown.href;
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
