import { describe, expect, test } from "bun:test";
import { openStatsd } from "../../../src/app/testing.ts";
import { createMetrics, createPrometheusSink, logSink, statsdSink } from "../../../src/base/metrics.ts";
import { untilTrue } from "../../support/until.ts";

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
    metrics.count("tenant_searches", 2, { tenant: "handbook" });
    expect(lines).toEqual([
      ["site.cli_extractions.success", "counter", 1],
      ["site.fetches.duration", "timing", 12.5],
      ["site.tenant_searches.handbook", "counter", 2],
    ]);
    expect(datagrams).toEqual([
      "other.cli_extractions.success:1|c",
      "other.fetches.duration:12.5|ms",
      "other.tenant_searches.handbook:2|c",
    ]);
  });

  test("reach a StatsD server by UDP before the socket is disposed", async () => {
    const received: string[] = [];
    const server = await Bun.udpSocket({
      hostname: "127.0.0.1",
      socket: { data: (_, bytes) => void received.push(bytes.toString()) },
    });
    {
      await using statsd = openStatsd({ host: "127.0.0.1", port: server.port, onTrouble: () => {} });
      const metrics = createMetrics([statsdSink("article_extractor", statsd.send)]);
      metrics.count("cache.hit", 3);
    }
    await untilTrue(() => received.length > 0);
    server.close();
    expect(received).toEqual(["article_extractor.cache.hit:3|c"]);
  });

  test("tell once that the StatsD server's name does not resolve, however much is counted", async () => {
    const told: string[] = [];
    {
      await using statsd = openStatsd({
        host: "no-such-host.invalid",
        port: 8125,
        onTrouble: (reason) => told.push(reason),
      });
      for (let sent = 0; sent < 50; sent++) statsd.send("x:1|c");
    }
    expect(told.map((reason) => reason.slice(0, 46))).toEqual([
      "the name no-such-host.invalid is not resolved ",
    ]);
  });

  test("do no harm where no StatsD server listens", async () => {
    const told: string[] = [];
    {
      await using statsd = openStatsd({
        host: "127.0.0.1",
        port: 9,
        onTrouble: (reason) => told.push(reason),
      });
      statsd.send("x:1|c");
    }
    expect(told).toEqual([]);
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

  test("keeps the values of a label apart, together under their name, and adds up processes", () => {
    const [one, other] = [createPrometheusSink("site"), createPrometheusSink("site")];
    for (const { sink } of [one, other]) {
      const metrics = createMetrics([sink]);
      metrics.count("tenant_searches", 1, { tenant: "a" });
      metrics.count("cache.hit");
      metrics.count("tenant_searches", 2, { tenant: "b-c_d" });
    }
    const gauges = ["a", "b"].map((tenant, value) => ({
      name: "tenant_age_seconds",
      labels: { tenant },
      value,
    }));
    expect(one.render([other.snapshot()], gauges)).toBe(`# TYPE site_tenant_searches_total counter
site_tenant_searches_total{tenant="a"} 2
site_tenant_searches_total{tenant="b-c_d"} 4
# TYPE site_cache_hit_total counter
site_cache_hit_total 2
# TYPE site_tenant_age_seconds gauge
site_tenant_age_seconds{tenant="a"} 0
site_tenant_age_seconds{tenant="b"} 1
`);
  });
});
