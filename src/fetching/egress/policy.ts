import { domainToASCII } from "node:url";
import { Failure } from "../../base/failure.ts";

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

/** The connection that a request to a server came over. */
type RequestOrigin = {
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
 * @throws Failure `invalid_settings` naming the entry that cannot be read
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
 * Normalises a host for comparison: lower case, in ASCII as URLs have it, without the brackets of IPv6 and without the
 * trailing dot.
 */
export function normalizeHost(host: string): string {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  let end = bare.length;
  while (end > 0 && bare[end - 1] === ".") end--;
  const name = bare.slice(0, end).toLowerCase();
  return /[^\0-\x7f]/.test(name) ? domainToASCII(name) || name : name;
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

/** An IPv4 or IPv6 address as a number, so that membership in a network is a shift and a comparison. */
export type IpAddress = { readonly version: 4 | 6; readonly value: bigint };

/** A block of addresses: all whose first `prefixLength` bits equal those of `value`. */
type IpNetwork = { readonly version: 4 | 6; readonly value: bigint; readonly prefixLength: number };

/**
 * Reads a dotted quad of four decimal numbers or an IPv6 address (RFC 4291), with or without brackets. The
 * short, octal, hexadecimal and single-number forms of IPv4 are not accepted: the WHATWG URL parser has
 * already turned them into dotted quads, and elsewhere nobody means them.
 * @returns null for anything else, a zone id included
 */
export function parseIpAddress(text: string): IpAddress | null {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (bare.includes(":")) return parseIpv6(bare);
  const value = parseIpv4(bare);
  return value === null ? null : { version: 4, value };
}

/**
 * Reads `address/length`, or a single address as a network of one.
 * @returns null when the text is neither
 */
export function parseIpNetwork(text: string): IpNetwork | null {
  const slash = text.indexOf("/");
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (!address) return null;
  const width = address.version === 4 ? 32 : 128;
  if (slash < 0) return { ...address, prefixLength: width };
  const length = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(length) || Number(length) > width) return null;
  return { ...address, prefixLength: Number(length) };
}

/** Whether the network holds the address; an IPv4 address written as `::ffff:a.b.c.d` counts as IPv4. */
export function networkHolds(network: IpNetwork, address: IpAddress): boolean {
  const plain = unmapIpv4(address);
  if (plain.version !== network.version) return false;
  const shift = BigInt((network.version === 4 ? 32 : 128) - network.prefixLength);
  return plain.value >> shift === network.value >> shift;
}

/** The IPv4 address inside an IPv4-mapped one (RFC 4291, 2.5.5.2); any other address is returned unchanged. */
export function unmapIpv4(address: IpAddress): IpAddress {
  return address.version === 6 && address.value >> 32n === 0xffffn
    ? { version: 4, value: address.value & 0xffff_ffffn }
    : address;
}

/** Writes an address in its usual form; IPv6 is neither compressed nor bracketed. */
export function formatIpAddress(address: IpAddress): string {
  if (address.version === 4)
    return [24n, 16n, 8n, 0n].map((shift) => String((address.value >> shift) & 255n)).join(".");
  const groups: string[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n)
    groups.push(((address.value >> shift) & 0xffffn).toString(16));
  return groups.join(":");
}

function parseIpv4(text: string): bigint | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return null;
  let value = 0n;
  for (const part of match.slice(1)) {
    // Some parsers read "010" as 8 and others as 10, so it is rejected.
    if (Number(part) > 255 || (part.length > 1 && part.startsWith("0"))) return null;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseIpv6(text: string): IpAddress | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = ipv6Groups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? ipv6Groups(halves[1] ?? "", true) : [];
  if (!head || !tail) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return { version: 6, value: groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n) };
}

/** @param ipv4Allowed whether the last part may be a dotted quad, which fills two groups */
function ipv6Groups(text: string, ipv4Allowed: boolean): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const ipv4 = ipv4Allowed && index === parts.length - 1 ? parseIpv4(part) : null;
    if (ipv4 === null) return null;
    groups.push(Number(ipv4 >> 16n), Number(ipv4 & 0xffffn));
  }
  return groups;
}

/** A set of IP addresses as an operator lists them. */
export type AddressSet = {
  /** Whether the text is an address in the set. */
  has(address: string): boolean;
};

/**
 * Reads a list of addresses and CIDR networks, separated by commas or spaces.
 * @throws Failure `invalid_settings` naming the entry that is neither
 */
export function parseAddressSet(text: string): AddressSet {
  const networks = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map((entry) => {
      const network = parseIpNetwork(entry);
      if (network) return network;
      throw new Failure(
        "invalid_settings",
        `${JSON.stringify(entry.slice(0, 100))} is neither an IP address nor a CIDR network`,
      );
    });
  return {
    has(address) {
      const parsed = parseIpAddress(address);
      return parsed !== null && networks.some((network) => networkHolds(network, parsed));
    },
  };
}

const LOOPBACK = parseAddressSet("127.0.0.0/8 ::1");

/** Whether the text is an address of the machine itself. */
export const isLoopbackAddress = (address: string): boolean => LOOPBACK.has(address);

/** Whether the text is an IPv4 or IPv6 address. */
export const isIpAddress = (text: string): boolean => parseIpAddress(text) !== null;

/**
 * The network that belongs to one household or machine: an IPv4 address, or the first 64 bits of an IPv6 address, since
 * whoever has one address of such a network has all of them (RFC 6177). Other text is returned unchanged.
 */
export function subscriberNetwork(address: string): string {
  const parsed = parseIpAddress(address);
  if (parsed === null) return address;
  const plain = unmapIpv4(parsed);
  if (plain.version === 4) return formatIpAddress(plain);
  return `${formatIpAddress({ version: 6, value: (plain.value >> 64n) << 64n })}/64`;
}

/**
 * How far an address reaches.
 * - `public`: a host of the internet.
 * - `local`: this machine, a private network, or a block without a public meaning.
 * - `forbidden`: link-local, cloud metadata, multicast and broadcast addresses, which are refused under every policy.
 */
type AddressReach = "public" | "local" | "forbidden";

/**
 * Classifies an address by IANA's special-purpose registries for IPv4 and IPv6. An IPv6 address that carries
 * an IPv4 address reaches no farther than the IPv4 address: mapped, compatible, translated (RFC 2765), NAT64 (RFC
 * 6052), 6to4 (RFC 3056), Teredo (RFC 4380) and ISATAP (RFC 5214) addresses.
 */
export function addressReach(address: IpAddress): AddressReach {
  const plain = unmapIpv4(address);
  if (plain.version === 4) return reachByTable(plain, IPV4_REACH) ?? "public";
  const own = reachByTable(plain, IPV6_REACH) ?? "local";
  return carriedIpv4(plain.value).reduce<AddressReach>(
    (worst, value) => narrower(worst, addressReach({ version: 4, value })),
    own,
  );
}

type ReachRow = { readonly network: IpNetwork; readonly reach: AddressReach };

const rows = (reach: AddressReach, networks: readonly string[]): ReachRow[] =>
  networks.map((text) => {
    const network = parseIpNetwork(text);
    if (!network) throw new Error(`not a network: ${text}`);
    return { network, reach };
  });

// The first row that holds the address decides, so single addresses come before the blocks around them.
const IPV4_REACH: readonly ReachRow[] = [
  ...rows("forbidden", [
    "169.254.0.0/16", // link-local; 169.254.169.254 is the metadata service of most clouds
    "100.100.100.200", // Alibaba Cloud metadata
    "192.0.0.192", // Oracle Cloud (classic) metadata
    "168.63.129.16", // Azure's host agent
    "224.0.0.0/4", // multicast
    "240.0.0.0/4", // reserved, and 255.255.255.255
  ]),
  // Development servers print "0.0.0.0", which connects to this machine.
  ...rows("local", ["0.0.0.0"]),
  ...rows("forbidden", ["0.0.0.0/8"]),
  ...rows("local", [
    "10.0.0.0/8",
    "100.64.0.0/10", // carrier-grade NAT
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
  ]),
];

const IPV6_REACH: readonly ReachRow[] = [
  ...rows("forbidden", [
    "fe80::/10", // link-local
    "ff00::/8", // multicast
    "fd00:ec2::254", // AWS metadata
    "fd00:ec2::253", // AWS resolver
    "fd20:ce::254", // Google Cloud metadata
    "fd00:42::42", // Scaleway metadata
  ]),
  ...rows("public", ["64:ff9b::/96"]), // NAT64's well-known prefix: as far as what it carries
  ...rows("local", [
    "2001::/23", // Teredo, ORCHID, benchmarking and other protocol assignments
    "2001:db8::/32",
    "3fff::/20",
  ]),
  ...rows("public", ["2000::/3"]), // all allocated global unicast space; the rest is local
];

const reachByTable = (address: IpAddress, table: readonly ReachRow[]): AddressReach | null =>
  table.find((row) => networkHolds(row.network, address))?.reach ?? null;

const NARROWNESS: Record<AddressReach, number> = { public: 0, local: 1, forbidden: 2 };

const narrower = (a: AddressReach, b: AddressReach): AddressReach => (NARROWNESS[b] > NARROWNESS[a] ? b : a);

const LOW_32 = 0xffff_ffffn;

/** Every IPv4 address that an IPv6 address may carry. */
function carriedIpv4(value: bigint): bigint[] {
  const carried: bigint[] = [];
  const low = value & LOW_32;
  const top96 = value >> 32n;
  if (top96 === 0n && low > 1n) carried.push(low); // compatible; :: and ::1 carry none
  if (top96 === 0xffff_0000n) carried.push(low); // translated ::ffff:0:a.b.c.d
  if (top96 === 0x0064_ff9b_0000_0000_0000_0000n) carried.push(low); // NAT64
  if (value >> 80n === 0x0064_ff9b_0001n) carried.push(low); // local-use NAT64 in its most common layout
  if (value >> 112n === 0x2002n) carried.push((value >> 80n) & LOW_32); // 6to4
  if (value >> 96n === 0x2001_0000n) carried.push((value >> 64n) & LOW_32, low ^ LOW_32); // Teredo
  // This is ISATAP's interface identifier; the bit 0x0200 says whether the IPv4 address is unique.
  const interfaceHigh = (value >> 32n) & LOW_32;
  if (interfaceHigh === 0x0000_5efen || interfaceHigh === 0x0200_5efen) carried.push(low);
  return carried;
}
