import { describe, expect, test } from "bun:test";
import { openStatsd } from "../../../src/app/statsd.ts";
import { createMetrics, logSink, METRICS, statsdSink } from "../../../src/base/metrics.ts";
import { untilTrue } from "../../support/until.ts";

describe("metrics", () => {
  test("go to every sink under the namespace", () => {
    const lines: unknown[] = [];
    const datagrams: string[] = [];
    const metrics = createMetrics([
      logSink("site", (...line) => lines.push(line)),
      statsdSink("other", (datagram) => datagrams.push(datagram)),
    ]);
    metrics.count("article_requests", { shell: "cli", outcome: "success" });
    metrics.time("extraction_duration", {}, 12.5);
    metrics.count("tenant_searches", { tenant: "handbook" }, 2);
    metrics.count("http_requests", { method: "GET", route: "/crawl/{job_id}", status: "404" });
    expect(lines).toEqual([
      ["site.article_requests.cli.success", "counter", 1],
      ["site.extraction_duration", "timing", 12.5],
      ["site.tenant_searches.handbook", "counter", 2],
      ["site.http_requests.GET._crawl_job_id_.404", "counter", 1],
    ]);
    expect(datagrams).toEqual([
      "other.article_requests.cli.success:1|c",
      "other.extraction_duration:12.5|ms",
      "other.tenant_searches.handbook:2|c",
      "other.http_requests.GET._crawl_job_id_.404:1|c",
    ]);
  });

  test("reach a StatsD server by UDP before the socket is disposed", async () => {
    const received: string[] = [];
    const server = await Bun.udpSocket({
      hostname: "127.0.0.1",
      socket: { data: (_, bytes) => void received.push(bytes.toString()) },
    });
    {
      await using statsd = openStatsd("127.0.0.1", server.port, () => {});
      const metrics = createMetrics([statsdSink("article_extractor", statsd.send)]);
      metrics.count("cache_lookups", { outcome: "hit" }, 3);
    }
    await untilTrue(() => received.length > 0);
    server.close();
    expect(received).toEqual(["article_extractor.cache_lookups.hit:3|c"]);
  });

  test("tell once that the StatsD server's name does not resolve, however much is counted", async () => {
    const told: string[] = [];
    {
      await using statsd = openStatsd("no-such-host.invalid", 8125, (reason) => told.push(reason));
      for (let sent = 0; sent < 50; sent++) statsd.send("x:1|c");
    }
    expect(told.map((reason) => reason.slice(0, 46))).toEqual([
      "the name no-such-host.invalid is not resolved ",
    ]);
  });

  test("do no harm where no StatsD server listens", async () => {
    const told: string[] = [];
    {
      await using statsd = openStatsd("127.0.0.1", 9, (reason) => told.push(reason));
      statsd.send("x:1|c");
    }
    expect(told).toEqual([]);
  });
});

describe("the table of metrics", () => {
  test.each(Object.entries(METRICS))(
    "%s is named as Prometheus advises, with a unit that its suffix adds",
    (name, metric) => {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      // `_total` and the seconds of a timing are added, so they are no part of the name.
      expect(name).not.toMatch(/_(total|count|sum|bucket|ms|age)$/);
      expect(name.endsWith("_duration")).toBe(metric.kind === "timing");
      expect(metric.help).not.toMatch(/[\n\\]|\.$/);
      if ("buckets" in metric)
        expect(metric.buckets.every((bound, at) => bound > (metric.buckets[at - 1] ?? 0))).toBe(true);
    },
  );
});
