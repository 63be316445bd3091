import { Failure } from "../../base/failure.ts";
import type { Validators } from "../types.ts";

/** Headers that belong to the connection or are set by this program, so a caller may not set them. */
const RESERVED = new Set(
  `host connection content-length transfer-encoding te trailer upgrade expect keep-alive
   proxy-authorization proxy-connection accept-encoding`.split(/\s+/),
);

/**
 * Headers that only say how to answer and hold no secret. All others are sent only to the origin that they
 * were meant for, because no list of names would know every service's key.
 */
const HARMLESS =
  /^(?:accept|accept-language|cache-control|pragma|referer|user-agent|dnt|sec-[a-z-]+|upgrade-insecure-requests)$/;

/** A caller's headers, checked and sorted by whether they may be sent to another origin. */
type CustomHeaders = {
  readonly anywhere: Readonly<Record<string, string>>;
  readonly sameOrigin: Readonly<Record<string, string>>;
};

/**
 * Checks headers that a user gave.
 * @throws Failure `invalid_usage` naming the header (never its value) that HTTP or this program forbids
 */
export function checkCustomHeaders(headers: Readonly<Record<string, string>>): CustomHeaders {
  const anywhere: Record<string, string> = {};
  const sameOrigin: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(key))
      throw new Failure("invalid_usage", `header ${JSON.stringify(name.slice(0, 60))}: not a header name`);
    if (RESERVED.has(key))
      throw new Failure("invalid_usage", `header ${key}: it is set by the program itself`);
    if (value.length > 8192 || !isFieldValue(value))
      throw new Failure(
        "invalid_usage",
        `header ${key}: its value holds control or non-Latin characters, or over 8192 of them`,
      );
    (HARMLESS.test(key) ? anywhere : sameOrigin)[key] = value.trim();
  }
  return { anywhere, sameOrigin };
}

// A line break in a value would start another header or another request.
const isFieldValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

/** @throws Failure `invalid_usage` for a user agent that cannot be sent */
export function checkUserAgent(userAgent: string): string {
  if (userAgent === "" || userAgent.length > 1024 || !isFieldValue(userAgent))
    throw new Failure(
      "invalid_usage",
      "user agent: it is empty, over 1024 characters, or holds control or non-Latin characters",
    );
  return userAgent;
}

/** The conditional headers of a request (RFC 9110, 13.1); validators that cannot be sent are left out. */
export function conditionalHeaders(validators: Validators | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (validators?.etag && isFieldValue(validators.etag)) headers["if-none-match"] = validators.etag;
  if (validators?.lastModified && isFieldValue(validators.lastModified))
    headers["if-modified-since"] = validators.lastModified;
  return headers;
}

/**
 * The default user agent, which honestly names the program and the page about it.
 * @param homePage an absolute URL, or null when there is no such page
 */
export const productUserAgent = (product: {
  readonly version: string;
  readonly homePage: string | null;
}): string =>
  `${PRODUCT_TOKEN}/${product.version}${product.homePage === null ? "" : ` (+${product.homePage})`}`;

/** The product token that robots.txt groups are matched with, whatever user agent is sent. */
export const PRODUCT_TOKEN = "article-extractor";

// These are the stable releases of 2026-11-21; browsers freeze the platform parts.
const WINDOWS = "Windows NT 10.0; Win64; x64";
const MAC = "Macintosh; Intel Mac OS X 10_15_7";
const LINUX = "X11; Linux x86_64";

const chrome = (platform: string, version: number, suffix = ""): string =>
  `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36${suffix}`;

const firefox = (platform: string, version: number): string =>
  `Mozilla/5.0 (${platform}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;

/** User agents of desktop browsers that were current on 2026-11-21. */
export const DESKTOP_BROWSERS: readonly string[] = [
  chrome(WINDOWS, 157),
  chrome(WINDOWS, 156),
  chrome(MAC, 157),
  chrome(LINUX, 157),
  chrome(WINDOWS, 156, " Edg/156.0.0.0"),
  chrome(MAC, 156, " Edg/156.0.0.0"),
  firefox(WINDOWS, 160),
  firefox("Macintosh; Intel Mac OS X 10.15", 160),
  firefox(LINUX, 160),
  `Mozilla/5.0 (${MAC}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/27.2 Safari/605.1.15`,
];

/**
 * Picks the user agent of a desktop browser at random.
 * @param random in [0, 1), as `Math.random`
 */
export function randomUserAgent(random: () => number): string {
  const index = Math.min(DESKTOP_BROWSERS.length - 1, Math.floor(random() * DESKTOP_BROWSERS.length));
  return DESKTOP_BROWSERS[index] as string; // the index is within the list
}
