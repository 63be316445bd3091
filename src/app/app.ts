import { availableParallelism } from "node:os";
import {
  type ArticleCache,
  articleFromDocument,
  createArticleCache,
  createErrorPages,
  type ErrorPages,
  type FetchedArticle,
  type LocalDocument,
  MarkdownAlternates,
  serveArticle,
} from "../articles/index.ts";
import type { Metrics } from "../base/metrics.ts";
import {
  createExtractor,
  type ExtractionOptions,
  type Extractor,
  withSmallPagesHere,
} from "../extraction/index.ts";
import {
  type BrowserHostOptions,
  type BrowserHosts,
  createBrowserHosts,
  createEgress,
  type Egress,
  type EgressCaller,
  type FindBrowserOptions,
  type HttpFetcher,
  openPinningProxy,
  type PinningProxy,
  type PostResponse,
  type ProxyEnvironment,
  parseEgressPolicy,
  systemResolve,
} from "../fetching/index.ts";
import { EXTRACTION_LIMITS } from "../settings/index.ts";
import type { PageUrl } from "../urls/index.ts";
import type { Crawling, CrawlingOptions, SessionCrawls } from "./crawling.ts";
import type { Postgres } from "./database.ts";
import {
  DEFAULT_NETWORK,
  type NetworkOptions,
  type OpenNetwork,
  openBrowsingSession,
  openNetwork,
  type Person,
  postTo,
  proxyChoice,
  type UrlPost,
  type UrlRequest,
} from "./network.ts";

export type AppOptions = CrawlingOptions & {
  /** The proxy variables, which were read and removed from the process's environment. */
  readonly proxyEnvironment: ProxyEnvironment;
  /** On whose behalf pages are fetched. */
  readonly caller: EgressCaller;
  readonly isOffline?: boolean;
  /** The URL of the extraction worker's module. */
  readonly workerUrl: string | URL;
  /** Whether only one or two pages will be extracted. */
  readonly extractsOnePage?: boolean;
  /** This machine's means to run browsers; null or absent starts no browser. */
  readonly machine?: BrowserMachine | null;
  /** The person who is asked to log in when a browser shows its window. */
  readonly person?: Person | null;
  /** Returns numbers in [0, 1), as `Math.random`. */
  readonly random?: (() => number) | undefined;
};

/** The assembled modules, which the shells call. */
export interface App extends AsyncDisposable {
  /** The metrics, for a shell's own counters. */
  readonly metrics: Metrics;
  /** The present and the largest number of articles in the cache. */
  readonly cache: { readonly size: number; readonly maxSize: number };
  /** Extracts on the workers that all sessions share. */
  readonly extractor: Extractor;
  /** Returns the browser's executable, null when there is none. Throws `invalid_settings` when a wrong one is named. */
  readonly browserPath: () => string | null;
  /** Starts the browser to ask for its version. Throws the Failure of a browser that does not start. */
  browserVersion(): Promise<string>;
  /** The proxy for a URL without credentials; null without one. */
  proxyFor(url: URL): string | null;
  /** The number of waiting changes of the settings' storage state. Throws `unreadable_input` for an invalid file. */
  pendingEntries(): number;
  /**
   * Opens a session with one caller's network options; dispose of it after use.
   * @param caller on whose behalf pages are fetched, if not for the caller in the options
   */
  openSession(network: NetworkOptions, caller?: EgressCaller, extras?: SessionExtras): ArticleSession;
  /**
   * Returns the database that processes share, which is opened with the first call and closed with the app.
   * @throws Failure `invalid_settings` where the settings name none, or it cannot be used
   */
  database(): Promise<Postgres>;
  /** Sends a value to a URL that a caller names; see `postTo`. */
  post(url: PageUrl, post: UrlPost): Promise<PostResponse>;
  /** Opens a proxy on behalf of this caller for programs that make their own connections. */
  openProxy(caller: EgressCaller, network: NetworkOptions): Promise<PinningProxy>;
  /**
   * Finds an address of a host that this caller may reach, for programs that use no proxy.
   * @throws Failure `egress_refused`, or `network` when the name has no address
   */
  resolveHost(host: string, caller: EgressCaller): Promise<string>;
}

type SessionExtras = {
  /** Whether to ask for Markdown before HTML. */
  readonly acceptMarkdown?: boolean;
  /** The client whose turn it is at the workers; turns rotate among clients. */
  readonly client?: string;
};

/** Extracts articles with one set of network options. */
export interface ArticleSession extends AsyncDisposable, SessionCrawls {
  /** The size limit of a page or document, in bytes. */
  readonly maxBytes: number;
  /** The fetcher without a browser. */
  readonly http: HttpFetcher;
  /** Throws what `articleFromUrl` throws. */
  fromUrl(request: UrlRequest): Promise<FetchedArticle>;
  /** Throws what `articleFromDocument` throws. */
  fromDocument(
    document: LocalDocument,
    options: ExtractionOptions,
    signal: AbortSignal,
  ): Promise<FetchedArticle>;
}

/** A program that extracts only pages up to this size does so on its own thread. */
const SMALL_PAGE_CHARS = 300_000;

/** How long a name's checked addresses are reused. */
const RESOLVER_TTL_MS = 30_000;

/** Assembles the modules from the settings. @throws Failure `invalid_settings` for an invalid egress policy */
export function createApp(options: AppOptions): App {
  const { settings } = options;
  const egress = createEgress({
    policy: options.isOffline ? { kind: "none" } : parseEgressPolicy(settings.egress),
    resolve: systemResolve,
    resolverTtlMs: RESOLVER_TTL_MS,
  });
  const pool = createExtractor({
    workers: settings.threadpoolSize || Math.max(1, availableParallelism() - 1),
    workerUrl: options.workerUrl,
    ...EXTRACTION_LIMITS,
  });
  const extractor = options.extractsOnePage ? withSmallPagesHere(pool, SMALL_PAGE_CHARS) : pool;
  const { metrics } = options;
  const cache = createArticleCache({ maxSize: settings.cacheSize, maxBytes: settings.cacheBytes });
  const browsers = options.machine ? openBrowsers(options, options.machine) : null;
  let crawling: Promise<Crawling> | null = null;
  const openCrawling = () =>
    (crawling ??= import("./crawling.ts").then(({ Crawling }) => new Crawling(options)));
  const shared: SharedParts = { egress, cache, errorPages: createErrorPages(), openCrawling, browsers };
  return {
    metrics,
    cache,
    extractor,
    browserPath: () => browsers?.path ?? null,
    browserVersion: async () => (await browsers?.version()) ?? "",
    proxyFor: (url) => proxyChoice(options, DEFAULT_NETWORK)(url)?.url ?? null,
    pendingEntries: () =>
      openBrowsingSession(DEFAULT_NETWORK, { settings, log: options.log }).pendingEntries() ?? 0,
    openSession: (network, caller = options.caller, { acceptMarkdown = false, client = "" } = {}) =>
      openSession(options, {
        shared,
        caller,
        extractor: extractorFor(extractor, client),
        network,
        acceptMarkdown,
      }),
    post: (url, post) => postTo(url, post, { ...options, egress }),
    openProxy: (caller, network) =>
      openPinningProxy({
        egress,
        caller,
        chooseProxy: proxyChoice(options, network),
        log: options.log,
        ...PROXY_TIMES,
      }),
    resolveHost: async (host, caller) => {
      const { addresses } = await egress.admit(new URL(`https://${host}/`), caller);
      return addresses[0]!; // an admitted target has at least one
    },
    database: async () => await (await openCrawling()).database.open(),
    [Symbol.asyncDispose]: async () => {
      await (await crawling)?.[Symbol.asyncDispose]();
      await browsers?.[Symbol.asyncDispose]();
      await extractor[Symbol.asyncDispose]();
    },
  };
}

/** The same workers as one client uses them. */
const extractorFor = (extractor: Extractor, client: string): Extractor => ({
  workers: extractor.workers,
  extract: (task, signal) => extractor.extract(task, signal, client),
  [Symbol.asyncDispose]: () => extractor[Symbol.asyncDispose](),
});

/** Time limits of connections through our own proxies. */
const PROXY_TIMES = { connectTimeoutMs: 30_000, idleTimeoutMs: 120_000 };

/** The machine, as the shell sees it. */
export type BrowserMachine = Pick<
  BrowserHostOptions,
  "temporaryBase" | "useTemporaryDirectory" | "environment" | "pid"
> &
  Omit<FindBrowserOptions, "explicit"> & {
    /** Whether this machine can show a window. */
    readonly hasDisplay: boolean;
    /** Whether the program runs as root, where Chromium cannot use its sandbox. */
    readonly isRoot: boolean;
  };

const openBrowsers = ({ settings, log }: AppOptions, machine: BrowserMachine): BrowserHosts =>
  createBrowserHosts({
    ...machine,
    find: { ...machine, explicit: settings.browserPath },
    hasSandbox: settings.browserSandbox ?? !machine.isRoot,
    maxPages: PAGES_PER_BROWSER,
    maxPageMb: MAX_PAGE_MB,
    log,
  });

/** Pages after which a browser is replaced by a new one. */
const PAGES_PER_BROWSER = 500;
/** Twice the memory that V8 may use for a page's objects. */
const MAX_PAGE_MB = 2048;

/** What all sessions of an app use. */
type SharedParts = {
  readonly egress: Egress;
  readonly cache: ArticleCache;
  readonly errorPages: ErrorPages;
  readonly openCrawling: () => Promise<Crawling>;
  readonly browsers: BrowserHosts | null;
};

type SessionParts = {
  readonly shared: SharedParts;
  readonly caller: EgressCaller;
  readonly extractor: Extractor;
  readonly network: NetworkOptions;
  readonly acceptMarkdown: boolean;
};

const openSessionNetwork = (
  { settings, proxyEnvironment, log, random, person = null }: AppOptions,
  { shared: { egress, browsers }, caller, network, acceptMarkdown }: SessionParts,
): OpenNetwork =>
  openNetwork(network, {
    settings,
    proxyEnvironment,
    caller,
    log,
    random,
    egress,
    browsers,
    person,
    acceptMarkdown,
  });

function openSession(options: AppOptions, parts: SessionParts): ArticleSession {
  const { settings, shell, metrics } = options;
  const { shared, caller, extractor, network } = parts;
  const { cache, errorPages } = shared;
  const open = openSessionNetwork(options, parts);
  const { http, fetchers, log, limits, userAgent } = open;
  const loads = new Set<Promise<unknown>>();
  const service = {
    loads,
    fetchers,
    extractor,
    cache,
    errorPages,
    markdownAlternates: new MarkdownAlternates(),
    log,
    metrics,
    shell,
    hasDiagnostics: settings.logDiagnostics,
  };
  // A caller must not get from the cache what only another caller may reach.
  const scope = JSON.stringify([network, userAgent, caller]);
  let crawls: SessionCrawls | null = null;
  const openCrawls = async (): Promise<SessionCrawls> => {
    const crawling = await shared.openCrawling();
    crawls ??= crawling.openSession({ extractor, network, open, scope });
    return crawls;
  };
  return {
    maxBytes: limits.pageBytes,
    http,
    fromUrl: ({ authorization, options: extraction, signal, requestId, ...request }) =>
      serveArticle(
        {
          ...request,
          preference: open.preference,
          options: extraction,
          fetch: { authorization, signal, deadlineMs: limits.deadlineMs },
          cacheScope: scope,
          requestId: requestId ?? crypto.randomUUID(),
        },
        service,
      ),
    fromDocument: (document, extraction, signal) =>
      articleFromDocument(document, extraction, { extractor, signal }),
    async *crawl(...job) {
      yield* (await openCrawls()).crawl(...job);
    },
    async *previewCrawl(...job) {
      yield* (await openCrawls()).previewCrawl(...job);
    },
    async *mapSite(...job) {
      yield* (await openCrawls()).mapSite(...job);
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(loads);
      await open[Symbol.asyncDispose]();
    },
  };
}
