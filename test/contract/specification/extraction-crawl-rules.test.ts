import { expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY, cleanEnvironment } from "../../support/binary.ts";
import { crawlOnce, pathsOf, readCrawl } from "../../support/crawl-run.ts";
import { openDisplay } from "../../support/display.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { serveScriptedSite } from "../../support/scripted-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const other = forAllTests(serveNumberedSite({ pages: 3 }));
const XML = { "content-type": "application/xml" };
const url = (path: string): string => `<url><loc>${path}</loc></url>`;
const answers = {
  "/links": { body: crawlPage("Links", [`${other.origin}/p/1`, "/docs/a", "/docs/b", "/blog/c"]) },
  "/sitemap.xml": {
    headers: XML,
    body: `<urlset>${url("{origin}/docs/d")}${url(`${other.origin}/p/2`)}</urlset>`,
  },
  ...Object.fromEntries(
    ["/docs/a", "/docs/b", "/docs/d", "/blog/c"].map((path) => [path, { body: crawlPage(path) }]),
  ),
};
const site = forAllTests(serveNumberedSite({ pages: 40, fanOut: 3, answers }));
const START = `${site.origin}/links`;

const crawled = async (...words: string[]): Promise<string[]> => pathsOf(await crawlOnce(words));

statement("Crawl rules 1", "Traversal is breadth-first from the seeds", async () => {
  const before = site.visits.length;
  await crawlOnce([`${site.origin}/`, "--concurrency", "1", "--max-pages", "13"]);
  const asked = site.visits.slice(before).map(({ path }) => path);
  const level = (path: string): number => {
    const n = Number(path.split("/").at(-1));
    return path === "/" ? 0 : n <= 3 ? 1 : n <= 12 ? 2 : 3;
  };
  const levels = asked.filter((path) => path !== "/robots.txt").map(level);
  expect(levels).toEqual([...levels].sort());
  expect(levels).toHaveLength(13);
});

statement("Crawl rules 1", "sitemaps add URLs directly", async () => {
  const words = ["--sitemap", `${site.origin}/sitemap.xml`, "--no-follow-links"];
  expect(await crawled(...words)).toEqual(["/docs/d", "/p/2"]);
});

statement("Crawl rules 2(a)", "if allow prefixes exist, it must start with at least one", async () => {
  const both = ["--allow-prefix", `${site.origin}/links`, "--allow-prefix", `${site.origin}/docs/`];
  expect(await crawled(START, ...both)).toEqual(["/docs/a", "/docs/b", "/links"]);
});

statement("Crawl rules 2(b)", "it is rejected if it starts with any deny prefix", async () => {
  const both = ["--deny-prefix", `${site.origin}/docs/a`, "--deny-prefix", `${site.origin}/blog`];
  expect(await crawled(START, ...both)).toEqual(["/docs/b", "/links"]);
});

statement(
  "Crawl rules 2(c)",
  "by default only URLs of the same origin as the seeds are followed",
  async () => {
    expect(await crawled(START)).toEqual(["/blog/c", "/docs/a", "/docs/b", "/links"]);
    expect(await crawled(START, `${other.origin}/p/3`)).toContain("/p/1");
  },
);

statement("Crawl rules 2", "A URL is filtered in this order", async () => {
  // What is allowed may still be denied, and what is allowed may be of another origin.
  const allow = ["--allow-prefix", `${site.origin}/`, "--allow-prefix", `${other.origin}/p/1`];
  const found = await crawled(START, ...allow, "--deny-prefix", `${site.origin}/docs/`);
  expect(found.filter((path) => path.startsWith("/docs"))).toEqual([]);
  expect(found).toContain("/p/1");
});

statement("Crawl rules 3", "Requests to one host are spaced by the rate limit", async () => {
  const before = site.visits.length;
  const words = [`${site.origin}/p/1`, `${site.origin}/p/2`, `${site.origin}/p/3`, "--max-depth", "0"];
  await crawlOnce([...words, "--rate-limit", "0.2"]);
  const times = site.visits.slice(before).map(({ at }) => at);
  expect(times.length).toBeGreaterThanOrEqual(3);
  for (const [i, at] of times.slice(1).entries()) expect(at - times[i]!).toBeGreaterThanOrEqual(190);
});

statement("Crawl rules 3", "concurrent requests go to different hosts", async () => {
  await using one = serveNumberedSite({ pages: 4, answerMs: 150 });
  await using two = serveNumberedSite({ pages: 4, answerMs: 150 });
  const seeds = [one, two].flatMap(({ origin }) => [`${origin}/p/1`, `${origin}/p/2`]);
  await crawlOnce([...seeds, "--max-depth", "0", "--rate-limit", "0.2", "--concurrency", "4"]);
  expect([one.peak, two.peak]).toEqual([1, 1]);
  const met = one.visits.some((a) => two.visits.some((b) => a.at < b.until && b.at < a.until));
  expect(met).toBeTrue();
});

statement("Crawl rules 4", "A 429 response triggers exponential backoff.", async () => {
  let asked = 0;
  await using busy = serveLocal(({ url: address }) => {
    if (!address.endsWith("/page")) return new Response(null, { status: 404 });
    if (++asked <= 2) return new Response("busy", { status: 429 });
    return new Response(crawlPage("Page"), { headers: { "content-type": "text/html" } });
  });
  const run = await crawlOnce([`${busy.url.origin}/page`, "--max-depth", "0", "--verbose"]);
  expect([run.manifest?.successful, asked]).toEqual([1, 3]);
  const paused = run.stderr.split("\n").filter((line) => line.includes('"host paused"'));
  const lengths = paused.map((line) => {
    const { timestamp, until } = JSON.parse(line) as { timestamp: string; until: string };
    return Date.parse(until) - Date.parse(timestamp);
  });
  // Each is a part of a bound that doubles.
  expect(lengths).toHaveLength(2);
  for (const [i, ms] of lengths.entries()) expect(ms).toBeLessThanOrEqual(2000 * 2 ** i);
});

statement(
  "Crawl rules 5",
  "In headed mode the crawler pauses on the first page so a person can log in",
  async () => {
    await using display = await openDisplay();
    await using members = serveScriptedSite();
    using directory = temporaryDirectory();
    const output = join(directory.path, "out");
    const words = [
      "crawl",
      `${members.origin}/desk`,
      "--ignore-robots",
      "--rate-limit",
      "0",
      "--min-words",
      "1",
    ];
    const child = Bun.spawn(
      [BINARY, ...words, "--headed", "--user-interaction-timeout", "60", "--output-dir", output],
      {
        cwd: directory.path,
        env: cleanEnvironment(display.env),
        stdin: "pipe",
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    const stderr = new Response(child.stderr).text();
    await untilTrue(() => members.count("/desk") > 0);
    members.letPersonIn();
    await untilTrue(() => members.count("/session") > 0 && members.count("/members") > 0);
    // Logged in, and still it waits for Enter.
    expect(members.count("/members/2")).toBe(0);
    child.stdin.write("\n");
    child.stdin.flush();
    expect([await child.exited, await stderr]).toEqual([0, expect.stringContaining("press Enter")]);
    const crawl = await readCrawl(output);
    expect(crawl.manifest?.successful).toBe(2);
    const texts = await Promise.all(crawl.files.map(crawl.read));
    expect(texts.join("\n")).toContain("Welcome back.");
    expect(texts.join("\n")).toContain("Second page for members.");
  },
);

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).exitCode === 0;
if (canMount)
  statement(
    "Crawl rules 6",
    "If the output directory has under 100 MB free, a warning is given.",
    async () => {
      const warnings = async (size: string) => {
        const mount = `mkdir small && mount -t tmpfs -o size=${size} tmpfs small && exec "$@"`;
        const env = { ARTICLE_EXTRACTOR_OUTPUT_ROOT: "", ARTICLE_EXTRACTOR_STATE_DIR: "small" };
        await using server = await startExtractor({
          within: ["unshare", "-rm", "sh", "-c", mount, "sh"],
          env,
        });
        const id = await submitJob(server, { output_dir: "out", seeds: [`${site.origin}/p/40`] });
        return (await untilJob(server, id, isOver)).warnings;
      };
      expect(await warnings("90m")).toEqual(["Less than 100 MB are free in the output directory"]);
      expect(await warnings("300m")).toBeNull();
    },
  );
else test.skip("Crawl rules 6: needs the right to mount", () => {});
