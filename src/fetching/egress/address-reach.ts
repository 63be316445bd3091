import { type IpAddress, type IpNetwork, networkHolds, parseIpNetwork, unmapIpv4 } from "./ip-address.ts";

/**
 * How far an address reaches.
 * - `public`: a host of the internet.
 * - `local`: this machine, a private network, or a block without a public meaning.
 * - `forbidden`: link-local, cloud metadata, multicast and broadcast addresses, which are refused under every
 *   policy.
 */
export type AddressReach = "public" | "local" | "forbidden";

/**
 * Classifies an address by IANA's special-purpose registries for IPv4 and IPv6. An IPv6 address that carries
 * an IPv4 address reaches no farther than that one: mapped, compatible, translated (RFC 2765), NAT64 (RFC
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
