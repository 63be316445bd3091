import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { crawlDirectory, pathsOf } from "../support/crawl-run.ts";
import { html, page } from "../support/crawl-site.ts";
import { serveLocal } from "../support/local.ts";

const DOWN = Array.from({ length: 7 }, (_, index) => `/down/${index}`);

/** A site of 15 pages, of which 7 are down until it is repaired; one of them then leads to another page. */
function openSite() {
  let isDown = true;
  let rules = "";
  const seen: { readonly path: string; readonly token: string | null }[] = [];
  const server = serveLocal((request) => {
    const path = new URL(request.url).pathname;
    if (path === "/robots.txt")
      return isDown ? new Response(null, { status: 404 }) : new Response(`User-agent: *\n${rules}`);
    seen.push({ path, token: request.headers.get("x-token") });
    if (isDown && path.startsWith("/down")) return new Response("down", { status: 500 });
    const links = { "/": ["/good", ...DOWN, ...LEFT], [`${DOWN[0]}`]: ["/new"] }[path] ?? [];
    return html(page(`Page ${path}`, links));
  });
  return {
    origin: server.url.origin,
    paths: () => seen.map(({ path }) => path).toSorted(),
    tokens: () => [...new Set(seen.map(({ token }) => token))],
    repair: (robots = "") => {
      rules = robots;
      isDown = false;
      seen.length = 0;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const LEFT = ["/left/1", "/left/2"];

const FIRST = ["--no-browser", "--retries", "0", "--min-words", "20"];

/** Crawls the site while pages are down, and repairs it. */
async function crawlDown(words: readonly string[]) {
  const site = openSite();
  const directory = await crawlDirectory();
  const first = await directory.crawl([`${site.origin}/`, ...FIRST, ...words]);
  site.repair();
  return {
    site,
    directory,
    first,
    retry: (...more: readonly string[]) =>
      runBinary(["crawl", "--retry-failed", directory.output, ...more], { cwd: directory.path }),
    crawl: () => directory.crawl([`${site.origin}/`, ...FIRST, ...words]),
    [Symbol.asyncDispose]: async () => {
      await directory[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

describe("crawl --retry-failed", () => {
  test("requests the failed pages and what they lead to, as the summary of the crawl says", async () => {
    await using crawl = await crawlDown(["--deny-prefix", "http://other.test/"]);
    const { site, directory, first } = crawl;
    expect(first.exitCode).toBe(3);
    const named = DOWN.slice(0, 5).map((path) => `${site.origin}${path}`);
    expect(first.stderr).toContain(`  failed pages: ${named.join(", ")} and 2 more\n`);
    expect(first.stderr).toContain(
      `  article-extractor crawl --retry-failed ${directory.output} tries only those again\n`,
    );
    const run = await crawl.retry();
    expect([run.exitCode, run.stdout, site.paths()]).toEqual([0, "", [...DOWN, "/new"]]);
    expect(run.stderr).toContain(" 12 stored in ");
    expect(run.stderr).not.toContain("--retry-failed");
    const manifest = await Bun.file(join(directory.output, "manifest.json")).json();
    expect(manifest).toMatchObject({ status: "completed", successful: 12, failed: 0 });
    expect(manifest.config).toMatchObject({ fresh: false, deny_prefixes: ["http://other.test/"] });
    expect(manifest.config.options.min_word_count).toBe(20);
    site.repair();
    expect([(await crawl.retry()).exitCode, site.paths()]).toEqual([0, []]);
  });

  test("leaves what the limit of the crawl left out", async () => {
    // The limit is used up by the start, the good page and those that are down.
    await using crawl = await crawlDown(["--max-pages", "9", "--fresh"]);
    crawl.site.repair("Disallow: /down/5\nDisallow: /down/6");
    await crawl.retry("--retries", "1");
    expect(crawl.site.paths()).toEqual([...DOWN.slice(0, -2), "/new"]);
  });

  test("keeps the plan of the crawl, which the same command then repeats", async () => {
    await using crawl = await crawlDown([]);
    await crawl.retry();
    crawl.site.repair();
    const repeated = await crawl.crawl();
    expect(repeated.stderr).toContain("since the last crawl: 0 new, 0 changed, 12 unchanged, 0 gone");
    expect([repeated.exitCode, pathsOf(repeated, "failed")]).toEqual([0, []]);
  });

  test("wants the value of a header that the crawl sent", async () => {
    await using crawl = await crawlDown(["--header", "X-Token: 1"]);
    const run = await crawl.retry();
    expect([run.exitCode, run.stderr]).toEqual([
      2,
      "error: the crawl sent the header x-token, whose value is not kept: type it again with --header\n",
    ]);
    await crawl.retry("--header", "X-Token: 2");
    expect(crawl.site.tokens()).toEqual(["2"]);
  });

  test.each([
    [["http://127.0.0.1:1/"], "takes the crawl from OUT; leave out the URL"],
    [["--max-depth", "1"], "takes the crawl from OUT; leave out --max-depth"],
    [["--fresh"], "takes the crawl from OUT; leave out --fresh"],
    [["--select", "main"], "takes the crawl from OUT; leave out --select"],
  ])("refuses %p", async (words, message) => {
    await using directory = await crawlDirectory();
    const run = await runBinary(["crawl", "--retry-failed", directory.output, ...words]);
    const text = `error: --retry-failed ${message.replace("OUT", directory.output)}\n`;
    expect([run.exitCode, run.stderr]).toEqual([2, text]);
  });

  test("refuses a place without a crawl, or without its memory", async () => {
    await using crawl = await crawlDown([]);
    const { directory } = crawl;
    await rm(join(directory.output, ".article-extractor"), { recursive: true });
    const forgotten = await crawl.retry();
    expect([forgotten.exitCode, forgotten.stderr]).toEqual([
      2,
      expect.stringContaining(`error: ${directory.output} holds no memory of a crawl`),
    ]);
    for (const [place, message] of [
      [directory.path, `--retry-failed: ${directory.path} holds no manifest.json of a crawl`],
      ["s3://bucket/docs", "--retry-failed takes a directory; for a bucket, "],
    ] as const) {
      const run = await runBinary(["crawl", "--retry-failed", place]);
      expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining(`error: ${message}`)]);
    }
    expect(crawl.site.paths()).toEqual([]);
  });
});
