import { resolve } from "node:path";
import type { FetcherPreference, Fetchers, RenderingHistory } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log, LogFields } from "../base/log.ts";
import { HOME_PAGE, VERSION } from "../base/version.ts";
import type { ExtractionOptions } from "../extraction/index.ts";
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
  type FetcherOptions,
  type FetchLimits,
  type HttpFetcher,
  openStorage,
  type PostResponse,
  type ProxyEnvironment,
  parseProxyBypass,
  productUserAgent,
  randomUserAgent,
  readCookiesFile,
} from "../fetching/index.ts";
import { type Choices, NETWORK, noChoices, shownOptions } from "../options/index.ts";
import type { Settings } from "../settings/index.ts";
import { type PageUrl, withoutCredentials } from "../urls/index.ts";

/** How one caller wants its pages to be fetched; null leaves the choice to the settings and defaults. */
export type NetworkOptions = Choices<typeof NETWORK> & { readonly preference: FetcherPreference | null };

/** One page that a caller asks for. */
export type UrlRequest = {
  /** The URL without credentials. */
  readonly url: string;
  /** The value of an Authorization header; null for none. */
  readonly authorization: string | null;
  readonly options: ExtractionOptions;
  readonly signal: AbortSignal;
  /** The request's name in the log; by default a random one. */
  readonly requestId?: string;
  /** Experience from the other pages of a list; see `VisitRequest`. */
  readonly renderingHistory?: RenderingHistory;
  /** Whether the page is fetched now, without looking into the cache. */
  readonly isFresh?: boolean;
  /** Whether the page's own body is given, too. */
  readonly keepsBody?: boolean;
};

/** The options of a caller that sets none. */
export const DEFAULT_NETWORK: NetworkOptions = { ...noChoices(NETWORK), preference: null };

/** The person at the program, who may log in or solve what a page asks. */
export interface Person {
  /** Tells the person what to do. The promise is fulfilled when it is done, and stays pending without an answer. */
  ask(message: string, signal: AbortSignal): Promise<void>;
}

type NetworkParts = {
  readonly settings: Settings;
  readonly proxyEnvironment: ProxyEnvironment;
  readonly caller: EgressCaller;
  readonly log: Log;
  readonly random?: (() => number) | undefined;
  readonly egress: Egress;
  /** Null when no browser is ever started. */
  readonly browsers: BrowserHosts | null;
  readonly person: Person | null;
  /** Whether to ask for Markdown before HTML. */
  readonly acceptMarkdown: boolean;
};

/** The fetchers with one caller's network options; dispose of them after use. */
export type OpenNetwork = AsyncDisposable & {
  readonly http: HttpFetcher;
  readonly fetchers: Fetchers;
  readonly preference: FetcherPreference;
  readonly limits: FetchLimits;
  readonly userAgent: string;
  readonly log: Log;
};

/** Pages after which a browser context is replaced by a new one. */
const PAGES_PER_CONTEXT = 100;

/**
 * Makes the fetchers of one caller.
 * @throws Failure `invalid_usage` for a header that cannot be sent, or for options that need a browser when
 * there is none; `unreadable_input` for an invalid storage state
 */
export function openNetwork(network: NetworkOptions, parts: NetworkParts): OpenNetwork {
  const { settings, egress, caller } = parts;
  const session = openBrowsingSession(network, parts);
  // Every log line has the length of the session's queue (docs/browser.md, "Sessions").
  const fields = (): LogFields => ({ storage_queue_pending_entries: session.pendingEntries() });
  const log = session.pendingEntries() === null ? parts.log : parts.log.with(fields);
  const userAgent = userAgentFor(parts, network);
  const limits = fetchLimits(settings, network);
  const preference = preferenceOf(network, settings);
  const shared: FetcherOptions = {
    egress,
    caller,
    chooseProxy: proxyChoice(parts, network),
    userAgent,
    headers: combineHeaders(network.headers),
    limits,
    log,
  };
  const http = keepingSession(
    createHttpFetcher({
      ...shared,
      cookies: session.cookies,
      acceptMarkdown: parts.acceptMarkdown,
      authorityPlaces: authorityPlacesOf(settings, network),
    }),
    session,
  );
  const browser = preference === "http_only" ? null : browserFor(network, { parts, shared, session });
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

/** A value that is sent to a URL which a caller names. */
export type UrlPost = {
  readonly json: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization: string | null;
  /** On whose behalf it is sent. */
  readonly caller: EgressCaller;
  /** The most for all of it, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** What is read of the answer to such a value. */
const POST_ANSWER_BYTES = 64 * 1024;

/** Sends a value once, with nothing of anybody's session. @throws Failure as `Poster.post` */
export async function postTo(
  url: PageUrl,
  { json, headers, authorization, signal, timeoutMs, caller }: UrlPost,
  parts: Pick<NetworkParts, "settings" | "proxyEnvironment" | "egress" | "log">,
): Promise<PostResponse> {
  const { settings, egress, log } = parts;
  const requestTimeoutMs = Math.min(timeoutMs, settings.requestTimeoutMs);
  await using http = createHttpFetcher({
    ...{ egress, caller, headers, log },
    chooseProxy: proxyChoice({ ...parts, caller }, DEFAULT_NETWORK),
    userAgent: settings.userAgent ?? productUserAgent({ version: VERSION, homePage: HOME_PAGE }),
    limits: { ...DEFAULT_FETCH_LIMITS, requestTimeoutMs, pageBytes: POST_ANSWER_BYTES },
    authorityPlaces: authorityPlacesOf(settings),
  });
  return await http.post(url, { json, authorization, signal, deadlineMs: timeoutMs, tries: 1 });
}

/** Returns the places of the machine's authorities; null if they are not trusted. */
export const authorityPlacesOf = (settings: Settings, { trustsSystem } = DEFAULT_NETWORK) =>
  (trustsSystem ?? settings.trustsSystem)
    ? { file: settings.certificateFile, directory: settings.certificateDirectory }
    : null;

/** Which fetcher goes first: the caller's choice, else what its options need, else the setting. */
export function preferenceOf(network: NetworkOptions, settings: Settings): FetcherPreference {
  if (network.preference !== null) return network.preference;
  if (wantsBrowser(network) || settings.preferBrowser === true) return "browser";
  return settings.preferBrowser === false ? "http" : "learned";
}

const wantsBrowser = ({ isHeaded, waitFor, scrolls, loadsMedia }: NetworkOptions): boolean =>
  isHeaded || waitFor !== null || scrolls || loadsMedia;

type BrowserParts = {
  readonly parts: NetworkParts;
  readonly shared: FetcherOptions;
  readonly session: BrowsingSession;
};

function browserFor(network: NetworkOptions, { parts, shared, session }: BrowserParts): Fetcher | null {
  const { browsers, person } = parts;
  const isRequired = wantsBrowser(network);
  if (!browsers || (browsers.path === null && !isRequired)) return null;
  const timeoutMs = network.isHeaded ? network.userInteractionTimeoutMs : 0;
  const message = `log in, or do what the page asks, in the browser's window; then press Enter here (${Math.round(timeoutMs / 1000)} s at most)`;
  const untilDone = (signal: AbortSignal): Promise<void> =>
    person?.ask(message, signal) ?? new Promise(() => {});
  return createBrowserFetcher({
    ...shared,
    host: browsers.host(network.isHeaded),
    isRequired,
    session,
    behaviour: { waitFor: network.waitFor, scrolls: network.scrolls, loadsMedia: network.loadsMedia },
    pause: timeoutMs > 0 ? { timeoutMs, untilDone } : null,
    pagesPerContext: PAGES_PER_CONTEXT,
  });
}

/**
 * Opens the session of one caller from the file that the caller or the settings name.
 * @throws Failure `unreadable_input` for an invalid storage state
 */
export function openBrowsingSession(
  network: NetworkOptions,
  { settings, log }: Pick<NetworkParts, "settings" | "log">,
): BrowsingSession {
  const file = network.storageState ?? settings.storageState;
  const given = network.cookiesFile === null ? [] : readCookiesFile(network.cookiesFile);
  if (file === null) return createBrowsingSession(null, Date.now, given);
  const isSettings = settings.storageState !== null && resolve(file) === resolve(settings.storageState);
  const storage = openStorage({
    file,
    queueDirectory: settings.storageQueueDir,
    takesUnowned: isSettings,
    // A caller who names a file learns that it is damaged; nobody names that of the settings for a page.
    onDamaged: isSettings
      ? (damage) => log.warning("a damaged storage state is put aside", damage)
      : undefined,
    maxEntries: settings.storageQueueMaxEntries,
    maxAgeMs: settings.storageQueueMaxAgeSeconds * 1000,
    retentionMs: settings.storageQueueRetentionSeconds * 1000,
    log,
    now: Date.now,
  });
  return createBrowsingSession(storage, Date.now, given);
}

// A page counts as fetched when its changes of the session are on the disk.
const keepingSession = (http: HttpFetcher, session: BrowsingSession): HttpFetcher => ({
  ...http,
  async fetch(url, options) {
    const page = await http.fetch(url, options);
    await session.saved();
    return page;
  },
});

function fetchLimits(settings: Settings, network: NetworkOptions): FetchLimits {
  const requestTimeoutMs = network.requestTimeoutMs ?? settings.requestTimeoutMs;
  return {
    ...DEFAULT_FETCH_LIMITS,
    requestTimeoutMs,
    // A caller that allows a single request more than the minute for a page wants to wait that long.
    deadlineMs: Math.max(DEFAULT_FETCH_LIMITS.deadlineMs, requestTimeoutMs),
    tries: (network.retries ?? settings.retries) + 1,
    pageBytes: network.maxBytes ?? settings.maxBytes,
    pictureBytes: network.maxBytes ?? settings.maxBytes,
  };
}

/**
 * Chooses the proxy for a URL: a request or flag overrides the setting, which overrides the environment.
 * @throws Failure `egress_refused` for a request over HTTP that would bypass the operator's proxy
 */
export function proxyChoice(
  { settings, proxyEnvironment, caller }: Pick<NetworkParts, "settings" | "proxyEnvironment" | "caller">,
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
  return chooseProxy({
    explicit: network.proxy ?? settings.proxy,
    explicitSource: network.proxy !== null ? "caller" : "operator",
    bypass: bypass.flatMap(parseProxyBypass),
    environment: proxyEnvironment,
  });
}

/**
 * Network options as a manifest shows them, without secrets.
 * @param parts.settings fills in what the caller left open; null when the manifest's readers are not the
 * operator and must not learn the server's proxy and files
 */
export function networkEcho(
  network: NetworkOptions,
  { settings, limits, userAgent }: Pick<OpenNetwork, "limits" | "userAgent"> & { settings: Settings | null },
): Readonly<Record<string, unknown>> {
  const proxy = network.proxy ?? settings?.proxy ?? null;
  const bypass = [...network.proxyBypass, ...(settings?.proxyBypass ? [settings.proxyBypass] : [])];
  const chosen = {
    ...network,
    // A random user agent differs at each start, so it is not a setting.
    userAgent: network.hasRandomUserAgent ? network.userAgent : userAgent,
    // The values may be secrets.
    headers: network.headers.map(([name]) => name.toLowerCase()),
    proxy: proxy === null ? null : withoutCredentials(proxy),
    proxyBypass: bypass,
    requestTimeoutMs: limits.requestTimeoutMs,
    retries: limits.tries,
    maxBytes: limits.pageBytes,
    // The file contains secrets; its name does not.
    storageState: network.storageState ?? settings?.storageState ?? null,
  };
  const shown = shownOptions(NETWORK, chosen);
  return settings === null ? shown : { egress: settings.egress, ...shown };
}

function userAgentFor({ settings, random = Math.random }: NetworkParts, network: NetworkOptions): string {
  // A User-Agent header stands for the option; without this line nobody would send it.
  const asked = network.userAgent ?? combineHeaders(network.headers)["user-agent"];
  if (asked !== undefined) return asked;
  if (network.hasRandomUserAgent) return randomUserAgent(random);
  return settings.userAgent ?? productUserAgent({ version: VERSION, homePage: HOME_PAGE });
}

// A repeated name means all its values (RFC 9110, 5.3); cookies have a separator of their own.
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
