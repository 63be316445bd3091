import { readdirSync, readFileSync } from "node:fs";
import {
  type Gauge,
  type Labels,
  METRICS,
  type MetricName,
  type MetricsSink,
  type TimingName,
} from "../../base/metrics.ts";

type Histogram = { readonly buckets: number[]; sum: number; count: number };

/** The metrics of one process as plain data; a key is a name with its labels as Prometheus writes them. */
export type MetricsSnapshot = {
  readonly counters: readonly (readonly [key: string, value: number])[];
  readonly histograms: readonly (readonly [key: string, histogram: Readonly<Histogram>])[];
  readonly process: ProcessFigures;
};

/** The metrics of another process on the port. A dead process's totals still count, so that no total ever falls. */
export type OtherMetrics = { readonly snapshot: MetricsSnapshot; readonly isAlive: boolean };

/** Keeps the totals of this process in memory. */
export function createPrometheusSink(namespace: string) {
  const counters = new Map<string, number>();
  const histograms = new Map<string, Histogram>();
  const sink: MetricsSink = ({ kind, name, labels, value }) => {
    const key = name + writtenLabels(labels);
    if (kind === "counter") counters.set(key, (counters.get(key) ?? 0) + value);
    else observe(histogramOf(histograms, key, name), METRICS[name].buckets, value / 1000);
  };
  // A total that is there from the start shows its first increase.
  for (const [name, { kind, labels }] of Object.entries(METRICS))
    if (kind === "counter" && labels.length === 0) counters.set(name, 0);
  const snapshot = (): MetricsSnapshot => ({
    counters: [...counters],
    histograms: [...histograms],
    process: readProcessFigures(),
  });
  /**
   * Renders Prometheus's text format 0.0.4, durations in seconds.
   * @param others the metrics of other processes, which are added
   * @param gauges what all processes would read alike
   */
  const render = (others: readonly OtherMetrics[] = [], gauges: readonly Gauge[] = []): string => {
    const all: OtherMetrics[] = [{ snapshot: snapshot(), isAlive: true }, ...others];
    const samples = samplesOf(all, gauges);
    const blocks = Object.entries(METRICS).flatMap(([name, { kind, help }]) => {
      const found = samples.get(name);
      const full = prometheusName(namespace, name) + SUFFIXES[kind];
      return found ? [`# HELP ${full} ${help}`, `# TYPE ${full} ${TYPES[kind]}`, ...found(full)] : [];
    });
    return `${[...blocks, ...processLines(all)].join("\n")}\n`;
  };
  return { sink, snapshot, render };
}

const SUFFIXES = { counter: "_total", timing: "_seconds", gauge: "" } as const;
const TYPES = { counter: "counter", timing: "histogram", gauge: "gauge" } as const;

const prometheusName = (namespace: string, name: string): string =>
  `${namespace}_${name}`.replace(/[^a-zA-Z0-9_]/g, "_");

const writtenLabels = (labels: Labels): string => {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
};

const escapeValue = (value: string): string =>
  value.replace(/[\\"\n]/g, (sign) => (sign === "\n" ? "\\n" : `\\${sign}`));

/** The lines of each metric that has any, as functions of its full name. */
type Samples = Map<string, (name: string) => string[]>;

function samplesOf(all: readonly OtherMetrics[], gauges: readonly Gauge[]): Samples {
  const counters = new Map<string, number>();
  const histograms = new Map<string, Histogram>();
  for (const { snapshot } of all) {
    for (const [key, value] of snapshot.counters) counters.set(key, (counters.get(key) ?? 0) + value);
    for (const [key, histogram] of snapshot.histograms)
      add(histogramOf(histograms, key, nameOf(key) as TimingName), histogram);
  }
  const samples: Samples = new Map();
  const put = (name: string, line: (full: string) => string[]): void => {
    const before = samples.get(name);
    samples.set(name, before ? (full) => [...before(full), ...line(full)] : line);
  };
  for (const { name, labels, value } of gauges)
    put(name, (full) => [`${full}${writtenLabels(labels)} ${round(value)}`]);
  for (const [key, value] of counters) put(nameOf(key), (full) => [`${full}${labelsOf(key)} ${value}`]);
  for (const [key, histogram] of histograms) put(nameOf(key), (full) => histogramLines(full, key, histogram));
  return samples;
}

const nameOf = (key: string): MetricName => key.split("{", 1)[0] as MetricName;
const labelsOf = (key: string): string => key.slice(nameOf(key).length);

function histogramOf(histograms: Map<string, Histogram>, key: string, name: TimingName): Histogram {
  const found = histograms.get(key) ?? { buckets: METRICS[name].buckets.map(() => 0), sum: 0, count: 0 };
  histograms.set(key, found);
  return found;
}

function observe(histogram: Histogram, bounds: readonly number[], seconds: number): void {
  histogram.sum += seconds;
  histogram.count += 1;
  for (let index = bounds.length - 1; index >= 0 && seconds <= bounds[index]!; index--)
    histogram.buckets[index]! += 1;
}

function add(total: Histogram, { buckets, sum, count }: Readonly<Histogram>): void {
  total.sum += sum;
  total.count += count;
  for (const [index, value] of buckets.entries()) total.buckets[index] = (total.buckets[index] ?? 0) + value;
}

function histogramLines(name: string, key: string, { buckets, sum, count }: Readonly<Histogram>): string[] {
  const labels = labelsOf(key);
  const bounds = METRICS[nameOf(key) as TimingName].buckets;
  const upTo = (bound: string): string =>
    (labels === "" ? "{" : `${labels.slice(0, -1)},`) + `le="${bound}"}`;
  return [
    ...bounds.map((bound, index) => `${name}_bucket${upTo(String(bound))} ${buckets[index]}`),
    `${name}_bucket${upTo("+Inf")} ${count}`,
    `${name}_sum${labels} ${round(sum)}`,
    `${name}_count${labels} ${count}`,
  ];
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;

/** The operating system's figures about a process; null if it has none. */
type ProcessFigures = ReturnType<typeof readProcessFigures>;

const startSeconds = Date.now() / 1000 - process.uptime();

function readProcessFigures() {
  const { user, system } = process.cpuUsage();
  const kilobytes = inProc(() => numberIn("status", /^VmSize:\s+(\d+) kB/m));
  return {
    cpuSeconds: (user + system) / 1e6,
    startSeconds,
    residentBytes: process.memoryUsage.rss(),
    virtualBytes: kilobytes === null ? null : kilobytes * 1024,
    openFds: inProc(() => readdirSync("/proc/self/fd").length),
    maxFds: inProc(() => numberIn("limits", /^Max open files\s+(\d+)/m)),
  };
}

function numberIn(file: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(readFileSync(`/proc/self/${file}`, "latin1"))?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Null where there is no `/proc`, as outside of Linux, or it does not tell. */
function inProc<T>(read: () => T | undefined): T | null {
  try {
    return read() ?? null;
  } catch {
    return null;
  }
}

/** The metrics that every program has, by the names that dashboards know, for all processes together. */
function processLines(all: readonly OtherMetrics[]): string[] {
  const everyOne = all.map(({ snapshot }) => snapshot.process);
  const alive = all.filter(({ isAlive }) => isAlive).map(({ snapshot }) => snapshot.process);
  const sum = (of: readonly ProcessFigures[], figure: keyof ProcessFigures): number | null =>
    of.reduce<number | null>((total, one) => {
      const value = one[figure];
      return total === null || value === null ? null : total + value;
    }, 0);
  const linesOf = (name: string, type: "counter" | "gauge", help: string, value: number | null): string[] => {
    if (value === null) return [];
    const full = `process_${name}`;
    return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, `${full} ${round(value)}`];
  };
  const start = Math.min(...everyOne.map((one) => one.startSeconds));
  return [
    ...linesOf("cpu_seconds_total", "counter", "CPU time of user and system", sum(everyOne, "cpuSeconds")),
    ...linesOf("resident_memory_bytes", "gauge", "resident memory", sum(alive, "residentBytes")),
    ...linesOf("virtual_memory_bytes", "gauge", "virtual memory", sum(alive, "virtualBytes")),
    ...linesOf("open_fds", "gauge", "open file descriptors", sum(alive, "openFds")),
    ...linesOf("max_fds", "gauge", "the most open file descriptors", sum(alive, "maxFds")),
    ...linesOf("start_time_seconds", "gauge", "Unix time when the first of the processes started", start),
  ];
}
