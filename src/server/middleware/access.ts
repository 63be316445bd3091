import { createHash, timingSafeEqual } from "node:crypto";
import type { Exchange, Grant, Layer } from "./exchange.ts";
import { ProblemError } from "./problem.ts";

/** Knows the tokens of callers. */
export type Keys = { readonly find: (token: string) => Grant | null | Promise<Grant | null> };

/** The ways in which callers may show who they are; without any, everybody may come. */
export type AccessOptions = {
  /** The key of all callers. */
  readonly apiKey: string | null;
  /** Keys with names. */
  readonly keys?: Keys | null;
  /** Keys for an issuer's tokens, and the information that clients need to get a token. */
  readonly tokens?: (Keys & ProtectedResource) | null;
};

export type Access = {
  /** Whether callers need to show nothing. */
  readonly isOpen: boolean;
  /** The information that clients need to get a token; null if tokens are not accepted. */
  readonly resource: ProtectedResource | null;
  /** Returns the rights of a request; null without any. */
  readonly grantOf: (request: Request) => Promise<Grant | null>;
};

const ALL_TENANTS: Grant = { name: "", tenants: null };

export function createAccess({ apiKey, keys = null, tokens = null }: AccessOptions): Access {
  if (apiKey === null && keys === null && tokens === null)
    return { isOpen: true, resource: null, grantOf: async () => ALL_TENANTS };
  const expected = apiKey === null ? null : digest(apiKey);
  return {
    isOpen: false,
    resource: tokens,
    grantOf: async (request) => {
      const token = tokenOf(request);
      if (token === undefined) return null;
      // Digests have equal lengths, so the comparison takes the same time whatever was sent.
      if (expected !== null && timingSafeEqual(digest(token), expected)) return ALL_TENANTS;
      return (await keys?.find(token)) ?? (await tokens?.find(token)) ?? null;
    },
  };
}

/** Lets granted requests through, with the grant. @param openPaths that need none, for balancers and supervisors */
export function requireGrant(access: Access, openPaths: readonly string[]): Layer {
  if (access.isOpen) return (next) => next;
  return (next) => async (exchange) => {
    if (openPaths.includes(exchange.path)) return next(exchange);
    const grant = await access.grantOf(exchange.request);
    if (grant === null) throw refusal(exchange, access.resource);
    if (grant.name !== "") exchange.notes.key = grant.name;
    return next({ ...exchange, grant });
  };
}

/**
 * Refuses figures about all tenants together to callers that may use only some tenants, because the load of other
 * tenants is private.
 * @throws ProblemError 403
 */
export function requireAllTenants({ grant }: Exchange): void {
  if (!grant?.tenants) return;
  const detail = "this tells of all tenants together, and the API key or token is for some of them";
  throw new ProblemError(403, "tenants_limited", detail);
}

function refusal(exchange: Exchange, resource: ProtectedResource | null): ProblemError {
  const { request, client, basePath } = exchange;
  const isMissing = tokenOf(request) === undefined;
  const what = resource === null ? "API key" : "API key or token";
  const challenge = ['realm="article-extractor"'];
  // RFC 6750 (3.1) defines the error, and RFC 9728 (5.1) the address of the metadata.
  if (resource !== null && !isMissing) challenge.push('error="invalid_token"');
  if (resource !== null)
    challenge.push(`resource_metadata="${client.scheme}://${client.host}${basePath}${WELL_KNOWN}/mcp"`);
  const detail = isMissing ? `an ${what} is needed: Authorization: Bearer KEY` : `the ${what} is wrong`;
  const headers = { "www-authenticate": `Bearer ${challenge.join(", ")}` };
  return new ProblemError(401, "unauthorized", detail, { headers });
}

/** The hash of a token. Keys are random and long, so a fast hash does not help anybody who guesses. */
export const hashOf = (token: string): string => digest(token).toString("hex");

const tokenOf = ({ headers }: Request): string | undefined =>
  /^Bearer +(\S+)\s*$/i.exec(headers.get("authorization") ?? "")?.[1];

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Metadata of a server that accepts tokens (RFC 9728, section 2). */
type ProtectedResource = {
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
