import type { Log } from "../../base/log.ts";

/** One request on its way through the layers, with what they found out about it. */
export type Exchange = {
  readonly request: Request;
  /** The body of the request as text; empty until `receiveBodies` has read it. */
  readonly body: string;
  /** The path below the base path, decoded nowhere: `/crawl/7`. */
  readonly path: string;
  /** What stands before `path` in the addresses that the client sees: `""` or `/prefix`. */
  readonly basePath: string;
  readonly requestId: string;
  readonly client: Client;
  /** Carries the request id. */
  readonly log: Log;
  /**
   * Aborts when the client leaves, and when the server's end calls the request off. A signal costs 15 µs, which a
   * search is not to pay: it is made for who asks.
   */
  readonly signal: () => AbortSignal;
  /** Lets the connection be silent for longer than the server allows by itself: slow work, event streams. */
  readonly keepOpen: () => void;
};

/** Who asks, as far as the connection and trusted proxies tell. */
export type Client = {
  /** The peer of the TCP connection. */
  readonly peerAddress: string;
  /** The peer, or what trusted proxies say about whom they forward. */
  readonly address: string;
  /** Whether the request carries any sign of having been passed on, by a trusted proxy or another. */
  readonly wasForwarded: boolean;
  /** `http` or `https`, as the client sees it. */
  readonly scheme: string;
  /** Host and port, as the client sees them; empty when the request names none. */
  readonly host: string;
};

/** Answers a request. What it throws becomes an error answer at the outermost layer. */
export type Handler = (exchange: Exchange) => Promise<Response>;

/** A step around a handler: it may answer by itself, or change what goes in and comes out. */
export type Layer = (next: Handler) => Handler;

/** Wraps a handler in layers, the first one outermost. */
export const inLayers = (layers: readonly Layer[], handler: Handler): Handler =>
  layers.reduceRight<Handler>((next, layer) => layer(next), handler);
