/** A kind of measurement, with its description and the labels that distinguish its series. */
type Definition<Kind extends string, Label extends string> = {
  readonly kind: Kind;
  /** One line for people, without a full stop. */
  readonly help: string;
  /** Every label takes few values, none of them chosen by whoever sends requests or writes pages. */
  readonly labels: readonly Label[];
};

const definer =
  <const Kind extends string>(kind: Kind) =>
  <Label extends string = never>(help: string, ...labels: Label[]): Definition<Kind, Label> => ({
    kind,
    help,
    labels,
  });

const counter = definer("counter");
const gauge = definer("gauge");
/** A duration, which is measured in ms. @param buckets their upper bounds at `/metrics`, in seconds */
const timing =
  (...buckets: readonly number[]) =>
  <Label extends string = never>(help: string, ...labels: Label[]) => ({
    ...definer("timing")(help, ...labels),
    buckets,
  });

/** Work inside the program and next to it. */
const quick = timing(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10);
/** Work that waits for other sites. */
const slow = timing(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60);

/**
 * Every metric. At `/metrics` the namespace comes before a name, and `_total` after a counter's, `_seconds` after a
 * timing's. The log and StatsD write the values of labels as further parts of the name: `cache_lookups.hit`.
 */
export const METRICS = {
  build_info: gauge("1; the label is the program's version", "version"),
  processes: gauge("serving processes; state is configured or alive", "state"),
  http_requests: counter("answered requests of the server", "method", "route", "status"),
  http_request_duration: slow("from a request's arrival to the head of its answer", "method", "route"),
  article_requests: counter(
    "pages asked for; shell is cli or server, outcome success or failure",
    "shell",
    "outcome",
  ),
  cli_extractions: counter(
    "pages and documents that the command line extracted; outcome is success or failure",
    "outcome",
  ),
  article_request_duration: slow("from a request for a page to its outcome, cache included", "shell"),
  cache_lookups: counter(
    "where an article came from; outcome is hit, miss, or shared with a request that was under way",
    "outcome",
  ),
  fetches: counter("fetched pages, also of crawls and syncs; fetcher is http or browser", "fetcher"),
  fetch_duration: slow("one page with its redirects, retries and waits", "fetcher"),
  extraction_duration: slow("extracting one page on its worker, with the wait for a free one"),
  failures: counter("failures by code, also of pages of crawls", "code"),
  crawl_pages: counter("pages of crawls; outcome is success, failed or skipped", "outcome"),
  crawl_claims: counter("pages that a process took to fetch, each try once"),
  crawl_settles: counter("outcomes that a process recorded for such pages"),
  crawl_claims_lost: counter("pages under way that a process has lost to others"),
  crawl_settles_refused: counter("outcomes that came when another process had the page"),
  crawl_pages_waiting: gauge("pages that wait in the crawls that processes share"),
  crawl_hosts_waiting: gauge("hosts that have any of these pages"),
  crawl_jobs: gauge(
    "jobs of all processes; state is queued or running; absent while the database cannot be reached",
    "state",
  ),
  jobs_claimed: counter("jobs that a process took"),
  jobs_lost: counter("jobs that a process lost to another, since its lease ran out"),
  jobs_helped: counter("jobs of other processes that one has joined"),
  database_query_duration: quick("one statement or transaction in the shared database"),
  database_wait_duration: slow("how long a statement that had to be repeated waited in all"),
  database_retries: counter(
    "repeated statements; reason is away (it cannot be reached), settings (it refuses us), conflict (with another transaction) or stale",
    "reason",
  ),
  store_requests: counter("requests to the bucket; verb is read, write, delete or list", "verb"),
  store_request_duration: slow("one request to the bucket", "verb"),
  store_retries: counter("repeated requests to the bucket"),
  store_errors: counter("requests to the bucket that failed, also before a repeat that did not"),
  store_sent_bytes: counter("content of objects that was written"),
  store_received_bytes: counter("content of objects that was read"),
  trace_spans_lost: counter("spans of traces that reached no collector"),
  mcp_calls: counter(
    "calls of tools, and of GET /search as search; outcome is success or error",
    "tool",
    "outcome",
  ),
  mcp_call_duration: quick("one such call", "tool"),
  tenant_searches: counter("searches in each tenant, failed ones left out", "tenant"),
  tenant_syncs: counter(
    "ended syncs, cancelled ones left out; outcome is success or failure",
    "tenant",
    "outcome",
  ),
  tenant_documents: gauge("indexed documents", "tenant"),
  tenant_degraded: gauge("1 while /health says so of the tenant, else 0", "tenant"),
  tenant_index_timestamp_seconds: gauge(
    "Unix time when the index was written; absent before the first",
    "tenant",
  ),
  tenant_sync_timestamp_seconds: gauge(
    "Unix time of the last sync that succeeded; absent before it",
    "tenant",
  ),
} as const;

export type MetricName = keyof typeof METRICS;
type NameOf<Kind extends string> = {
  [Name in MetricName]: (typeof METRICS)[Name]["kind"] extends Kind ? Name : never;
}[MetricName];
type CounterName = NameOf<"counter">;
export type TimingName = NameOf<"timing">;
type GaugeName = NameOf<"gauge">;

/** The labels of a metric, in the order of its definition. */
type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]["labels"][number], string>>;
export type Labels = Readonly<Record<string, string>>;

/** One observation: a counted event, or a duration in ms. */
export type Measurement = { readonly value: number; readonly labels: Labels } & (
  | { readonly kind: "counter"; readonly name: CounterName }
  | { readonly kind: "timing"; readonly name: TimingName }
);

/** A value that is read when it is asked for, such as a number of waiting jobs. */
export type Gauge = { readonly name: GaugeName; readonly labels: Labels; readonly value: number };

/** Describes a gauge's value. */
export const gaugeOf = <Name extends GaugeName>(
  name: Name,
  labels: LabelsOf<Name>,
  value: number,
): Gauge => ({ name, labels, value });

/** Passes measurements on; it must neither throw nor wait. */
export type MetricsSink = (measurement: Measurement) => void;

/** The program's metrics. */
export interface Metrics {
  /** Adds to a counter, by default 1. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** Records a duration in ms. */
  time<Name extends TimingName>(name: Name, labels: LabelsOf<Name>, durationMs: number): void;
}

/** Makes metrics that go to every sink; without sinks they cost nothing. */
export function createMetrics(sinks: readonly MetricsSink[]): Metrics {
  const emit = (measurement: Measurement): void => {
    for (const sink of sinks) sink(measurement);
  };
  return {
    count: (name, labels, by = 1) => emit({ kind: "counter", name, labels, value: by }),
    time: (name, labels, durationMs) => emit({ kind: "timing", name, labels, value: durationMs }),
  };
}

/** Metrics that nobody reads. */
export const noMetrics: Metrics = createMetrics([]);

/** Writes every measurement as one line: `write("article_extractor.fetches.http", "counter", 1)`. */
export const logSink =
  (namespace: string, write: (name: string, kind: string, value: number) => void): MetricsSink =>
  (measurement) =>
    write(dottedName(namespace, measurement), measurement.kind, measurement.value);

const dottedName = (namespace: string, { name, labels }: Measurement): string =>
  [namespace, name, ...Object.values(labels).map(toPart)].join(".");

/** A route such as `/crawl/{job_id}` must not be read as several parts, nor as StatsD's own signs. */
const toPart = (value: string): string => value.replace(/[^\w-]+/g, "_");

/**
 * Sends every measurement as a StatsD datagram (`name:1|c`, `name:12.5|ms`), which may be lost.
 * @param send takes one datagram's text
 */
export const statsdSink =
  (namespace: string, send: (datagram: string) => void): MetricsSink =>
  (measurement) => {
    const { kind, value } = measurement;
    const rounded = Math.round(value * 1e6) / 1e6;
    send(`${dottedName(namespace, measurement)}:${rounded}|${kind === "counter" ? "c" : "ms"}`);
  };
