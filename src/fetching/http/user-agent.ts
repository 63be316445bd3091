/**
 * The default user agent, which honestly names the program and its operator's page.
 * @param homePage an absolute URL
 */
export const productUserAgent = (product: { readonly version: string; readonly homePage: string }): string =>
  `${PRODUCT_TOKEN}/${product.version} (+${product.homePage})`;

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
