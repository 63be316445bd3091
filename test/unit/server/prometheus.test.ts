import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMetrics, gaugeOf, METRICS } from "../../../src/base/metrics.ts";
import { createPrometheusSink } from "../../../src/server/processes/prometheus.ts";

/** The samples of a metric with its type. */
const linesOf = (text: string, name: string): string[] =>
  text.split("\n").filter((line) => line.startsWith(name) || line.startsWith(`# TYPE ${name}`));

describe("the Prometheus sink", () => {
  test("starts the totals without labels at 0, and tells of the process", () => {
    const text = createPrometheusSink("site").render();
    const plain = Object.entries(METRICS).filter(
      ([, { kind, labels }]) => kind === "counter" && !labels.length,
    );
    for (const [name] of plain) expect(text).toContain(`\nsite_${name}_total 0\n`);
    for (const name of ["cpu_seconds_total", "resident_memory_bytes", "start_time_seconds"])
      expect(Number(new RegExp(`^process_${name} (\\S+)$`, "m").exec(text)?.[1])).toBeGreaterThan(0);
    if (process.platform === "linux")
      for (const name of ["virtual_memory_bytes", "open_fds", "max_fds"])
        expect(Number(new RegExp(`^process_${name} (\\S+)$`, "m").exec(text)?.[1])).toBeGreaterThan(0);
  });

  test("renders counters as totals and durations as histograms in seconds, each with its help and type", () => {
    const { sink, render } = createPrometheusSink("site");
    const metrics = createMetrics([sink]);
    metrics.count("cache_lookups", { outcome: "hit" });
    metrics.count("cache_lookups", { outcome: "hit" }, 2);
    metrics.time("fetch_duration", { fetcher: "http" }, 30);
    metrics.time("fetch_duration", { fetcher: "http" }, 90_000);
    metrics.time("fetch_duration", { fetcher: "browser" }, 25);
    const text = render();
    expect(text).toContain(
      `# HELP site_cache_lookups_total ${METRICS.cache_lookups.help}\n# TYPE site_cache_lookups_total counter\nsite_cache_lookups_total{outcome="hit"} 3\n`,
    );
    const lines = linesOf(text, "site_fetch_duration_seconds");
    expect(lines[0]).toBe("# TYPE site_fetch_duration_seconds histogram");
    const http = (suffix: string) => `site_fetch_duration_seconds_${suffix}`;
    for (const [name, value] of [
      ['bucket{fetcher="http",le="0.025"}', 0],
      ['bucket{fetcher="http",le="0.05"}', 1],
      ['bucket{fetcher="http",le="60"}', 1],
      ['bucket{fetcher="http",le="+Inf"}', 2],
      ['sum{fetcher="http"}', 90.03],
      ['count{fetcher="http"}', 2],
      // A bucket's bound belongs to it.
      ['bucket{fetcher="browser",le="0.025"}', 1],
      ['bucket{fetcher="browser",le="0.01"}', 0],
    ])
      expect(lines).toContain(`${http(String(name))} ${value}`);
    expect(text.endsWith("\n")).toBe(true);
  });

  test("escapes the values of labels", () => {
    const value = 'a"b\\c\nd';
    const text = createPrometheusSink("site").render([], [gaugeOf("tenant_degraded", { tenant: value }, 1)]);
    expect(text).toContain('site_tenant_degraded{tenant="a\\"b\\\\c\\nd"} 1\n');
  });

  test("adds up processes, whatever they have counted", () => {
    const events = fc.array(fc.tuple(fc.constantFrom("a", "b-c"), fc.integer({ min: 0, max: 90_000 })));
    fc.assert(
      fc.property(fc.array(events, { minLength: 1, maxLength: 4 }), (all) => {
        const feed = (given: typeof all) => {
          const sink = createPrometheusSink("site");
          const metrics = createMetrics([sink.sink]);
          for (const [tenant, ms] of given.flat()) {
            metrics.count("tenant_searches", { tenant });
            metrics.time("mcp_call_duration", { tool: tenant }, ms);
          }
          return sink;
        };
        const [first, ...rest] = all.map((given) => feed([given]));
        const others = rest.map((sink) => ({
          snapshot: JSON.parse(JSON.stringify(sink.snapshot())),
          isAlive: true,
        }));
        const together = linesOf(first?.render(others) ?? "", "site_").sort();
        expect(together).toEqual(linesOf(feed(all).render(), "site_").sort());
      }),
    );
  });

  test("counts the time of dead processes, and the memory of living ones", () => {
    const { render, snapshot } = createPrometheusSink("site");
    const figure = (text: string, name: string) =>
      Number(new RegExp(`^process_${name} (\\S+)$`, "m").exec(text)?.[1]);
    const dead = { ...snapshot(), process: { ...snapshot().process, cpuSeconds: 1e6, startSeconds: 5 } };
    const text = render([{ snapshot: dead, isAlive: false }]);
    expect(figure(text, "cpu_seconds_total")).toBeGreaterThan(1e6);
    expect(figure(text, "start_time_seconds")).toBe(5);
    const alone = figure(render(), "resident_memory_bytes");
    expect(figure(text, "resident_memory_bytes")).toBeLessThan(1.5 * alone);
    const both = render([{ snapshot: dead, isAlive: true }]);
    expect(figure(both, "resident_memory_bytes")).toBeGreaterThan(1.5 * alone);
  });
});
