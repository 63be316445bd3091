import { Failure } from "../../base/failure.ts";
import {
  type IpAddress,
  type IpNetwork,
  isLoopbackAddress,
  networkHolds,
  parseIpNetwork,
} from "./ip-address.ts";

/**
 * Which addresses may be reached besides public ones. `auto` decides by the caller, `open` allows local
 * addresses to everybody, `public` to nobody, and a list allows the named hosts and networks to everybody.
 * Link-local and metadata addresses are refused under each of them. `none` allows no connection at all; this
 * is the offline mode, which no setting can spell.
 */
export type EgressPolicy =
  | { readonly kind: "auto" | "open" | "public" | "none" }
  | { readonly kind: "list"; readonly hosts: readonly string[]; readonly networks: readonly IpNetwork[] };

/**
 * On whose behalf a connection is made: the person at the command line; a request from this machine; a
 * request from elsewhere; a source that the operator's configuration names (its own hosts may be local, but
 * not what it redirects or links to); or the operator's proxy.
 */
export type EgressCaller =
  | { readonly kind: "cli" | "loopback_request" | "remote_request" | "operator" }
  | { readonly kind: "configured_source"; readonly hosts: readonly string[] };

/** What a server knows about the connection that a request came over. */
export type RequestOrigin = {
  /** The address of the TCP peer, never one from a header. */
  readonly peerAddress: string;
  /** Whether the request shows any sign of a proxy between client and server. */
  readonly wasForwarded: boolean;
  /** Whether the server asks its clients for an API key. */
  readonly apiKeyConfigured: boolean;
};

/**
 * The caller that a server's request stands for. It is local only when the connection comes from loopback, no
 * proxy forwarded it, and no API key is set (a server with a key serves other people).
 */
export function requestCaller(origin: RequestOrigin): EgressCaller {
  const local = isLoopbackAddress(origin.peerAddress) && !origin.wasForwarded && !origin.apiKeyConfigured;
  return { kind: local ? "loopback_request" : "remote_request" };
}

/**
 * Reads `ARTICLE_EXTRACTOR_EGRESS` / `--egress`: `auto`, `open`, `public`, or a list, separated by commas
 * or spaces, of host names, `.suffix` (any name below it), addresses and CIDR networks.
 * @throws Failure `invalid_settings` naming the entry that is none of these
 */
export function parseEgressPolicy(text: string): EgressPolicy {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const [only] = entries;
  if (entries.length === 0) return { kind: "auto" };
  if (entries.length === 1 && (only === "auto" || only === "open" || only === "public"))
    return { kind: only };
  const hosts: string[] = [];
  const networks: IpNetwork[] = [];
  for (const entry of entries) {
    const network = parseIpNetwork(entry);
    if (network) networks.push(network);
    else if (HOST_ENTRY.test(entry) && !/^(auto|open|public)$/.test(entry)) hosts.push(normalizeHost(entry));
    else
      throw new Failure(
        "invalid_settings",
        `egress policy: ${JSON.stringify(entry)} is neither a host, a .suffix, an address nor a CIDR network`,
      );
  }
  return { kind: "list", hosts, networks };
}

/** Whether a host, or one address of the resolver's answer for it, may be local. */
export function mayBeLocal(
  policy: EgressPolicy,
  caller: EgressCaller,
  target: { readonly host: string; readonly address: IpAddress | null },
): boolean {
  if (caller.kind === "operator") return true;
  if (policy.kind === "list") {
    const { address } = target;
    return (
      matchesAny(policy.hosts, target.host) ||
      (address !== null && policy.networks.some((network) => networkHolds(network, address)))
    );
  }
  if (policy.kind !== "auto") return policy.kind === "open";
  if (caller.kind === "configured_source") return matchesAny(caller.hosts.map(normalizeHost), target.host);
  return caller.kind !== "remote_request";
}

/** Whether under this policy the caller may ever reach a local address that only the resolver knows. */
export const mayResolveToLocal = (policy: EgressPolicy): boolean =>
  policy.kind === "list" && policy.networks.length > 0;

const HOST_ENTRY = /^\.?[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_.])?$/u;

const matchesAny = (patterns: readonly string[], host: string): boolean =>
  patterns.some((pattern) => (pattern.startsWith(".") ? host.endsWith(pattern) : host === pattern));

/**
 * Normalises a host for comparison: lower case, without the brackets of IPv6 and without the trailing dot.
 */
export function normalizeHost(host: string): string {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  let end = bare.length;
  while (end > 0 && bare[end - 1] === ".") end--;
  return bare.slice(0, end).toLowerCase();
}

/** Whether RFC 6761 reserves the name for this machine, whatever a resolver says. */
export const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/**
 * Whether a name means this machine or an inner network, without asking a resolver. It does when it has no
 * dot, or ends in a suffix that is reserved for that (RFC 6761, 6762, 8375, 9476; ICANN 2024 for `internal`)
 * or commonly used inside networks.
 */
export function isLocalName(host: string): boolean {
  return !host.includes(".") || INNER_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

const INNER_SUFFIXES = `.localhost .localdomain .local .internal .intranet .private .corp .home
  .home.arpa .lan .alt`.split(/\s+/);

/** Whether the name belongs to a cloud's metadata service. */
export const isMetadataName = (host: string): boolean => METADATA_NAMES.has(host);

const METADATA_NAMES = new Set(
  `metadata metadata.google.internal metadata.goog metadata.tencentyun.com metadata.platformequinix.com
   instance-data instance-data.ec2.internal`.split(/\s+/),
);
