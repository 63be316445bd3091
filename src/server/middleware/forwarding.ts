import { isIpAddress, isLoopbackAddress } from "../../fetching/index.ts";

/**
 * Headers with which proxies, load balancers and content networks name the client behind them or themselves:
 * those of the standards, and those of vendors. A list of names can never be complete, so `wasForwarded` also
 * looks at values.
 */
const FORWARDING_NAME = new RegExp(
  `^(?:${[
    // These are in RFC 7239, RFC 9110 (7.6) and RFC 8586, or left from older proxies.
    "forwarded",
    "via",
    "max-forwards",
    "cdn-loop",
    "proxy-.+",
    "surrogate-.+",
    "front-end-https",
    // These name the client: X-Real-IP, True-Client-IP, CF-Connecting-IP, Fastly-Client-IP,
    // X-Cluster-Client-IP, Remote-Addr.
    ".+-ip",
    ".+-ipv6",
    ".+-addr",
    ".+-address",
    "client-ip.*",
    ".*forwarded.*",
    "x-client(?:-.+)?",
    "x-remote(?:-.+)?",
    "x-original(?:ly|-.+)?",
    "x-originating.*",
    "x-proxy.*",
    "x-scheme",
    "x-url-scheme",
    "x-host",
    "x-https?",
    "x-ssl.*",
    "x-request-start",
    // These prefixes belong to products and networks.
    "(?:x-)?(?:akamai|ali|amz|amzn|appengine|arr|azure|cf|cloud|cloudfront|cloudflare|edge|envoy|fastly|fd|fly|goog|haproxy|heroku|incap|ms|nf|ngrok|render|squid|sucuri|tailscale|traefik|varnish|vercel)-.+",
    "x-varnish",
  ].join("|")})$`,
);

/** Headers of clients themselves, whose values may look like an address, as browser versions do. */
const CLIENTS_OWN =
  /^(?:host|origin|referer|user-agent|authorization|cookie|x-request-id|(?:sec|accept|content|if)-.+)$/;

/**
 * Whether a request was forwarded by a proxy that shows it: it has a forwarding header, or any other header
 * with an address that is not this machine's.
 */
export function wasForwarded(headers: Headers): boolean {
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
export function bareAddress(entry: string): string | null {
  const text = entry.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIpAddress(bare) ? bare : null;
}
