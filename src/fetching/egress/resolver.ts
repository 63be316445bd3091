import { lookup } from "node:dns/promises";
import { orAborted } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";

/**
 * Finds all addresses of a host name, in the order to try them; rejects with a `code` like Node's resolver.
 */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Asks the operating system's resolver, which knows the hosts file, search domains and DNS like any other
 * program.
 */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
};

const MAX_KEPT_ANSWERS = 2048;

/**
 * A resolver that keeps answers for a while and combines lookups that overlap. It does not keep failed
 * lookups. Keeping answers is safe, because connections use the very addresses that were checked.
 */
export function createResolverCache(options: {
  readonly resolve: Resolve;
  readonly ttlMs: number;
  readonly now: () => number;
}): (host: string, signal?: AbortSignal) => Promise<readonly string[]> {
  const { resolve, ttlMs, now } = options;
  const kept = new Map<string, { readonly answer: Promise<readonly string[]>; readonly expiresAt: number }>();

  const ask = (host: string): Promise<readonly string[]> => {
    const found = kept.get(host);
    if (found && now() < found.expiresAt) return found.answer;
    const answer = resolve(host).catch((error: unknown) => {
      kept.delete(host);
      throw lookupFailure(host, error);
    });
    if (ttlMs > 0) {
      kept.delete(host);
      kept.set(host, { answer, expiresAt: now() + ttlMs });
      const oldest = kept.size > MAX_KEPT_ANSWERS ? kept.keys().next() : undefined;
      if (oldest && !oldest.done) kept.delete(oldest.value);
    }
    return answer;
  };

  return (host, signal) => (signal ? orAborted(ask(host), signal, () => signal.reason) : ask(host));
}

function lookupFailure(host: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  const why = code === "ENOTFOUND" || code === "ENODATA" ? "the name has no address" : `the resolver failed`;
  return new Failure("network", `could not resolve ${host}: ${why}${code ? ` (${code})` : ""}`, {
    cause: error,
  });
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
