import { createHash, timingSafeEqual } from "node:crypto";
import type { Layer } from "./exchange.ts";
import { ProblemError } from "./problem.ts";

/**
 * Requires `Authorization: Bearer KEY`.
 * @param options.key null requires nothing
 * @param options.openPaths paths that need no key, for load balancers and supervisors
 */
export function requireApiKey(options: {
  readonly key: string | null;
  readonly openPaths: readonly string[];
}): Layer {
  const { key, openPaths } = options;
  if (key === null) return (next) => next;
  const holdsKey = keyCheck(key);
  return (next) => async (exchange) => {
    if (openPaths.includes(exchange.path)) return next(exchange);
    const token = tokenOf(exchange.request);
    if (!holdsKey(exchange.request))
      throw new ProblemError({
        status: 401,
        code: "unauthorized",
        detail:
          token === undefined ? "an API key is needed: Authorization: Bearer KEY" : "the API key is wrong",
        headers: { "www-authenticate": 'Bearer realm="article-extractor"' },
      });
    return next(exchange);
  };
}

/**
 * Makes a check whether a request has the key.
 * @param key null accepts every request
 */
export function keyCheck(key: string | null): (request: Request) => boolean {
  if (key === null) return () => true;
  const expected = digest(key);
  return (request) => {
    const token = tokenOf(request);
    // Digests have equal lengths, so the comparison takes the same time whatever was sent.
    return token !== undefined && timingSafeEqual(digest(token), expected);
  };
}

const tokenOf = ({ headers }: Request): string | undefined =>
  /^Bearer +(\S+)\s*$/i.exec(headers.get("authorization") ?? "")?.[1];

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
