import { createEgress, type EgressCaller, parseEgressPolicy } from "../../src/fetching/index.ts";
import { HOSTILE_DNS } from "./hostile-addresses.ts";
import { tableResolver } from "./test-fetcher.ts";

export const REMOTE: EgressCaller = { kind: "remote_request" };
export const CLI: EgressCaller = { kind: "cli" };
export const sourceOf = (...hosts: string[]): EgressCaller => ({ kind: "configured_source", hosts });

/** Asks a policy about an address, where names lead to what is inside. */
export const admitUnder = (policy: string, caller: EgressCaller, url: string) =>
  createEgress({
    policy: parseEgressPolicy(policy),
    resolve: tableResolver(HOSTILE_DNS),
    resolverTtlMs: 0,
  }).admit(new URL(url), caller);
