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
};

export type Access = {
  /** Whether callers need to show nothing. */
  readonly isOpen: boolean;
  /** What a request is granted; null for nothing. */
  readonly grantOf: (request: Request) => Promise<Grant | null>;
};

const EVERYBODY: Grant = { name: "", tenants: null };

export function createAccess({ apiKey, keys = null }: AccessOptions): Access {
  if (apiKey === null && keys === null) return { isOpen: true, grantOf: async () => EVERYBODY };
  const isApiKey = apiKey === null ? () => false : matcherOf(apiKey);
  return {
    isOpen: false,
    grantOf: async (request) => {
      const token = tokenOf(request);
      if (token === undefined) return null;
      return isApiKey(token) ? EVERYBODY : ((await keys?.find(token)) ?? null);
    },
  };
}

/**
 * Lets requests through that are granted something, with the grant.
 * @param options.openPaths paths that need none, for load balancers and supervisors
 */
export function requireGrant(options: {
  readonly access: Access;
  readonly openPaths: readonly string[];
}): Layer {
  const { access, openPaths } = options;
  if (access.isOpen) return (next) => next;
  return (next) => async (exchange) => {
    if (openPaths.includes(exchange.path)) return next(exchange);
    const grant = await access.grantOf(exchange.request);
    if (grant === null) throw refusal(exchange);
    if (grant.name !== "") exchange.notes.key = grant.name;
    return next({ ...exchange, grant });
  };
}

const refusal = ({ request }: Exchange): ProblemError =>
  new ProblemError({
    status: 401,
    code: "unauthorized",
    detail:
      tokenOf(request) === undefined
        ? "an API key is needed: Authorization: Bearer KEY"
        : "the API key is wrong",
    headers: { "www-authenticate": 'Bearer realm="article-extractor"' },
  });

/** The hash of a token. Keys are random and long, so that a fast hash does not help who guesses. */
export const hashOf = (token: string): string => digest(token).toString("hex");

function matcherOf(key: string): (token: string) => boolean {
  const expected = digest(key);
  // Digests have equal lengths, so the comparison takes the same time whatever was sent.
  return (token) => timingSafeEqual(digest(token), expected);
}

const tokenOf = ({ headers }: Request): string | undefined =>
  /^Bearer +(\S+)\s*$/i.exec(headers.get("authorization") ?? "")?.[1];

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
