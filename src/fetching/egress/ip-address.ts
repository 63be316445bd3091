/** An IPv4 or IPv6 address as a number, so that membership in a network is a shift and a comparison. */
export type IpAddress = { readonly version: 4 | 6; readonly value: bigint };

/** A block of addresses: all whose first `prefixLength` bits equal those of `value`. */
export type IpNetwork = { readonly version: 4 | 6; readonly value: bigint; readonly prefixLength: number };

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

/**
 * The IPv4 address inside an IPv4-mapped one (RFC 4291, 2.5.5.2); any other address is returned unchanged.
 */
export function unmapIpv4(address: IpAddress): IpAddress {
  return address.version === 6 && address.value >> 32n === 0xffffn
    ? { version: 4, value: address.value & 0xffff_ffffn }
    : address;
}

/** Writes an address in its usual form; IPv6 is neither compressed nor bracketed. */
export function formatIpAddress(address: IpAddress): string {
  if (address.version === 4) {
    return [24n, 16n, 8n, 0n].map((shift) => String((address.value >> shift) & 255n)).join(".");
  }
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
