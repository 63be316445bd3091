import { describe, expect, test } from "bun:test";
import { createMetrics, createPrometheusSink, logSink, statsdSink } from "../../src/metrics.ts";
import { openStatsd } from "../../src/statsd.ts";

describe("metrics", () => {
  test("go to every sink under the namespace", () => {
    const lines: unknown[] = [];
    const datagrams: string[] = [];
    const metrics = createMetrics([
      logSink("site", (...line) => lines.push(line)),
      statsdSink("other", (datagram) => datagrams.push(datagram)),
    ]);
    metrics.count("cli_extractions.success");
    metrics.time("fetches.duration", 12.5);
    expect(lines).toEqual([
      ["site.cli_extractions.success", "counter", 1],
      ["site.fetches.duration", "timing", 12.5],
    ]);
    expect(datagrams).toEqual(["other.cli_extractions.success:1|c", "other.fetches.duration:12.5|ms"]);
  });

  test("reach a StatsD server by UDP before the socket is disposed", async () => {
    const received: string[] = [];
    const server = await Bun.udpSocket({
      hostname: "127.0.0.1",
      socket: { data: (_, bytes) => void received.push(bytes.toString()) },
    });
    {
      await using statsd = openStatsd("127.0.0.1", server.port);
      const metrics = createMetrics([statsdSink("article_extractor", statsd.send)]);
      metrics.count("cache.hit", 3);
    }
    for (let waits = 0; received.length === 0 && waits < 200; waits++) await Bun.sleep(10);
    server.close();
    expect(received).toEqual(["article_extractor.cache.hit:3|c"]);
  });

  test("do no harm when no StatsD server listens or its name does not resolve", async () => {
    await using statsd = openStatsd("no-such-host.invalid", 8125);
    statsd.send("x:1|c");
  });
});

describe("the Prometheus sink", () => {
  test("is empty before the first measurement", () => {
    expect(createPrometheusSink("site").render()).toBe("");
  });

  test("renders counters as totals and durations as histograms in seconds", () => {
    const { sink, render } = createPrometheusSink("site");
    const metrics = createMetrics([sink]);
    metrics.count("cache.hit");
    metrics.count("cache.hit", 2);
    metrics.time("fetches.duration", 30);
    metrics.time("fetches.duration", 90_000);
    const lines = render().split("\n");
    expect(lines.slice(0, 3)).toEqual([
      "# TYPE site_cache_hit_total counter",
      "site_cache_hit_total 3",
      "# TYPE site_fetches_duration_seconds histogram",
    ]);
    expect(lines).toContain('site_fetches_duration_seconds_bucket{le="0.025"} 0');
    expect(lines).toContain('site_fetches_duration_seconds_bucket{le="0.05"} 1');
    expect(lines).toContain('site_fetches_duration_seconds_bucket{le="60"} 1');
    expect(lines).toContain('site_fetches_duration_seconds_bucket{le="+Inf"} 2');
    expect(lines).toContain("site_fetches_duration_seconds_sum 90.03");
    expect(lines).toContain("site_fetches_duration_seconds_count 2");
    expect(lines.at(-1)).toBe("");
  });
});
