import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { crawlOnce } from "../support/crawl-run.ts";
import { DocsSite } from "../support/docs-site.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served } from "../support/served.ts";
import { SYNC_ENVIRONMENT, startSync, webTenant, writeSyncDeployment } from "../support/sync-run.ts";
import { until } from "../support/until.ts";

const PAGES = 10;
const site = forAllTests(
  serveNumberedSite({ pages: PAGES, answers: { "/p/3": { status: 500, body: "no" } } }),
);

const METRICS = { ARTICLE_EXTRACTOR_METRICS_ENABLED: "1" };
const linesOf = (stderr: string): Record<string, unknown>[] =>
  stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));

/** A StatsD server; dispose of it after use. */
async function openStatsdServer() {
  const received: string[] = [];
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: { data: (_, bytes) => void received.push(bytes.toString()) },
  });
  return {
    received,
    env: {
      ...METRICS,
      ARTICLE_EXTRACTOR_METRICS_SINK: "statsd",
      ARTICLE_EXTRACTOR_METRICS_STATSD_PORT: String(socket.port),
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

async function withSyncDeployment<T>(pages: number, use: (root: string) => Promise<T>): Promise<T> {
  await using docs = new DocsSite();
  docs.fill(pages);
  const root = await writeSyncDeployment({ tenants: [webTenant(docs.sitemap)] });
  try {
    return await use(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe("a crawl", () => {
  test("is counted in the log without any other setting, as single pages are", async () => {
    const run = await crawlOnce([`${site.origin}/`, "--retries", "0", "--max-failures", "1"], {
      env: METRICS,
    });
    const lines = linesOf(run.stderr);
    const count = (name: string) =>
      lines.filter(({ metric }) => metric === `article_extractor.${name}`).length;
    expect(new Set(lines.map(({ message }) => message))).toEqual(new Set(["metric"]));
    expect(count("fetches.http")).toBe(PAGES);
    expect(count("fetch_duration.http")).toBe(PAGES);
    expect(count("extraction_duration")).toBe(PAGES - 1);
    expect(count("crawl_settles")).toBe(PAGES);
    const claims = lines.filter(({ metric }) => metric === "article_extractor.crawl_claims");
    expect(claims.reduce((total, { value }) => total + Number(value), 0)).toBe(PAGES);
    expect(count("crawl_pages.success")).toBe(PAGES - 1);
    expect(count("failures.http_status")).toBe(1);
  });

  test("has request, fetcher and timings on its lines with diagnostics, and only then", async () => {
    const pagesOf = async (value: string) => {
      const env = { ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: value };
      const run = await crawlOnce([`${site.origin}/p/1`, `${site.origin}/p/3`, "-v", "--retries", "0"], {
        env,
      });
      return linesOf(run.stderr).filter(({ message }) => /^page (?:crawled|failed)$/.test(String(message)));
    };
    const fields = ["request_id", "cache", "fetcher", "fetch_ms", "extraction_ms"];
    const lines = await pagesOf("1");
    expect(lines.length).toBe(2);
    for (const line of lines) for (const field of fields) expect(line).toHaveProperty(field);
    expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(2);
    for (const line of await pagesOf("0")) for (const field of fields) expect(line).not.toHaveProperty(field);
  });

  test("is told once when the StatsD server's name does not resolve", async () => {
    const env = {
      ...METRICS,
      ARTICLE_EXTRACTOR_METRICS_SINK: "statsd",
      ARTICLE_EXTRACTOR_METRICS_STATSD_HOST: "no-such-host.invalid",
    };
    const run = await crawlOnce([`${site.origin}/p/1`, "--max-depth", "0"], { env });
    expect(run.exitCode).toBe(0);
    expect(linesOf(run.stderr)).toMatchObject([
      { level: "warning", message: expect.stringContaining("StatsD"), host: "no-such-host.invalid" },
    ]);
  });
});

test("a crawl job counts at /metrics of serve extractor", async () => {
  await using server = await startExtractor();
  const id = await submitJob(server, { output_dir: "out", seeds: [`${site.origin}/`] });
  await untilJob(server, id, isOver);
  const text = await (await server.get("/metrics")).text();
  expect(text).toContain(`article_extractor_fetches_total{fetcher="http"} ${PAGES}\n`);
  expect(text).toContain(`article_extractor_extraction_duration_seconds_count ${PAGES - 1}\n`);
  expect(text).toContain('article_extractor_failures_total{code="http_status"} 1\n');
});

describe("a sync", () => {
  test("as a command counts its fetches, in the log and at a StatsD server", async () => {
    await withSyncDeployment(3, async (root) => {
      using statsd = await openStatsdServer();
      const { exitCode, stderr } = await startSync(root, ["--all"], statsd.env).done;
      expect([exitCode, stderr]).toEqual([0, ""]);
      const fetched = () =>
        statsd.received.filter((text) => text === "article_extractor.fetches.http:1|c").length;
      expect(
        await until(
          async () => fetched(),
          (count) => count >= 3,
        ),
      ).toBeGreaterThanOrEqual(3);
    });
    await withSyncDeployment(1, async (root) => {
      const { stderr } = await startSync(root, ["--all"], METRICS).done;
      expect(stderr).toContain('"metric":"article_extractor.fetches.http"');
    });
  });

  test("of serve search counts at its /metrics, and with the calls of tools at a StatsD server", async () => {
    await withSyncDeployment(3, async (root) => {
      using statsd = await openStatsdServer();
      await using served = await Served.start(root, { env: { ...SYNC_ENVIRONMENT, ...statsd.env } });
      const fetches = async (): Promise<number> => {
        const text = await (await fetch(`${served.url}/metrics`)).text();
        return Number(/article_extractor_fetches_total\{fetcher="http"\} (\d+)/.exec(text)?.[1] ?? 0);
      };
      expect(await until(fetches, (count) => count >= 3)).toBeGreaterThanOrEqual(3);
      await served.call("list_tenants", {});
      const names = async () => statsd.received.map((text) => text.split(":")[0]);
      const seen = await until(
        names,
        (all) =>
          all.includes("article_extractor.mcp_calls.list_tenants.success") &&
          all.includes("article_extractor.fetches.http"),
      );
      expect(seen).toContain("article_extractor.fetches.http");
    });
  });
});
