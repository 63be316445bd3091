import type { Log } from "../../base/log.ts";

/** One request on its way through the layers, with what they have found out about it. */
export type Exchange = {
  readonly request: Request;
  /** The body of the request as text; empty until `receiveBodies` has read it. */
  readonly body: string;
  /** The path below the base path, not decoded: `/crawl/7`. */
  readonly path: string;
  /** The part before `path` in the addresses that the client sees: `""` or `/prefix`. */
  readonly basePath: string;
  readonly requestId: string;
  readonly client: Client;
  /** A log that carries the request id. */
  readonly log: Log;
  /** The rights of the request; null before the check, and on servers that are open to everybody. */
  readonly grant: Grant | null;
  /** Fields that inner layers add to the request's line in the log. */
  readonly notes: Record<string, string>;
  /** Aborts when the client leaves or the shutdown cancels the request. Made on demand, because it costs 15 µs. */
  readonly signal: () => AbortSignal;
  /** Lets the connection be silent for longer than usual, for slow work and event streams. */
  readonly keepOpen: () => void;
};

/** A caller's rights on a server. */
export type Grant = {
  /** Names the caller in the log; never the key itself. */
  readonly name: string;
  /** Codenames of the tenants that the caller may use; null allows all of them. */
  readonly tenants: readonly string[] | null;
};

/** The client, as far as the connection and trusted proxies tell. */
export type Client = {
  /** The peer of the TCP connection. */
  readonly peerAddress: string;
  /** The peer's address, or the one that trusted proxies forward for. */
  readonly address: string;
  /** Whether the request shows any sign of having been forwarded, by a trusted proxy or another. */
  readonly wasForwarded: boolean;
  /** `http` or `https`, as the client sees it. */
  readonly scheme: string;
  /** Host and port, as the client sees them; empty when the request names none. */
  readonly host: string;
};

/** Answers a request. The outermost layer turns what it throws into an error answer. */
export type Handler = (exchange: Exchange) => Promise<Response>;

/** A step around a handler, which may answer itself or change the request and the answer. */
export type Layer = (next: Handler) => Handler;

/** Wraps a handler in layers, the first one outermost. */
export const inLayers = (layers: readonly Layer[], handler: Handler): Handler =>
  layers.reduceRight<Handler>((next, layer) => layer(next), handler);

/** The rest of a longer header is ignored. */
const MAX_ACCEPT = 1000;

/** The types of an Accept header (RFC 9110, section 12.5.1), lower-case, in its order; refused ones have the weight 0. */
export const acceptedTypes = (accept: string | null) =>
  (accept ?? "")
    .slice(0, MAX_ACCEPT)
    .split(",")
    .map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const written = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return { type, weight: written === undefined ? 1 : Number(written) || 0 };
    });

/** Whether HTML is named and JSON does not weigh more, as in browsers; a bare wildcard means a program. */
export function prefersHtml(accept: string | null): boolean {
  const named = acceptedTypes(accept);
  const weightOf = (types: readonly string[]): number =>
    Math.max(0, ...named.filter(({ type }) => types.includes(type)).map(({ weight }) => weight));
  const html = weightOf(["text/html", "application/xhtml+xml"]);
  return html > 0 && html >= weightOf(["application/json"]);
}
