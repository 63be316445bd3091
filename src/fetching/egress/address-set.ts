import { Failure } from "../../base/failure.ts";
import { formatIpAddress, networkHolds, parseIpAddress, parseIpNetwork, unmapIpv4 } from "./ip-address.ts";

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
 * The network that belongs to one household or machine: an IPv4 address, or the first 64 bits of an IPv6
 * address, since whoever has one address of such a network has all of them (RFC 6177). Other text is returned
 * unchanged.
 */
export function subscriberNetwork(address: string): string {
  const parsed = parseIpAddress(address);
  if (parsed === null) return address;
  const plain = unmapIpv4(parsed);
  if (plain.version === 4) return formatIpAddress(plain);
  return `${formatIpAddress({ version: 6, value: (plain.value >> 64n) << 64n })}/64`;
}
