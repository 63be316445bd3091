/** One request, either to one checked address or through a proxy. Redirects are not followed. */
export type WireRequest = {
  /** An http or https URL without credentials. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the request a POST; without it the request is a GET. */
  readonly body?: string;
  readonly route: WireRoute;
  /** Aborts the connection, the headers or the body. */
  readonly signal: AbortSignal;
};

export type WireRoute =
  | {
      readonly kind: "direct";
      /** The name that the certificate must match. */
      readonly host: string;
      /** The checked address to connect to. */
      readonly address: string;
    }
  | {
      readonly kind: "proxy";
      /** The proxy's URL with its checked address instead of its name, without credentials. */
      readonly proxyUrl: string;
      /** The name that the proxy's own certificate must match. */
      readonly proxyHost: string;
      readonly authorization: string | null;
    };

/** An answer as received, with its body still compressed. */
export type WireResponse = {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The body piece by piece; null when the status has none. It is a function because Node builds the stream
   * on demand.
   */
  stream(): ReadableStream<Uint8Array> | null;
  /** The whole body at once, only for bodies whose known length is within the limit. */
  bytes(): Promise<Uint8Array>;
};

/** Puts a request on the wire, which is the one thing that differs between Bun and Node. */
export type Connect = {
  request(request: WireRequest): Promise<WireResponse>;
  /** The content codings that this runtime can decode, as an Accept-Encoding header. */
  readonly acceptEncoding: string;
  close(): Promise<void>;
};

export type ConnectOptions = {
  /** Trusted certificates in PEM, in addition to the runtime's own. */
  readonly extraCertificates: readonly string[];
};
