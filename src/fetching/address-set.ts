import { Failure } from "../failure.ts";
import { networkHolds, parseIpAddress, parseIpNetwork } from "./ip-address.ts";

/** A set of IP addresses, as an operator lists them. */
export type AddressSet = {
  /** Whether the text is an address, and one of the set. */
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
