/** What a measurement is of, by name: `{ tenant: "handbook" }`. Values have no quotes, backslashes or line breaks. */
export type Labels = Readonly<Record<string, string>>;

/** One observation: a counted event, or a duration in ms. */
export type Measurement =
  | { readonly kind: "counter"; readonly name: string; readonly value: number; readonly labels?: Labels }
  | { readonly kind: "timing"; readonly name: string; readonly value: number };

/** Passes measurements on; it must neither throw nor wait. */
export type MetricsSink = (measurement: Measurement) => void;

/**
 * The program's metrics. Names are dotted and lower case (`cli_extractions.success`), and each sink puts its
 * namespace before them. docs/operations.md lists the names.
 */
export interface Metrics {
  /** Adds to a counter, by default 1. There is a counter for each value of a label. */
  count(name: string, by?: number, labels?: Labels): void;
  /** Records a duration in ms. */
  time(name: string, durationMs: number): void;
}

/** Makes metrics that go to every sink; without sinks they cost nothing. */
export function createMetrics(sinks: readonly MetricsSink[]): Metrics {
  const emit = (measurement: Measurement): void => {
    for (const sink of sinks) sink(measurement);
  };
  return {
    count: (name, by = 1, labels = {}) => emit({ kind: "counter", name, value: by, labels }),
    time: (name, durationMs) => emit({ kind: "timing", name, value: durationMs }),
  };
}

/** Metrics that nobody reads. */
export const noMetrics: Metrics = createMetrics([]);

/**
 * Writes every measurement as one line: `write("article_extractor.fetches.http", "counter", 1)`. Values of labels are
 * further parts of the name.
 */
export const logSink =
  (namespace: string, write: (name: string, kind: string, value: number) => void): MetricsSink =>
  (measurement) =>
    write(dottedName(namespace, measurement), measurement.kind, measurement.value);

const dottedName = (namespace: string, measurement: Measurement): string =>
  [namespace, measurement.name, ...Object.values(labelsOf(measurement))].join(".");

const labelsOf = (measurement: Measurement): Labels =>
  measurement.kind === "counter" ? (measurement.labels ?? {}) : {};

/**
 * Sends every measurement as a StatsD datagram (`name:1|c`, `name:12.5|ms`), which may be lost; labels as in `logSink`.
 * @param send takes one datagram's text
 */
export const statsdSink =
  (namespace: string, send: (datagram: string) => void): MetricsSink =>
  (measurement) => {
    const { kind, value } = measurement;
    send(`${dottedName(namespace, measurement)}:${round(value)}|${kind === "counter" ? "c" : "ms"}`);
  };

/** Upper bounds of the histogram's buckets, in seconds. */
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Histogram = { readonly buckets: number[]; sum: number; count: number };

/** A value that is read when it is asked for, such as an age. */
export type Gauge = { readonly name: string; readonly labels: Labels; readonly value: number };

/** The metrics of one process as plain data; the names of counters have their labels, as Prometheus writes them. */
export type MetricsSnapshot = {
  readonly counters: readonly (readonly [name: string, value: number])[];
  readonly histograms: readonly (readonly [name: string, histogram: Readonly<Histogram>])[];
};

/** Keeps totals in memory and renders them in Prometheus's text format 0.0.4, durations in seconds. */
export function createPrometheusSink(namespace: string): {
  readonly sink: MetricsSink;
  snapshot(): MetricsSnapshot;
  /**
   * @param others the metrics of other processes, which are added
   * @param gauges what all processes would read alike
   */
  render(others?: readonly MetricsSnapshot[], gauges?: readonly Gauge[]): string;
} {
  const counters = new Map<string, number>();
  const histograms = new Map<string, Histogram>();
  const sink: MetricsSink = (measurement) => {
    const { kind, name, value } = measurement;
    const key = name + writtenLabels(labelsOf(measurement));
    if (kind === "counter") counters.set(key, (counters.get(key) ?? 0) + value);
    else observe(histograms, name, value / 1000);
  };
  const snapshot = (): MetricsSnapshot => ({ counters: [...counters], histograms: [...histograms] });
  const render = (others: readonly MetricsSnapshot[] = [], gauges: readonly Gauge[] = []): string => {
    const all = sumOf([snapshot(), ...others]);
    const counted = all.counters.map(([key, value]) => {
      const [name = "", ...labels] = key.split(/(?=\{)/);
      return { name: `${prometheusName(namespace, name)}_total`, labels: labels.join(""), value };
    });
    const read = gauges.map(({ name, labels, value }) => ({
      name: prometheusName(namespace, name),
      labels: writtenLabels(labels),
      value: round(value),
    }));
    const lines = [...renderValues("counter", counted), ...renderValues("gauge", read)];
    for (const [name, histogram] of all.histograms) {
      lines.push(...renderHistogram(`${prometheusName(namespace, name)}_seconds`, histogram));
    }
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  };
  return { sink, snapshot, render };
}

const writtenLabels = (labels: Labels): string => {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
};

type WrittenValue = { readonly name: string; readonly labels: string; readonly value: number };

/** The values of a name stand together, under one line with its type. */
const renderValues = (type: "counter" | "gauge", values: readonly WrittenValue[]): string[] =>
  [...Map.groupBy(values, ({ name }) => name)].flatMap(([name, named]) => [
    `# TYPE ${name} ${type}`,
    ...named.map(({ labels, value }) => `${name}${labels} ${value}`),
  ]);

function sumOf(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const counters = new Map<string, number>();
  const histograms = new Map<string, Histogram>();
  for (const snapshot of snapshots) {
    for (const [name, value] of snapshot.counters) counters.set(name, (counters.get(name) ?? 0) + value);
    for (const [name, { buckets, sum, count }] of snapshot.histograms) {
      const total = histograms.get(name) ?? { buckets: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 };
      histograms.set(name, total);
      total.sum += sum;
      total.count += count;
      buckets.forEach((value, index) => {
        total.buckets[index] = (total.buckets[index] ?? 0) + value;
      });
    }
  }
  return { counters: [...counters], histograms: [...histograms] };
}

function observe(histograms: Map<string, Histogram>, name: string, seconds: number): void {
  const histogram = histograms.get(name) ?? { buckets: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 };
  histograms.set(name, histogram);
  histogram.sum += seconds;
  histogram.count += 1;
  BUCKETS_SECONDS.forEach((bound, index) => {
    if (seconds <= bound) histogram.buckets[index] = (histogram.buckets[index] ?? 0) + 1;
  });
}

function renderHistogram(name: string, { buckets, sum, count }: Histogram): string[] {
  return [
    `# TYPE ${name} histogram`,
    ...BUCKETS_SECONDS.map((bound, index) => `${name}_bucket{le="${bound}"} ${buckets[index]}`),
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${round(sum)}`,
    `${name}_count ${count}`,
  ];
}

const prometheusName = (namespace: string, name: string): string =>
  `${namespace}_${name}`.replace(/[^a-zA-Z0-9_]/g, "_");

const round = (value: number): number => Math.round(value * 1e6) / 1e6;
