import type { Exchange, Layer } from "./exchange.ts";

/** What is said of a server that takes tokens (RFC 9728, section 2). */
export type ProtectedResource = {
  /** The server's address as clients see it, which is the audience of tokens for it. */
  readonly audience: string;
  readonly issuer: string;
};

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/**
 * Tells clients whose tokens are taken (RFC 9728). The document is found below the base path, and where the
 * section 3.1 puts it for an address with a path: before that path.
 */
export const serveResourceMetadata =
  ({ audience, issuer }: ProtectedResource): Layer =>
  (next) =>
  async (exchange) => {
    const { request, path, basePath } = exchange;
    if (request.method !== "GET" || !path.startsWith(WELL_KNOWN)) return next(exchange);
    const rest = path.slice(WELL_KNOWN.length).replace(/\/$/, "");
    if (!["", "/mcp", basePath, `${basePath}/mcp`].includes(rest)) return next(exchange);
    return Response.json({
      resource: audience,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      resource_name: "article-extractor",
    });
  };

/** Where clients find the document, as they see the server. */
export const metadataUrl = ({ client, basePath }: Exchange): string =>
  `${client.scheme}://${client.host}${basePath}${WELL_KNOWN}/mcp`;
