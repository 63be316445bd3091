import type { AddressSet } from "../../fetching/index.ts";
import type { Client } from "./exchange.ts";
import { bareAddress, wasForwarded as isForwarded } from "./forwarding.ts";

/**
 * Identifies the client. Forwarding headers count only when the peer is a trusted proxy. In a list of
 * forwarders the last one that is not trusted is the client, since everything before it may be made up.
 */
export function clientOf(request: Request, peerAddress: string, trusted: AddressSet): Client {
  const { headers } = request;
  const wasForwarded = isForwarded(headers);
  const own = { scheme: "http", host: headers.get("host") ?? "" };
  if (!wasForwarded || !trusted.has(peerAddress))
    return { peerAddress, address: peerAddress, wasForwarded, ...own };
  const chain = headers.get("x-forwarded-for")?.split(",") ?? [];
  const scheme = lastOf(headers.get("x-forwarded-proto"))?.toLowerCase();
  return {
    peerAddress,
    address: firstUntrusted(chain, trusted) ?? peerAddress,
    wasForwarded,
    scheme: scheme === "https" ? "https" : "http",
    host: lastOf(headers.get("x-forwarded-host")) ?? own.host,
  };
}

/** The prefix that a trusted proxy removed from the path: `/docs`, or empty. */
export function forwardedPrefix(request: Request, peerAddress: string, trusted: AddressSet): string {
  if (!trusted.has(peerAddress)) return "";
  return normalBasePath(lastOf(request.headers.get("x-forwarded-prefix")) ?? "") ?? "";
}

/**
 * Normalises a base path to one leading slash and no trailing one; empty for the root.
 * @returns null for text that cannot be part of an address: `//host`, `..`, spaces, quotes
 */
export function normalBasePath(written: string): string | null {
  const path = written.trim().replace(/(?<!\/)\/+$/, "");
  if (path === "") return "";
  const isPlain = /^\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*$/.test(path);
  return isPlain && !path.split("/").includes("..") && !path.split("/").includes(".") ? path : null;
}

function firstUntrusted(chain: readonly string[], trusted: AddressSet): string | null {
  for (let index = chain.length - 1; index >= 0; index--) {
    const address = bareAddress(chain[index] ?? "");
    // An entry that is no address was made up, and so was everything before it.
    if (address === null) return null;
    if (!trusted.has(address) || index === 0) return address;
  }
  return null;
}

/**
 * Proxies append to what they received, so only the last part of a list comes from the trusted proxy itself.
 */
const lastOf = (list: string | null): string | undefined => list?.split(",").at(-1)?.trim() || undefined;
