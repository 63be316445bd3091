import { lookup } from "node:dns/promises";
import { orAborted } from "../../base/abort.ts";
import { keepNewest } from "../../base/bounded-map.ts";
import { steadyNow } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { systemCode } from "../../base/system-error.ts";
import { displayUrl } from "../http/tries.ts";
import type { WireRoute } from "../http/wire.ts";
import {
  addressReach,
  type EgressCaller,
  type EgressPolicy,
  formatIpAddress,
  type IpAddress,
  isLocalhost,
  isLocalName,
  isMetadataName,
  mayBeLocal,
  mayResolveToLocal,
  normalizeHost,
  parseIpAddress,
  unmapIpv4,
} from "./policy.ts";
import type { ChooseProxy, ChosenProxy } from "./proxy.ts";

/** A target that passed the policy: connect to one of `addresses` and to nothing else. */
type AdmittedTarget = {
  /** The name or address that the certificate must match, without brackets and trailing dot. */
  readonly host: string;
  /** At least one checked address, in the resolver's order, IPv6 without brackets. */
  readonly addresses: readonly string[];
};

type EgressOptions = {
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
  const resolve = createResolverCache(options);
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
    throw new Failure("network", `the resolver gave ${JSON.stringify(text)}, which is not an IP address`);
  return address;
}

/** A refused host and the reason, for callers that meet the refusal through another URL of the host. */
type Refused = { readonly refusedHost: string; readonly why: string };

const refusal = ({ url }: Pick<Target, "url">, why: string): Failure =>
  new Failure("egress_refused", `the egress policy refuses ${displayUrl(url)}: ${why}`, {
    cause: { refusedHost: url.host, why } satisfies Refused,
  });

/** Rewords a refusal for a URL of the same host; another host's, such as the proxy's, stays as it is. */
export function refusalOf(error: Failure, url: URL): Failure {
  const { refusedHost, why } = (error.cause ?? {}) as Partial<Refused>; // `refusal` sets this cause
  return refusedHost === url.host && why !== undefined ? refusal({ url }, why) : error;
}

/** Finds all addresses of a host name, in the order to try them; rejects with a `code` like Node's resolver. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Asks the system's resolver, which knows the hosts file, search domains and DNS like any other program. */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
};

const MAX_KEPT_ANSWERS = 2048;

/**
 * A resolver that keeps answers for a while and combines lookups that overlap. It does not keep failed
 * lookups. Keeping answers is safe, because connections use the very addresses that were checked.
 */
function createResolverCache({ resolve, resolverTtlMs: ttlMs, now = steadyNow }: EgressOptions) {
  const kept = new Map<string, { readonly answer: Promise<readonly string[]>; readonly expiresAt: number }>();

  const ask = (host: string): Promise<readonly string[]> => {
    const found = kept.get(host);
    if (found && now() < found.expiresAt) return found.answer;
    const answer = resolve(host).catch((error: unknown) => {
      kept.delete(host);
      throw lookupFailure(host, error);
    });
    if (ttlMs > 0) keepNewest(kept, host, { answer, expiresAt: now() + ttlMs }, MAX_KEPT_ANSWERS);
    return answer;
  };

  return (host: string, signal?: AbortSignal) =>
    signal ? orAborted(ask(host), signal, () => signal.reason) : ask(host);
}

function lookupFailure(host: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = systemCode(error);
  const why = code === "ENOTFOUND" || code === "ENODATA" ? "the name has no address" : `the resolver failed`;
  return new Failure("network", `could not resolve ${host}: ${why}${code ? ` (${code})` : ""}`, {
    cause: error,
  });
}

/** Finds at least one way to a URL that the egress policy admits, in the order to try them. */
export type RouteFinder = (url: URL, signal: AbortSignal) => Promise<readonly WireRoute[]>;

export type RouteOptions = {
  readonly egress: Egress;
  /** On whose behalf connections are opened. */
  readonly caller: EgressCaller;
  readonly chooseProxy: ChooseProxy;
  readonly log: Log;
};

/** Finds routes for one caller, and logs each proxy the first time that it is used. */
export function createRouteFinder(options: RouteOptions): RouteFinder {
  const { egress, caller, log } = options;
  const logged = new Set<string>();
  const logOnce = (proxy: ChosenProxy | null): void => {
    const shown = proxy?.url ?? "none";
    if (logged.has(shown)) return;
    logged.add(shown);
    log.info("proxy resolved", { proxy: shown });
  };
  return async (url, signal) => {
    const proxy = options.chooseProxy(url);
    logOnce(proxy);
    if (proxy) {
      egress.admitThroughProxy(url, caller);
      return proxyRoutes(options, proxy, signal);
    }
    const { host, addresses } = await egress.admit(url, caller, signal);
    return addresses.map((address): WireRoute => ({ kind: "direct", host, address }));
  };
}

async function proxyRoutes(
  options: RouteOptions,
  proxy: ChosenProxy,
  signal: AbortSignal,
): Promise<WireRoute[]> {
  const proxyUrl = new URL(proxy.url);
  const caller: EgressCaller = proxy.source === "operator" ? { kind: "operator" } : options.caller;
  const { host, addresses } = await options.egress.admit(proxyUrl, caller, signal).catch((error: unknown) => {
    throw error instanceof Failure
      ? new Failure(error.code, `the proxy ${proxy.url}: ${error.message}`, { cause: error.cause })
      : error;
  });
  // A proxy that is reached over TLS must keep its name for the certificate, so its address cannot be pinned:
  // an outside caller could make the name resolve elsewhere a moment later.
  if (proxyUrl.protocol === "https:") {
    if (caller.kind === "remote_request")
      throw new Failure("egress_refused", "the egress policy refuses a proxy over https in a request");
    return [{ kind: "proxy", proxyUrl: proxy.url, proxyHost: host, authorization: proxy.authorization }];
  }
  return addresses.map((address): WireRoute => {
    const pinned = address.includes(":") ? `[${address}]` : address;
    const url = `http://${pinned}:${proxyUrl.port || "80"}`;
    return { kind: "proxy", proxyUrl: url, proxyHost: host, authorization: proxy.authorization };
  });
}

/** Names a route's proxy for messages, without credentials and with its name instead of its address. */
export function throughProxy(route: WireRoute | null): string {
  if (route?.kind !== "proxy") return "";
  const { port, protocol } = new URL(route.proxyUrl);
  return ` through the proxy ${route.proxyHost}:${port || (protocol === "https:" ? "443" : "80")}`;
}
