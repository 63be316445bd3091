import { Failure } from "../../base/failure.ts";
import { displayUrl } from "../display-url.ts";
import { addressReach } from "./address-reach.ts";
import { isLocalhost, isLocalName, isMetadataName, normalizeHost } from "./host-names.ts";
import { formatIpAddress, type IpAddress, parseIpAddress, unmapIpv4 } from "./ip-address.ts";
import { type EgressCaller, type EgressPolicy, mayBeLocal, mayResolveToLocal } from "./policy.ts";
import { createResolverCache, type Resolve } from "./resolver.ts";

/** A target that passed the policy: connect to one of `addresses` and to nothing else. */
export type AdmittedTarget = {
  /** The name or address that the certificate must match, without brackets and trailing dot. */
  readonly host: string;
  /** At least one checked address, in the resolver's order, IPv6 without brackets. */
  readonly addresses: readonly string[];
};

export type EgressOptions = {
  readonly policy: EgressPolicy;
  /** Finds all addresses of a name; the product uses `systemResolve`. */
  readonly resolve: Resolve;
  /** How long a resolver's answer is reused, in ms; 0 asks every time. */
  readonly resolverTtlMs: number;
  readonly now?: () => number;
};

/**
 * Decides about every outbound connection. It opens none itself: whoever connects must use the addresses that
 * it returns, so that a name that resolves differently a moment later gains nothing.
 */
export interface Egress {
  /**
   * Checks the scheme, the host and, for a name, EVERY address of its DNS answer.
   * @throws Failure `egress_refused`, or `network` when the name has no address, or the signal's reason
   */
  admit(url: URL, caller: EgressCaller, signal?: AbortSignal): Promise<AdmittedTarget>;
  /**
   * Checks what can be checked when a proxy resolves the name: the scheme, literal addresses, and names that
   * mean this machine or an inner network.
   * @throws Failure `egress_refused`
   */
  admitThroughProxy(url: URL, caller: EgressCaller): void;
}

/** Makes the decision for one policy. Share the instance, because it keeps the resolver's answers. */
export function createEgress(options: EgressOptions): Egress {
  const { policy } = options;
  const resolve = createResolverCache({
    resolve: options.resolve,
    ttlMs: options.resolverTtlMs,
    now: options.now ?? Date.now,
  });
  const check = (target: Target, address: IpAddress, resolved: boolean): string => {
    const reach = addressReach(address);
    const allowed =
      reach === "public" ||
      (reach === "local" && mayBeLocal(policy, target.caller, { host: target.host, address }));
    if (!allowed) throw refusal(target, reach === "forbidden" ? FORBIDDEN : resolved ? TURNS_LOCAL : LOCAL);
    return formatIpAddress(unmapIpv4(address));
  };
  const checkName = (target: Target): void => {
    if (isMetadataName(target.host)) throw refusal(target, FORBIDDEN);
    if (!isLocalName(target.host) || mayResolveToLocal(policy)) return;
    if (!mayBeLocal(policy, target.caller, { host: target.host, address: null }))
      throw refusal(target, LOCAL_NAME);
  };

  return {
    async admit(url, caller, signal) {
      const target = readTarget(policy, url, caller);
      const literal = parseIpAddress(target.host);
      if (literal) return { host: target.host, addresses: [check(target, literal, false)] };
      checkName(target);
      const answer = isLocalhost(target.host) ? LOOPBACK : await resolve(target.host, signal);
      if (answer.length === 0)
        throw new Failure("network", `could not resolve ${target.host}: the name has no address`);
      return { host: target.host, addresses: answer.map((text) => check(target, readAnswer(text), true)) };
    },
    admitThroughProxy(url, caller) {
      const target = readTarget(policy, url, caller);
      const literal = parseIpAddress(target.host);
      if (literal) check(target, literal, false);
      else if (isLocalName(target.host) && mayResolveToLocal(policy)) {
        // A proxy resolves this name, so a list of networks cannot allow it.
        if (!mayBeLocal(policy, caller, { host: target.host, address: null }))
          throw refusal(target, LOCAL_NAME);
      } else checkName(target);
    },
  };
}

type Target = { readonly url: URL; readonly host: string; readonly caller: EgressCaller };

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

const FORBIDDEN = "link-local, metadata and multicast addresses are refused always";
const LOCAL = "the address is not public";
// The message must not name the address: it would tell an outside caller about the inner network.
const TURNS_LOCAL = "the name resolves to an address that is not public";
const LOCAL_NAME = "the name belongs to this machine or to an inner network";

function readTarget(policy: EgressPolicy, url: URL, caller: EgressCaller): Target {
  const target = { url, host: normalizeHost(url.hostname), caller };
  if (policy.kind === "none") throw refusal(target, "the program runs offline");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refusal(target, "only http and https are fetched");
  if (target.host === "") throw refusal(target, "there is no host");
  return target;
}

function readAnswer(text: string): IpAddress {
  // Link-local answers carry a zone ("fe80::1%eth0"), but only the address matters.
  const address = parseIpAddress(text.replace(/%.*$/, ""));
  if (!address)
    throw new Failure("network", `the resolver gave ${JSON.stringify(text)}, which is no address`);
  return address;
}

/** What was refused and why, for callers that see the refusal through another URL of the host. */
type Refused = { readonly refusedHost: string; readonly why: string };

const refusal = ({ url }: Pick<Target, "url">, why: string): Failure =>
  new Failure("egress_refused", `the egress policy refuses ${displayUrl(url)}: ${why}`, {
    cause: { refusedHost: url.host, why } satisfies Refused,
  });

/**
 * Rewords a refusal for a URL of the same host. A refusal of another host, such as the proxy's, is returned
 * unchanged.
 */
export function refusalOf(error: Failure, url: URL): Failure {
  const { refusedHost, why } = (error.cause ?? {}) as Partial<Refused>; // `refusal` sets this cause
  return refusedHost === url.host && why !== undefined ? refusal({ url }, why) : error;
}
