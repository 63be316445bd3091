import { silentLog } from "../../src/base/silent-log.ts";
import {
  createEgress,
  DEFAULT_FETCH_LIMITS,
  parseEgressPolicy,
  systemResolve,
} from "../../src/fetching/index.ts";

/** The options that every fetcher of a bench gets: the command line's rights, no proxy, the default limits. */
export const benchFetching = () =>
  ({
    egress: createEgress({
      policy: parseEgressPolicy("auto"),
      resolve: systemResolve,
      resolverTtlMs: 30_000,
    }),
    caller: { kind: "cli" },
    chooseProxy: () => null,
    userAgent: "article-extractor/bench",
    limits: DEFAULT_FETCH_LIMITS,
    log: silentLog,
  }) as const;
