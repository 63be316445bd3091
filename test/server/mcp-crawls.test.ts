import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExtractorProcess, startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { connectMcp } from "../support/mcp.ts";
import { startMcpSite } from "../support/mcp-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

type CrawlAnswer = {
  readonly job_id: string;
  readonly status: string;
  readonly directory: string;
  readonly pages: readonly {
    readonly url: string;
    readonly file: string | null;
    readonly problem: string | null;
  }[];
  readonly error: string | null;
};

const site = forAllTests(startMcpSite());

/** A client of the server's endpoint; its requests have these headers too. */
async function connect(server: ExtractorProcess, headers: Record<string, string> = {}) {
  const client = await connectMcp(`${server.url}/mcp`, headers);
  await client.listTools();
  const call = async (name: string, args: object): Promise<CrawlAnswer> => {
    const answer = await client.callTool({ name, arguments: { ...args } });
    return answer.structuredContent as CrawlAnswer;
  };
  return { call, client, [Symbol.asyncDispose]: () => client.close() };
}

describe("crawls of models", () => {
  test("end in a directory of their own, where the server keeps its state", async () => {
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: "" } });
    await using model = await connect(server);
    const job = await model.call("crawl_site", { url: `${site.origin}/site/` });
    expect(job).toMatchObject({ status: "queued", error: null });
    expect(job.directory).toStartWith("127.0.0.1_");
    const end = await model.call("crawl_status", { job_id: job.job_id, wait: 50 });
    expect(end).toMatchObject({
      job_id: job.job_id,
      status: "completed",
      progress: 4,
      total: 4,
      successful: 2,
      failed: 1,
      skipped: 1,
      directory: job.directory,
      next_offset: null,
      failure: null,
      error: null,
    });
    const problems = Object.fromEntries(
      end.pages.map(({ url, problem }) => [url.slice(site.origin.length), problem]),
    );
    expect(problems).toEqual({
      "/site/": null,
      "/site/a": null,
      "/site/gone": expect.stringContaining("404"),
      "/private/b": "robots",
    });
    const stored = end.pages.find(({ url }) => url.endsWith("/site/a"));
    expect(
      readFileSync(join(server.directory, "state/crawls", job.directory, stored?.file ?? ""), "utf8"),
    ).toContain("Paragraph 2");
    expect(site.count("/private/b")).toBe(0);
    const again = await model.call("crawl_site", { url: `${site.origin}/site/`, max_pages: 1 });
    expect(again.directory).not.toBe(job.directory);
    const one = await model.call("crawl_status", { job_id: again.job_id, wait: 50 });
    expect(one.pages.map(({ url }) => url)).toEqual([`${site.origin}/site/`]);
    expect(await model.call("crawl_status", { job_id: again.job_id, offset: 1 })).toMatchObject({
      pages: [],
    });
  });

  test("of callers from elsewhere stay within the directory that the operator names", async () => {
    const elsewhere = { "x-forwarded-for": "192.0.2.1" };
    using root = temporaryDirectory();
    await using open = await startExtractor({ env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: root.path } });
    await using guest = await connect(open, elsewhere);
    const job = await guest.call("crawl_site", { url: `${site.origin}/site/` });
    expect(job.directory).toStartWith("crawls/127.0.0.1_");
    // A caller from elsewhere does not reach this machine's own addresses.
    expect(await guest.call("crawl_status", { job_id: job.job_id, wait: 50 })).toMatchObject({
      status: "completed",
      failed: 1,
      pages: [{ file: null, problem: expect.stringContaining("refuse") }],
    });
    expect(existsSync(join(root.path, job.directory, "manifest.json"))).toBeTrue();
  });

  test.each([
    ["crawl_site", {}, "url is required"],
    ["crawl_site", { url: "example.org" }, 'url: "example.org" is not an http or https URL'],
    ["crawl_site", { url: "http://127.0.0.1/", max_pages: 0 }, "max_pages must be between 1 and 1000"],
    ["crawl_site", { url: "http://127.0.0.1/", max_depth: 101 }, "max_depth must be between 0 and 100"],
    [
      "crawl_site",
      { url: "http://127.0.0.1/", prefix: "site/" },
      'the prefix "site/" is not an http or https URL',
    ],
    ["crawl_status", {}, "job_id is required"],
    ["crawl_status", { job_id: "7" }, 'there is no job "7"'],
    ["crawl_status", { job_id: "7", wait: 51 }, "wait must be between 0 and 50"],
  ])("%s with %o answers %p", async (name, args, message) => {
    await using server = await startExtractor();
    await using model = await connect(server);
    expect((await model.call(name, args)).error).toBe(message);
  });

  test("need the key and a body of at most 2 MiB, as all else does", async () => {
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_API_KEY: "s3cret" } });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const accept = "application/json, text/event-stream";
    expect((await server.post("/mcp", list, { accept })).status).toBe(401);
    const allowed = { accept, authorization: "Bearer s3cret" };
    for (const path of ["/mcp", "/mcp/"]) {
      const answer = (await (await server.post(path, list, allowed)).json()) as {
        readonly result: { readonly tools: readonly { readonly name: string }[] };
      };
      expect(answer.result.tools.map(({ name }) => name)).toEqual([
        "fetch_url",
        "crawl_site",
        "crawl_status",
      ]);
    }
    const large = { ...list, params: { _meta: { filler: "x".repeat(2 * 1024 * 1024) } } };
    expect((await server.post("/mcp", large, allowed)).status).toBe(413);
  });
});
