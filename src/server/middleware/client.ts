import { wordsIn } from "../../base/text.ts";
import { type AddressSet, isIpAddress, isLoopbackAddress } from "../../fetching/index.ts";
import type { Client } from "./exchange.ts";

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
    // An entry that is not an address was made up, and so was everything before it.
    if (address === null) return null;
    if (!trusted.has(address) || index === 0) return address;
  }
  return null;
}

/** Proxies append to what they received, so only the last part of a list comes from the trusted proxy itself. */
const lastOf = (list: string | null): string | undefined => list?.split(",").at(-1)?.trim() || undefined;

/**
 * Headers with which proxies, load balancers and content networks name the client behind them or themselves: those of
 * the standards, and those of vendors. A list of names can never be complete, so `isForwarded` also looks at values.
 */
const FORWARDING_NAME = new RegExp(
  `^(?:${[
    // These are in RFC 7239, RFC 9110 (7.6) and RFC 8586, or left from older proxies.
    ...wordsIn("forwarded via max-forwards cdn-loop proxy-.+ surrogate-.+ front-end-https"),
    // These name the client: X-Real-IP, True-Client-IP, CF-Connecting-IP, Fastly-Client-IP,
    // X-Cluster-Client-IP, Remote-Addr.
    ...wordsIn(
      ".+-ip .+-ipv6 .+-addr .+-address client-ip.* .*forwarded.* x-client(?:-.+)? x-remote(?:-.+)?",
    ),
    ...wordsIn(
      "x-original(?:ly|-.+)? x-originating.* x-proxy.* x-scheme x-url-scheme x-host x-https? x-ssl.*",
    ),
    "x-request-start",
    // These prefixes belong to products and networks.
    "(?:x-)?(?:akamai|ali|amz|amzn|appengine|arr|azure|cf|cloud|cloudfront|cloudflare|edge|envoy|fastly|fd|fly|goog|haproxy|heroku|incap|ms|nf|ngrok|render|squid|sucuri|tailscale|traefik|varnish|vercel)-.+",
    "x-varnish",
  ].join("|")})$`,
);

/** Headers of clients themselves, whose values may look like an address, as browser versions do. */
const CLIENTS_OWN =
  /^(?:host|origin|referer|user-agent|authorization|cookie|x-request-id|(?:sec|accept|content|if)-.+)$/;

/** Whether a request shows a proxy: a forwarding header, or a foreign address in any header but a client's own. */
function isForwarded(headers: Headers): boolean {
  for (const [name, value] of headers)
    if (FORWARDING_NAME.test(name) || (!CLIENTS_OWN.test(name) && namesForeignAddress(value))) return true;
  return false;
}

/** The rest of a longer value is not checked. */
const MAX_VALUE = 500;

function namesForeignAddress(value: string): boolean {
  // Nearly all values lack both an IPv4 address's dots and an IPv6 address's colons.
  if (!/\d\.\d|:[\da-f]*:/i.test(value)) return false;
  return value
    .slice(0, MAX_VALUE)
    .split(/[\s,;="]+/)
    .some((word) => {
      const address = bareAddress(word);
      return address !== null && !isLoopbackAddress(address);
    });
}

/** The address in `192.0.2.1:4711` and `[2001:db8::1]:4711`, without the port. */
function bareAddress(entry: string): string | null {
  const text = entry.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIpAddress(bare) ? bare : null;
}
