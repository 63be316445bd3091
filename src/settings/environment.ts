import { EARLIER_VARIABLES } from "../base/earlier-names.ts";
import { Failure } from "../base/failure.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat } from "../base/log.ts";
import { CRAWL, EXTRACTION, FETCHING, NETWORK } from "../options/index.ts";
import {
  boolean,
  byteCount,
  choice,
  decimal,
  describeMismatch,
  integer,
  optional,
  optionalText,
  s3Encryption,
  setting,
  settingsOf,
  text,
} from "./values.ts";

/** Roles of the servers that share one queue of jobs. */
export const SERVER_ROLES = ["all", "api", "worker"] as const;

/** Variables by name, from the process or a `.env` file. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Every setting with its variable and default (docs/reference.md): the general limits first, then those of
 * fetching. A null default means that the shell or the machine decides.
 */
export const VARIABLES = {
  host: setting("HOST", text, "0.0.0.0").means("address that the server binds"),
  port: setting("PORT", integer(1, 65535), 3000).means("HTTP port of the server"),
  webConcurrency: optional("WEB_CONCURRENCY", integer(1, 64)).means(
    "processes of serve extractor; serve search has infrastructure.uvicorn_workers",
  ),
  cacheSize: setting("ARTICLE_EXTRACTOR_CACHE_SIZE", integer(0, 1_000_000), 1000).means(
    "articles kept in memory; 0 keeps none",
  ),
  cacheBytes: setting("ARTICLE_EXTRACTOR_CACHE_BYTES", byteCount, 128 * 1024 * 1024).means(
    "text of the articles kept in memory, in all",
  ),
  ...settingsOf(EXTRACTION),
  threadpoolSize: setting("ARTICLE_EXTRACTOR_THREADPOOL_SIZE", integer(0, 256), 0).means(
    "extraction worker threads; 0: one less than the cores, at least 1",
  ),
  browserPath: optionalText("ARTICLE_EXTRACTOR_BROWSER_PATH").means(
    "Chromium, Chrome or Edge to start; unset: the first on PATH, then the usual places; `none`: no browser",
  ),
  browserSandbox: optional("ARTICLE_EXTRACTOR_BROWSER_SANDBOX", boolean).means(
    "start the browser with its sandbox; unset: yes, except as root, where it has none",
  ),
  storageQueueDir: optionalText("ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR").means(
    "directory of queued session changes; unset: <storage state>.changes",
  ),
  storageQueueMaxEntries: setting(
    "ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_ENTRIES",
    integer(1, 1_000_000),
    20,
  ).means("warn above this many queued changes"),
  storageQueueMaxAgeSeconds: setting(
    "ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_AGE_SECONDS",
    decimal(0, 31_536_000),
    60,
  ).means("warn when the oldest queued change is older"),
  storageQueueRetentionSeconds: setting(
    "ARTICLE_EXTRACTOR_STORAGE_QUEUE_RETENTION_SECONDS",
    decimal(0, 31_536_000),
    300,
  ).means("how long applied changes are kept"),
  logLevel: optional("ARTICLE_EXTRACTOR_LOG_LEVEL", choice(LOG_LEVELS)).means(
    "least severe level that is logged; unset: info for servers, critical for commands",
  ),
  logFormat: setting<LogFormat>("ARTICLE_EXTRACTOR_LOG_FORMAT", choice(LOG_FORMATS), "json").means(
    "form of a log line",
  ),
  logDiagnostics: setting("ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS", boolean, false).means(
    "log the fetcher, cache and timings of every page",
  ),
  metricsEnabled: setting("ARTICLE_EXTRACTOR_METRICS_ENABLED", boolean, false).means("emit metrics"),
  metricsSink: setting<"log" | "statsd">(
    "ARTICLE_EXTRACTOR_METRICS_SINK",
    choice(["log", "statsd"]),
    "log",
  ).means("where metrics go"),
  metricsStatsdHost: setting("ARTICLE_EXTRACTOR_METRICS_STATSD_HOST", text, "127.0.0.1").means(
    "StatsD server",
  ),
  metricsStatsdPort: setting("ARTICLE_EXTRACTOR_METRICS_STATSD_PORT", integer(1, 65535), 8125).means(
    "UDP port of the StatsD server",
  ),
  metricsNamespace: setting("ARTICLE_EXTRACTOR_METRICS_NAMESPACE", text, "article_extractor").means(
    "prefix of metric names",
  ),
  // OpenTelemetry's own variables. They are read as text, because a machine may have them for other programs: what is
  // wrong with them is a warning when traces are asked for, and no reason not to run.
  otelDisabled: optionalText("OTEL_SDK_DISABLED").means("true: no traces, whatever else is set"),
  otelEndpoint: optionalText("OTEL_EXPORTER_OTLP_ENDPOINT").means(
    "collector that gets traces over HTTP, such as http://127.0.0.1:4318; unset: no traces",
  ),
  otelHeaders: optionalText("OTEL_EXPORTER_OTLP_HEADERS").means(
    "headers for it, as NAME=VALUE with commas between, values percent-encoded",
  ),
  otelProtocol: optionalText("OTEL_EXPORTER_OTLP_PROTOCOL").means(
    "http/protobuf or http/json; unset: http/protobuf",
  ),
  otelServiceName: optionalText("OTEL_SERVICE_NAME").means(
    "name of the service in traces; unset: service.name of the next variable, else article-extractor",
  ),
  otelResourceAttributes: optionalText("OTEL_RESOURCE_ATTRIBUTES").means(
    "more about the service, as NAME=VALUE with commas between, values percent-encoded",
  ),
  otelSampler: optionalText("OTEL_TRACES_SAMPLER").means(
    "always_on, always_off, traceidratio, or one of them after parentbased_; unset: parentbased_always_on",
  ),
  otelSamplerArg: optionalText("OTEL_TRACES_SAMPLER_ARG").means(
    "share of the traces with traceidratio, from 0 to 1; unset: 1",
  ),
  ...settingsOf(CRAWL),
  basePath: optionalText("ARTICLE_EXTRACTOR_BASE_PATH").means(
    "prefix under which a reverse proxy shows the server",
  ),
  trustedProxies: optionalText("ARTICLE_EXTRACTOR_TRUSTED_PROXIES").means(
    "addresses and networks of reverse proxies whose forwarding headers are believed",
  ),
  allowedHosts: optionalText("ARTICLE_EXTRACTOR_ALLOWED_HOSTS").means(
    "names that serve extractor answers to, with commas between; unset: all, or loopback's when bound to it",
  ),
  corsOrigins: optionalText("ARTICLE_EXTRACTOR_CORS_ORIGINS").means(
    "origins of other sites whose pages may call serve extractor, with commas between",
  ),
  apiKey: optionalText("ARTICLE_EXTRACTOR_API_KEY").means(
    "key that callers of serve extractor must send; unset: none",
  ),
  apiKeyFile: optionalText("ARTICLE_EXTRACTOR_API_KEY_FILE").means("file that holds that key"),
  keysFile: optionalText("ARTICLE_EXTRACTOR_KEYS_FILE").means(
    "file of the keys of several callers of serve extractor, which `keys --service extractor` changes; it is read again when it changes",
  ),
  outputRoot: optionalText("ARTICLE_EXTRACTOR_OUTPUT_ROOT").means(
    "directory that paths sent over HTTP are relative to and must stay in; unset: `crawls` in the state directory",
  ),
  stateDir: optionalText("ARTICLE_EXTRACTOR_STATE_DIR").means(
    "where serve extractor and mcp keep their jobs, and crawls of models their pages; unset: the XDG state directory",
  ),
  // The state that several processes share; without these each process keeps its own.
  role: setting<(typeof SERVER_ROLES)[number]>("ARTICLE_EXTRACTOR_ROLE", choice(SERVER_ROLES), "all").means(
    "part of a server of pages: all, api (takes jobs and runs none) or worker (only runs them)",
  ),
  databaseUrl: optionalText("ARTICLE_EXTRACTOR_DATABASE_URL").means(
    "PostgreSQL that several processes share: postgres://user:password@host:5432/database; unset: each process keeps its state on its own disk",
  ),
  databaseSchema: setting("ARTICLE_EXTRACTOR_DATABASE_SCHEMA", text, "article_extractor").means(
    "schema in that database which holds our tables",
  ),
  storeUrl: optionalText("ARTICLE_EXTRACTOR_STORE_URL").means(
    "where servers on several machines keep pages: s3://bucket/prefix, or file:///path of a shared directory",
  ),
  s3Endpoint: optionalText("ARTICLE_EXTRACTOR_S3_ENDPOINT").means(
    "server of buckets other than Amazon's, such as https://minio.example:9000",
  ),
  s3Region: optionalText("ARTICLE_EXTRACTOR_S3_REGION").means(
    "region of buckets; unset: AWS_REGION or the profile's, and us-east-1 with an endpoint",
  ),
  s3Addressing: optional<"path" | "virtual">(
    "ARTICLE_EXTRACTOR_S3_ADDRESSING",
    choice(["path", "virtual"]),
  ).means(
    "where requests name the bucket: in the path, or in the host's name; unset: path with an endpoint, else virtual",
  ),
  s3Encryption: optional("ARTICLE_EXTRACTOR_S3_ENCRYPTION", s3Encryption).means(
    "encryption that is asked of buckets: AES256, aws:kms or aws:kms:KEY; unset: the bucket's own",
  ),
  maxConcurrentRequests: setting("ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS", integer(1, 100_000), 64).means(
    "pages that one process is asked for at once, and as many requests about crawls; over it the answer is 429",
  ),
  maxPerClient: setting("ARTICLE_EXTRACTOR_MAX_PER_CLIENT", integer(1, 100_000), 32).means(
    "of these, those of one client (an IPv4 address, or the first 64 bits of an IPv6 one); over it the answer is 429",
  ),
  idleSeconds: setting("ARTICLE_EXTRACTOR_IDLE_SECONDS", integer(1, 255), 75).means(
    "seconds until a server closes a connection that is silent; more than a reverse proxy keeps its own",
  ),
  maxUnreadBytes: setting("ARTICLE_EXTRACTOR_UNREAD_BYTES", byteCount, 512 * 1024 * 1024).means(
    "bytes of answers that a process of a server keeps for clients that have not read them; over it the answer is 429",
  ),
  maxUnreadBytesPerClient: setting(
    "ARTICLE_EXTRACTOR_UNREAD_BYTES_PER_CLIENT",
    byteCount,
    64 * 1024 * 1024,
  ).means("of these, those of one client; an answer of any length when it has read all others"),
  maxQueuedJobs: setting("ARTICLE_EXTRACTOR_MAX_QUEUED_JOBS", integer(1, 1_000_000), 100).means(
    "crawl jobs that wait at most; over it the answer is 429",
  ),
  maxRunningJobs: setting("ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS", integer(1, 256), 2).means(
    "crawl jobs that run at once, in all processes together",
  ),
  deploymentConfig: optionalText("DEPLOYMENT_CONFIG").means(
    "deployment file of serve search; unset: ./deployment.json",
  ),
  searchStateDir: optionalText("DOCS_SEARCH_STATE_DIR").means(
    "where indexes of folders are kept; unset: the XDG state directory",
  ),
  gitProtocols: setting("DOCS_SEARCH_GIT_PROTOCOLS", text, "https").means(
    "schemes of git repositories that are allowed, with commas between: https, http, file, ssh",
  ),
  gitKnownHosts: optionalText("DOCS_SEARCH_GIT_KNOWN_HOSTS").means(
    "file with the keys of the hosts that git over ssh may talk to, as ssh-keyscan writes it",
  ),
  searchAllowedHosts: optionalText("DOCS_SEARCH_ALLOWED_HOSTS").means(
    "names that serve search answers to, with commas between; unset: all, or loopback's when bound to it",
  ),
  searchCorsOrigins: optionalText("DOCS_SEARCH_CORS_ORIGINS").means(
    "origins of other sites whose pages may call serve search, with commas between",
  ),
  searchMaxPerClient: setting("DOCS_SEARCH_MAX_PER_CLIENT", integer(1, 100_000), 100).means(
    "requests of one client that a process of serve search has at once, waiting ones included, and as many of fetch_url; over it the answer is 429",
  ),
  searchApiKey: optionalText("DOCS_SEARCH_API_KEY").means(
    "key that callers of serve search must send; unset: none",
  ),
  searchApiKeyFile: optionalText("DOCS_SEARCH_API_KEY_FILE").means("file that holds that key"),
  ...settingsOf(FETCHING),
  ...settingsOf(NETWORK),
  proxyBypass: optionalText("ARTICLE_EXTRACTOR_PROXY_BYPASS").means(
    "hosts that skip every proxy, in the grammar of NO_PROXY",
  ),
  allowCallerProxy: setting("ARTICLE_EXTRACTOR_ALLOW_CALLER_PROXY", boolean, false).means(
    "whether requests over HTTP may name a proxy, or hosts that skip it, where these settings or variables name one",
  ),
  certificateFile: optionalText("SSL_CERT_FILE").means(
    "file of certificate authorities in PEM that are trusted too",
  ),
  certificateDirectory: optionalText("SSL_CERT_DIR").means("directories of such files, separated by colons"),
} as const;

/** The settings by their names inside the program. */
export type Settings = { readonly [K in keyof typeof VARIABLES]: (typeof VARIABLES)[K]["fallback"] };

/** Checks that only other modules can make, by the setting's name; each throws a `Failure` for a wrong value. */
export type SettingChecks = Partial<Readonly<Record<keyof Settings, (value: string) => void>>>;

/**
 * Reads every setting. An empty variable counts as unset, because shells and compose files write it that way.
 * @throws Failure `invalid_settings` with a line for every wrong variable
 */
export function readSettings(environment: Environment, checks: SettingChecks = {}): Settings {
  const problems: string[] = [];
  const earlier = Object.fromEntries(
    Object.entries(EARLIER_VARIABLES).map(([before, today]) => [today, environment[before]]),
  );
  const entries = Object.entries(VARIABLES).map(([key, { variable, parse, fallback }]) => {
    const written = environment[variable] ?? earlier[variable];
    if (written === undefined || written.trim() === "") return [key, fallback];
    const parsed = parse(written);
    const problem =
      "value" in parsed
        ? failedCheck(variable, written, checks[key as keyof Settings]) // keys of VARIABLES are Settings'
        : `${variable} ${describeMismatch(parsed.expected, written)}`;
    if (problem !== null) problems.push(problem);
    return [key, "value" in parsed ? parsed.value : fallback];
  });
  if (problems.length > 0) throw new Failure("invalid_settings", problems.join("\n"));
  // Every key of VARIABLES has just been given a value by its parser or its default.
  return Object.fromEntries(entries) as Settings;
}

function failedCheck(
  variable: string,
  written: string,
  check: ((value: string) => void) | undefined,
): string | null {
  try {
    check?.(written);
    return null;
  } catch (error) {
    if (error instanceof Failure) return `${variable}: ${error.message}`;
    throw error;
  }
}
