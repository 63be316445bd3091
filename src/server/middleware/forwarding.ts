import { isIpAddress, isLoopbackAddress } from "../../fetching/index.ts";

/**
 * Headers by which proxies, load balancers and content networks tell of the client behind them or of themselves:
 * those of the standards, and what the vendors put in their place. A list of names can never be whole, so
 * `wasForwarded` looks at values besides.
 */
const FORWARDING_NAME = new RegExp(
  `^(?:${[
    // RFC 7239, RFC 9110 (7.6), RFC 8586, and what is left of older proxies.
    "forwarded",
    "via",
    "max-forwards",
    "cdn-loop",
    "proxy-.+",
    "surrogate-.+",
    "front-end-https",
    // Who is behind: X-Real-IP, True-Client-IP, CF-Connecting-IP, Fastly-Client-IP, X-Cluster-Client-IP, Remote-Addr.
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
    // Of products and networks, whatever follows.
    "(?:x-)?(?:akamai|ali|amz|amzn|appengine|arr|azure|cf|cloud|cloudfront|cloudflare|edge|envoy|fastly|fd|fly|goog|haproxy|heroku|incap|ms|nf|ngrok|render|squid|sucuri|tailscale|traefik|varnish|vercel)-.+",
    "x-varnish",
  ].join("|")})$`,
);

/** Headers of clients themselves, whose values may look like an address: versions of browsers do. */
const CLIENTS_OWN =
  /^(?:host|origin|referer|user-agent|authorization|cookie|x-request-id|(?:sec|accept|content|if)-.+)$/;

/**
 * Whether a request was passed on by somebody who says so: it carries a forwarding header, or any other that names
 * an address which is not this machine's.
 */
export function wasForwarded(headers: Headers): boolean {
  for (const [name, value] of headers)
    if (FORWARDING_NAME.test(name) || (!CLIENTS_OWN.test(name) && namesForeignAddress(value))) return true;
  return false;
}

/** Of a longer value the rest is not looked at. */
const MAX_VALUE = 500;

function namesForeignAddress(value: string): boolean {
  // Nearly all values have neither an IPv4 address's dots nor an IPv6 address's colons.
  if (!/\d\.\d|:[\da-f]*:/i.test(value)) return false;
  return value
    .slice(0, MAX_VALUE)
    .split(/[\s,;="]+/)
    .some((word) => {
      const address = bareAddress(word);
      return address !== null && !isLoopbackAddress(address);
    });
}

/** The address of `192.0.2.1:4711` and `[2001:db8::1]:4711`, whose port is not part of it. */
export function bareAddress(entry: string): string | null {
  const text = entry.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIpAddress(bare) ? bare : null;
}
