import { BYTES, HEADER_TEXT, HEADERS, SWITCH, seconds, text, texts, whole } from "./kinds.ts";
import type { Elsewhere, OptionTable } from "./option.ts";

/** The longest address that is read. */
export const MAX_URL_CHARACTERS = 8192;

/** How pages are fetched. */
export const NETWORK = {
  userAgent: {
    kind: HEADER_TEXT,
    byDefault: null,
    means: "User agent to send, instead of the product's own or a random one",
    flag: "--user-agent TEXT",
    variable: "ARTICLE_EXTRACTOR_USER_AGENT",
    field: "user_agent",
    library: "userAgent",
    example: "my-reader/1.0",
  },
  hasRandomUserAgent: {
    kind: SWITCH,
    byDefault: false,
    means: "Send a current desktop browser's user agent",
    flag: "--random-user-agent",
    field: "random_user_agent",
    library: "randomUserAgent",
  },
  headers: {
    kind: HEADERS,
    byDefault: [],
    means: "Send this header too; it stays with the page's own origin",
    flag: '--header "NAME: VALUE" ...',
    library: "headers",
    manifest: "header_names",
  },
  proxy: {
    kind: text(MAX_URL_CHARACTERS),
    byDefault: null,
    means: "HTTP proxy; wins over HTTPS_PROXY, HTTP_PROXY and ALL_PROXY",
    flag: "--proxy URL",
    variable: "ARTICLE_EXTRACTOR_PROXY",
    field: "proxy",
    onRequest: "HTTP proxy; null takes the server's own",
    library: "proxy",
    example: null,
  },
  proxyBypass: {
    kind: texts(255, 1000),
    byDefault: [],
    means: "Host that skips the proxy, as in NO_PROXY",
    flag: "--proxy-bypass HOST ...",
    field: "proxy_bypass",
    onRequest: "Hosts that skip the proxy, in the grammar of NO_PROXY",
    library: "proxyBypass",
  },
  requestTimeoutMs: {
    kind: seconds(0.001, 3600),
    byDefault: 30_000,
    means: "Longest wait for one request; a page with its retries gets 60 seconds, or this if longer",
    flag: "--timeout SECONDS",
    variable: "ARTICLE_EXTRACTOR_TIMEOUT",
    library: "timeoutMs",
    manifest: "request_timeout_seconds",
  },
  retries: {
    kind: whole(0, 20),
    byDefault: 3,
    means: "Retries after a failed connection, 408, 425, 429 or 5xx",
    flag: "--retries N",
    variable: "ARTICLE_EXTRACTOR_RETRIES",
    library: "retries",
    manifest: "tries",
  },
  maxBytes: {
    kind: BYTES,
    byDefault: 20 * 1024 ** 2,
    means: "Largest page, decompressed",
    flag: "--max-bytes SIZE",
    variable: "ARTICLE_EXTRACTOR_MAX_BYTES",
  },
  isHeaded: {
    kind: SWITCH,
    byDefault: false,
    means: "Show the browser, to log in by hand on the first page",
    flag: "--headed",
    field: "headed",
    onRequest: "Run the browser visibly; only where the server has a display",
  },
  userInteractionTimeoutMs: {
    kind: seconds(0, 86_400),
    byDefault: 0,
    means: "How long a headed browser waits for Enter on the first page",
    defaultNote: "300 at a terminal, else 0",
    flag: "--user-interaction-timeout SECONDS",
    field: "user_interaction_timeout",
    onRequest: "Seconds that a visible browser waits for a person on the first page",
  },
  storageState: {
    kind: text(4096),
    byDefault: null,
    means: "File that keeps cookies and sessions, for both fetchers",
    flag: "--storage-state PATH",
    variable: "ARTICLE_EXTRACTOR_STORAGE_STATE_FILE",
    field: "storage_state",
    onRequest: "File of cookies and sessions on the server's host, below the same directory as output_dir",
    example: null,
  },
  cookiesFile: {
    kind: text(4096),
    byDefault: null,
    means:
      "File of cookies to send, as curl and browsers' extensions write it (cookies.txt); it stays as it is",
    flag: "--cookies FILE",
    manifest: "cookies",
  },
  waitFor: {
    kind: text(1000),
    byDefault: null,
    means: "Wait in the browser until an element matches",
    flag: "--wait-for CSS",
  },
  scrolls: {
    kind: SWITCH,
    byDefault: false,
    means: "Scroll through the page in the browser, for content that comes when it is seen",
    flag: "--scroll",
  },
  loadsMedia: {
    kind: SWITCH,
    byDefault: false,
    means: "Load images, fonts and media in the browser, too",
    flag: "--load-media",
  },
  trustsSystem: {
    kind: SWITCH,
    byDefault: true,
    means:
      "Trust the machine's own authorities, and those of SSL_CERT_FILE and SSL_CERT_DIR, beside the built-in ones",
    contrary: "Trust the built-in certificate authorities only, not the machine's",
    flag: "!--no-system-ca",
    variable: "ARTICLE_EXTRACTOR_SYSTEM_CA",
    manifest: null,
  },
} as const satisfies OptionTable;

/** Why these are not at every door. */
export const NETWORK_ELSEWHERE: Elsewhere = {
  flag: "three switches choose the fetcher, one of them against any browser",
  variable: "a matter of one run; ARTICLE_EXTRACTOR_PROXY_BYPASS has all hosts in one text",
  field: "the operator decides how a server fetches",
  library: "it has no browser, and a program has its pages and sessions itself",
  argument: "the operator decides how a server fetches",
  label: "the server's own holds",
};

/** Options of fetching that the whole program has, and not one caller's network. */
export const FETCHING = {
  egress: {
    kind: text(MAX_URL_CHARACTERS),
    byDefault: "auto",
    means: "Addresses that may be reached: auto, open, public, or a list of hosts and networks",
    flag: "--egress POLICY",
    variable: "ARTICLE_EXTRACTOR_EGRESS",
    library: "egress",
  },
  preferBrowser: {
    kind: SWITCH,
    byDefault: null,
    means: "Fetch with the browser first; false: with plain HTTP first",
    variable: "ARTICLE_EXTRACTOR_PREFER_BROWSER",
    field: "prefer_browser",
    onRequest: "true: the browser first; false: plain HTTP first; absent: the server's setting",
    label: "Fetch with",
    choices: { true: "the browser first", false: "plain HTTP first" },
  },
} as const satisfies OptionTable;
