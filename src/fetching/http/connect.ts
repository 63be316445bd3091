/** One request to one checked address, or through a proxy. Redirects are not followed. */
export type WireRequest = {
  /** http or https, without credentials. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** With a body the request is a POST, else a GET. */
  readonly body?: string;
  readonly route: WireRoute;
  /** Covers the connection, the headers and the body. */
  readonly signal: AbortSignal;
};

export type WireRoute =
  | {
      readonly kind: "direct";
      /** The name that the certificate must be for. */
      readonly host: string;
      /** The checked address to connect to. */
      readonly address: string;
    }
  | {
      readonly kind: "proxy";
      /** The proxy with its checked address in place of its name, without credentials. */
      readonly proxyUrl: string;
      /** The name that the proxy's own certificate must be for. */
      readonly proxyHost: string;
      readonly authorization: string | null;
    };

/** An answer as it came: the body is not decompressed. */
export type WireResponse = {
  readonly status: number;
  readonly headers: Headers;
  /** The body piece by piece, null when the status has none. A call, because Node must first make it one. */
  stream(): ReadableStream<Uint8Array> | null;
  /** The whole body at once; only for a body whose length is known to be within bounds. */
  bytes(): Promise<Uint8Array>;
};

/** The one thing that differs between Bun and Node: how a request is put on the wire. */
export type Connect = {
  request(request: WireRequest): Promise<WireResponse>;
  /** The content codings that this runtime can undo, as an Accept-Encoding header. */
  readonly acceptEncoding: string;
  close(): Promise<void>;
};

export type ConnectOptions = {
  /** Certificates in PEM that are trusted besides the runtime's own. */
  readonly extraCertificates: readonly string[];
};
