import { resolve } from "node:path";
import type { FetcherPreference, Fetchers } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log, LogFields } from "../base/log.ts";
import { HOME_PAGE, VERSION } from "../base/version.ts";
import {
  type BrowserHosts,
  type BrowsingSession,
  type ChooseProxy,
  chooseProxy,
  createBrowserFetcher,
  createBrowsingSession,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  type Egress,
  type EgressCaller,
  type Fetcher,
  type FetchLimits,
  type HttpFetcher,
  openStorage,
  type ProxyEnvironment,
  type ProxySource,
  parseProxyBypass,
  productUserAgent,
  randomUserAgent,
} from "../fetching/index.ts";
import type { Settings } from "../settings/index.ts";
import { withoutCredentials } from "../urls/index.ts";

/** How one caller wants its pages fetched; null leaves the choice to the settings and defaults. */
export type NetworkOptions = {
  readonly userAgent: string | null;
  readonly hasRandomUserAgent: boolean;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly proxy: string | null;
  /** Hosts that skip the proxy, in the grammar of NO_PROXY. */
  readonly proxyBypass: readonly string[];
  /** For one request, in ms. */
  readonly requestTimeoutMs: number | null;
  /** Requests for one page at most, the first included. */
  readonly tries: number | null;
  /** Largest page, decompressed. */
  readonly maxBytes: number | null;
  readonly preference: FetcherPreference | null;
  /** Shows the browser's window. */
  readonly isHeaded: boolean;
  /** How long the window waits for a person on the first page, in ms; 0 does not wait. */
  readonly userInteractionTimeoutMs: number;
  /** File of cookies and local storage; null: the settings' file, if any. */
  readonly storageState: string | null;
  /** CSS selector of what a browser waits for. */
  readonly waitFor: string | null;
  /** Whether a browser scrolls through pages, for content that comes when it is seen. */
  readonly scrolls: boolean;
  /** Whether a browser loads images, fonts and media. */
  readonly loadsMedia: boolean;
};

/** A caller without wishes. */
export const DEFAULT_NETWORK: NetworkOptions = {
  userAgent: null,
  hasRandomUserAgent: false,
  headers: [],
  proxy: null,
  proxyBypass: [],
  requestTimeoutMs: null,
  tries: null,
  maxBytes: null,
  preference: null,
  isHeaded: false,
  userInteractionTimeoutMs: 0,
  storageState: null,
  waitFor: null,
  scrolls: false,
  loadsMedia: false,
};

/** The person at the program, who may log in or solve what a page asks. */
export interface Person {
  /** Tells the person what to do; fulfilled when it is done, never where nobody answers. */
  ask(message: string, signal: AbortSignal): Promise<void>;
}

export type NetworkParts = {
  readonly settings: Settings;
  readonly proxyEnvironment: ProxyEnvironment;
  readonly caller: EgressCaller;
  readonly log: Log;
  readonly random?: () => number;
  readonly egress: Egress;
  /** Null where no browser is ever started. */
  readonly browsers: BrowserHosts | null;
  readonly person: Person | null;
  /** Asks for Markdown before HTML. */
  readonly acceptMarkdown: boolean;
};

/** What fetches with one caller's network options; dispose of it after use. */
export type OpenNetwork = AsyncDisposable & {
  readonly http: HttpFetcher;
  readonly fetchers: Fetchers;
  readonly preference: FetcherPreference;
  readonly limits: FetchLimits;
  readonly userAgent: string;
  readonly log: Log;
};

/** A context gives way to a new one after so many pages. */
const PAGES_PER_CONTEXT = 100;

/**
 * Makes the fetchers of one caller.
 * @throws Failure `invalid_usage` for a header that cannot be sent, or for wishes of a browser where there is
 * none; `unreadable_input` for a storage state that is none
 */
export function openNetwork(network: NetworkOptions, parts: NetworkParts): OpenNetwork {
  const { settings, egress, caller } = parts;
  const session = openBrowsingSession(network, parts);
  const log = session.pendingEntries() === null ? parts.log : withPendingEntries(parts.log, session);
  const userAgent = userAgentFor(parts, network);
  const limits = fetchLimits(settings, network);
  const preference = preferenceOf(network, settings);
  const shared = {
    egress,
    caller,
    chooseProxy: proxyChoice(parts, network),
    userAgent,
    headers: combineHeaders(network.headers),
    limits,
    log,
  };
  const http = keepingSession(
    createHttpFetcher({ ...shared, cookies: session.cookies, acceptMarkdown: parts.acceptMarkdown }),
    session,
  );
  const browser = preference === "http_only" ? null : browserFor(network, { ...parts, ...shared, session });
  return {
    http,
    fetchers: { http, browser },
    preference,
    limits,
    userAgent,
    log,
    async [Symbol.asyncDispose]() {
      await browser?.[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
      await session[Symbol.asyncDispose]();
    },
  };
}

/** Which fetcher goes first: what the caller says, what its wishes need, then the setting. */
export function preferenceOf(network: NetworkOptions, settings: Settings): FetcherPreference {
  if (network.preference !== null) return network.preference;
  return wantsBrowser(network) || settings.preferBrowser !== false ? "browser" : "http";
}

const wantsBrowser = ({ isHeaded, waitFor, scrolls, loadsMedia }: NetworkOptions): boolean =>
  isHeaded || waitFor !== null || scrolls || loadsMedia;

type BrowserParts = NetworkParts &
  Omit<Parameters<typeof createHttpFetcher>[0], "cookies" | "acceptMarkdown"> & {
    readonly session: BrowsingSession;
  };

function browserFor(network: NetworkOptions, parts: BrowserParts): Fetcher | null {
  const { browsers, person, session } = parts;
  const isRequired = wantsBrowser(network);
  if (!browsers || (browsers.path === null && !isRequired)) return null;
  const timeoutMs = network.isHeaded ? network.userInteractionTimeoutMs : 0;
  const message = `log in, or do what the page asks, in the browser's window; then press Enter here (${Math.round(timeoutMs / 1000)} s at most)`;
  const untilDone = (signal: AbortSignal): Promise<void> =>
    person?.ask(message, signal) ?? new Promise(() => {});
  return createBrowserFetcher({
    ...parts,
    host: browsers.host(network.isHeaded),
    isRequired,
    session,
    behaviour: { waitFor: network.waitFor, scrolls: network.scrolls, loadsMedia: network.loadsMedia },
    pause: timeoutMs > 0 ? { timeoutMs, untilDone } : null,
    pagesPerContext: PAGES_PER_CONTEXT,
  });
}

/**
 * The session of one caller, out of the file that it or the settings name.
 * @throws Failure `unreadable_input` for a storage state that is none
 */
export function openBrowsingSession(
  network: NetworkOptions,
  { settings, log }: Pick<NetworkParts, "settings" | "log">,
): BrowsingSession {
  const file = network.storageState ?? settings.storageStateFile;
  if (file === null) return createBrowsingSession(null, Date.now);
  const storage = openStorage({
    file,
    queueDirectory: settings.storageQueueDir,
    takesUnowned: settings.storageStateFile !== null && resolve(file) === resolve(settings.storageStateFile),
    maxEntries: settings.storageQueueMaxEntries,
    maxAgeMs: settings.storageQueueMaxAgeSeconds * 1000,
    retentionMs: settings.storageQueueRetentionSeconds * 1000,
    log,
    now: Date.now,
  });
  return createBrowsingSession(storage, Date.now);
}

// A page counts as fetched when what it changed of the session is on the disk.
const keepingSession = (http: HttpFetcher, session: BrowsingSession): HttpFetcher => ({
  ...http,
  async fetch(url, options) {
    const page = await http.fetch(url, options);
    await session.saved();
    return page;
  },
});

/** Adds the length of the session's queue to every log line (docs/browser.md, "Sessions"). */
function withPendingEntries(log: Log, session: BrowsingSession): Log {
  const fields = (): LogFields => ({ storage_queue_pending_entries: session.pendingEntries() });
  return {
    debug: (message, more) => log.debug(message, { ...fields(), ...more }),
    info: (message, more) => log.info(message, { ...fields(), ...more }),
    warning: (message, more) => log.warning(message, { ...fields(), ...more }),
    error: (message, more) => log.error(message, { ...fields(), ...more }),
    always: (level, message, more) => log.always(level, message, { ...fields(), ...more }),
    critical: (message, more) => log.critical(message, { ...fields(), ...more }),
    with: (more) => withPendingEntries(log.with(more), session),
  };
}

function fetchLimits(settings: Settings, network: NetworkOptions): FetchLimits {
  const requestTimeoutMs = network.requestTimeoutMs ?? Math.round(settings.timeoutSeconds * 1000);
  return {
    ...DEFAULT_FETCH_LIMITS,
    requestTimeoutMs,
    // Whoever allows one request more than a page's minute wants to wait that long.
    deadlineMs: Math.max(DEFAULT_FETCH_LIMITS.deadlineMs, requestTimeoutMs),
    tries: network.tries ?? settings.retries + 1,
    pageBytes: network.maxBytes ?? settings.maxBytes,
  };
}

/**
 * Which proxy a URL goes through: a request or flag goes before the setting, the setting before the environment.
 * @throws Failure `egress_refused` for a request over HTTP that would leave the operator's proxy
 */
export function proxyChoice(
  {
    settings,
    proxyEnvironment,
    caller,
  }: Pick<NetworkParts, "settings" | "proxyEnvironment"> & { readonly caller: EgressCaller },
  network: NetworkOptions,
): ChooseProxy {
  const isRequest = caller.kind === "remote_request" || caller.kind === "loopback_request";
  const isOperators =
    settings.proxy !== null || proxyEnvironment.http !== null || proxyEnvironment.https !== null;
  if (
    isRequest &&
    isOperators &&
    !settings.allowCallerProxy &&
    (network.proxy !== null || network.proxyBypass.length > 0)
  )
    throw new Failure(
      "egress_refused",
      "network.proxy and network.proxy_bypass: this server's operator has chosen the proxy that pages are fetched through",
    );
  const bypass = [...network.proxyBypass, ...(settings.proxyBypass ? [settings.proxyBypass] : [])];
  const choose = (explicit: string | null, explicitSource: ProxySource): ChooseProxy =>
    chooseProxy({
      explicit,
      explicitSource,
      bypass: bypass.flatMap(parseProxyBypass),
      environment: proxyEnvironment,
    });
  return network.proxy !== null ? choose(network.proxy, "caller") : choose(settings.proxy, "operator");
}

type EchoParts = Pick<OpenNetwork, "limits" | "userAgent"> & { readonly settings: Settings | null };

/**
 * Network options as a manifest shows them, without secrets.
 * @param parts.settings fill in what the caller left open; null where the manifest's readers are not the operator,
 * to whom the server's proxy and files are nobody's business
 */
export function networkEcho(
  network: NetworkOptions,
  { settings, limits, userAgent }: EchoParts,
): Readonly<Record<string, unknown>> {
  const proxy = network.proxy ?? settings?.proxy ?? null;
  const bypass = [...network.proxyBypass, ...(settings?.proxyBypass ? [settings.proxyBypass] : [])];
  const shown = {
    // A random one is another at each start, and no setting.
    userAgent: { user_agent: network.hasRandomUserAgent ? network.userAgent : userAgent },
    hasRandomUserAgent: { random_user_agent: network.hasRandomUserAgent },
    // Their values may be secrets.
    headers: { header_names: network.headers.map(([name]) => name.toLowerCase()) },
    proxy: { proxy: proxy === null ? null : withoutCredentials(proxy) },
    proxyBypass: { proxy_bypass: bypass },
    requestTimeoutMs: { request_timeout_seconds: limits.requestTimeoutMs / 1000 },
    tries: { tries: limits.tries },
    maxBytes: { max_bytes: limits.pageBytes },
    // The plan's `fetcher_preference` is what became of it.
    preference: {},
    isHeaded: { headed: network.isHeaded },
    userInteractionTimeoutMs: { user_interaction_timeout: network.userInteractionTimeoutMs / 1000 },
    // What it holds are secrets; its name is none.
    storageState: { storage_state: network.storageState ?? settings?.storageStateFile ?? null },
    waitFor: { wait_for: network.waitFor },
    scrolls: { scroll: network.scrolls },
    loadsMedia: { load_media: network.loadsMedia },
  } satisfies Record<keyof NetworkOptions, Readonly<Record<string, unknown>>>;
  return Object.assign(settings === null ? {} : { egress: settings.egress }, ...Object.values(shown));
}

function userAgentFor({ settings, random = Math.random }: NetworkParts, network: NetworkOptions): string {
  // The header is the long way to ask for the same; without this line it would be sent by nobody.
  const asked = network.userAgent ?? combineHeaders(network.headers)["user-agent"];
  if (asked !== undefined) return asked;
  if (network.hasRandomUserAgent) return randomUserAgent(random);
  return settings.userAgent ?? productUserAgent({ version: VERSION, homePage: HOME_PAGE });
}

// A name that is given twice means both values (RFC 9110, 5.3); cookies have a separator of their own.
function combineHeaders(headers: NetworkOptions["headers"]): Record<string, string> {
  const combined = new Map<string, string>();
  for (const [written, value] of headers) {
    const name = written.toLowerCase();
    const before = combined.get(name);
    const separator = name === "cookie" ? "; " : ", ";
    combined.set(name, before === undefined ? value : `${before}${separator}${value}`);
  }
  return Object.fromEntries(combined);
}
