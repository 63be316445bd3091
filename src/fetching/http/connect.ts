import { rootCertificates } from "node:tls";

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

/**
 * Sends requests with Bun's own `fetch`, which keeps connections alive. The checked address is put into the
 * URL, the Host header carries the name, and `tls.serverName` makes Bun verify the certificate against the
 * name. Connections are pooled by both.
 */
export function createBunConnect(options: ConnectOptions): Connect {
  // A list of authorities replaces the built-in one, so it must contain the built-in ones too.
  const authorities =
    options.extraCertificates.length > 0 ? [...rootCertificates, ...options.extraCertificates] : undefined;
  const request = async (wire: WireRequest): Promise<WireResponse> => {
    const { route, url } = wire;
    const init: BunFetchRequestInit = {
      headers: wire.headers,
      redirect: "manual",
      signal: wire.signal,
      ...(wire.body === undefined ? {} : { method: "POST", body: wire.body }),
      // Bun decompresses a whole network chunk ahead of the reader: a bomb of 800 bytes took 300 MB with a
      // limit of 20 MB. Our own decompression stops at the limit.
      decompress: false,
    };
    if (route.kind === "proxy") {
      const headers: Record<string, string> = {};
      if (route.authorization !== null) headers["proxy-authorization"] = route.authorization;
      const response = await fetch(url.href, {
        ...init,
        proxy: { url: route.proxyUrl, headers },
        ...(authorities ? { tls: { ca: authorities } } : {}),
      });
      return toWireResponse(response);
    }
    const tls = authorities ? { serverName: route.host, ca: authorities } : { serverName: route.host };
    const response = await fetch(pinned(url, route.address), {
      ...init,
      // Otherwise the proxy variables of the environment would lead the request away from the checked
      // address.
      proxy: NO_PROXY,
      headers: { ...wire.headers, host: url.host },
      ...(url.protocol === "https:" ? { tls } : {}),
    });
    return toWireResponse(response);
  };
  return { request, acceptEncoding: "gzip, deflate, br, zstd", close: async () => {} };
}

const toWireResponse = (response: Response): WireResponse => ({
  status: response.status,
  headers: response.headers,
  stream: () => response.body,
  bytes: () => response.bytes(),
});

// For Bun, `false` means "no proxy, whatever the environment says"; its types do not list it.
const NO_PROXY = false as unknown as string;

function pinned(url: URL, address: string): string {
  const host = address.includes(":") ? `[${address}]` : address;
  const port = url.port === "" ? "" : `:${url.port}`;
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`;
}
