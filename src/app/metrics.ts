import type { Log } from "../base/log.ts";
import { createMetrics, logSink, type Metrics, type MetricsSink, statsdSink } from "../metrics.ts";
import type { Settings } from "../settings/index.ts";
import { openStatsd } from "./statsd.ts";

/** Metrics with what they leave by; disposing waits until they have left. */
export type OpenMetrics = AsyncDisposable & { readonly metrics: Metrics };

/**
 * Opens the metrics of a process: the sink of the settings, where they are switched on, and further ones. What the log
 * sink writes is asked for by name, so it is written whatever the log's level.
 */
export function openMetrics(
  settings: Settings,
  { log, sinks = [] }: { readonly log: Log; readonly sinks?: readonly MetricsSink[] },
): OpenMetrics {
  const namespace = settings.metricsNamespace;
  if (!settings.metricsEnabled)
    return { metrics: createMetrics(sinks), [Symbol.asyncDispose]: async () => {} };
  if (settings.metricsSink === "log") {
    const write = (metric: string, kind: string, value: number): void =>
      log.always("info", "metric", { metric, kind, value });
    return {
      metrics: createMetrics([...sinks, logSink(namespace, write)]),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const { metricsStatsdHost: host, metricsStatsdPort: port } = settings;
  const statsd = openStatsd({
    host,
    port,
    onTrouble: (reason) =>
      log.always("warning", `metrics do not reach the StatsD server: ${reason}`, { host, port }),
  });
  return {
    metrics: createMetrics([...sinks, statsdSink(namespace, statsd.send)]),
    [Symbol.asyncDispose]: () => statsd[Symbol.asyncDispose](),
  };
}
