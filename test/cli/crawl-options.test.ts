import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CRAWL_COMMAND } from "../../src/cli/commands.ts";
import { runBinary } from "../support/binary.ts";
import { type CrawlRun, crawlDirectory, crawlOnce, pathsOf } from "../support/crawl-run.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { crawlPage, type NumberedSite, serveNumberedSite } from "../support/numbered-site.ts";
import { writePdf } from "../support/pdf.ts";
import { serveScriptedSite } from "../support/scripted-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const XML = { "content-type": "application/xml" };
const urlset = (...paths: string[]): string =>
  `<urlset>${paths.map((path) => `<url><loc>{origin}${path}</loc><lastmod>2026-05-20</lastmod></url>`).join("")}</urlset>`;

const ANSWERS = {
  "/robots.txt": { body: "User-agent: *\nDisallow: /private\nSitemap: {origin}/found.xml\n" },
  "/start": { body: crawlPage("Start", ["/guide/a", "/guide/b", "/blog/c", "/private", "/noindex"]) },
  "/guide/a": { body: crawlPage("Guide a", ["/guide/deeper"]) },
  "/guide/b": { body: crawlPage("Guide b") },
  "/guide/deeper": { body: crawlPage("Deeper") },
  "/blog/c": { body: crawlPage("Blog c") },
  "/private": { body: crawlPage("Private") },
  "/noindex": { body: `<meta name="robots" content="noindex">${crawlPage("Not for an index")}` },
  "/one.xml": { body: urlset("/guide/a", "/guide/b"), headers: XML },
  "/found.xml": { body: urlset("/found"), headers: XML },
  "/found": { body: crawlPage("Found") },
  "/pictured": {
    body: crawlPage("Pictured").replace(
      "</article>",
      '<p><img src="/mill.svg" alt="The mill"></p></article>',
    ),
  },
  "/mill.svg": {
    body: "<svg xmlns='http://www.w3.org/2000/svg'/>",
    headers: { "content-type": "image/svg+xml" },
  },
  "/papers": { body: crawlPage("Papers", ["/paper.pdf"]) },
  "/paper.pdf": {
    body: writePdf([[{ text: "A paper about mills.", x: 60, y: 700 }]]),
    headers: { "content-type": "application/pdf" },
  },
  "/lang": {
    body: crawlPage("English", ["/de/lang"]).replace(
      "</head>",
      '<link rel="alternate" hreflang="en" href="/lang"><link rel="alternate" hreflang="de" href="/de/lang"></head>',
    ),
  },
  "/de/lang": { body: crawlPage("Deutsch") },
  ...Object.fromEntries(
    ["1.0", "2.0", "latest"].map((version) => [
      `/at/${version}/a`,
      { body: crawlPage(version, ["/at/1.0/a", "/at/2.0/a", "/at/latest/a"]) },
    ]),
  ),
  "/dated": {
    body: crawlPage("Dated", ["/guide/b"]).replace(
      "</head>",
      '<meta property="article:published_time" content="2025-06-30"></head>',
    ),
  },
  "/missing-links": { body: crawlPage("Missing links", ["/gone/1", "/gone/2"]) },
  "/busy": { status: 503, body: "busy" },
  "/rich": {
    body: `<html><head><title>Rich</title></head><body><article><p id="first">The mill_wheel turns. ${"The first paragraph stands here. ".repeat(10)}</p>
<p><img src="mill.png" alt="The mill"></p><pre><code>weir today</code></pre><p class="aside">${"Nobody cheered at all. ".repeat(10)}</p></article></body></html>`,
  },
};

const site = forAllTests(serveNumberedSite({ pages: 30, answers: ANSWERS }));

const start = (): string => `${site.origin}/start`;
const ALL = ["/blog/c", "/guide/a", "/guide/b", "/guide/deeper", "/noindex", "/start"];

/** A crawl that ends with exit code 0. */
async function crawl(...words: string[]): Promise<CrawlRun> {
  const run = await crawlOnce(words);
  expect([run.exitCode, run.stderr.split("\n").filter((line) => line.startsWith("error"))]).toEqual([0, []]);
  return run;
}

/** The crawl of one page, and what the site saw of the request for it. */
async function single(path: string, ...words: string[]) {
  const before = site.visits.length;
  const run = await crawlOnce([site.origin + path, "--max-depth", "0", ...words]);
  const visits = site.visits.slice(before).filter((visit) => visit.path === path);
  return { run, visits, entry: run.manifest?.results[0], markdown: await run.read(run.files[0] ?? "") };
}

/** Each option that only crawls have, and those whose effect in a crawl is its own. */
const EFFECTS: Readonly<Record<string, () => Promise<void>>> = {
  join: async () => {
    // With a database: test/cli/crawl-join.test.ts.
    const { exitCode, stderr } = await crawlOnce([start(), "--join"]);
    expect([exitCode, stderr.includes("ARTICLE_EXTRACTOR_DATABASE_URL")]).toEqual([2, true]);
  },
  run: async () => {
    const { exitCode, stderr } = await crawlOnce([start(), "--run", "monday"]);
    expect([exitCode, stderr.includes("--join")]).toEqual([2, true]);
  },
  seed: async () => {
    const run = await crawl("--seed", `${site.origin}/guide/b`, "--seed", `${site.origin}/blog/c`);
    expect(pathsOf(run)).toEqual(["/blog/c", "/guide/b"]);
    expect(pathsOf(await crawl(`${site.origin}/guide/b`, `${site.origin}/blog/c`))).toEqual(pathsOf(run));
  },
  sitemap: async () => {
    expect(pathsOf(await crawl("--sitemap", `${site.origin}/one.xml`, "--no-follow-links"))).toEqual([
      "/guide/a",
      "/guide/b",
    ]);
    await using directory = await crawlDirectory();
    await writeFile(join(directory.path, "list.txt"), `${site.origin}/blog/c\n`);
    expect(pathsOf(await directory.crawl(["--sitemap", "list.txt"]))).toEqual(["/blog/c"]);
    const piped = await crawlOnce(["--sitemap", "-"], { stdin: `${site.origin}/guide/b\n` });
    expect([piped.exitCode, pathsOf(piped)]).toEqual([0, ["/guide/b"]]);
  },
  "discover-sitemaps": async () => {
    expect(pathsOf(await crawl(start(), "--discover-sitemaps"))).toEqual([...ALL, "/found"].sort());
  },
  "allow-prefix": async () => {
    const run = await crawl(`${site.origin}/guide/a`, "--allow-prefix", `${site.origin}/guide/`);
    expect(pathsOf(run)).toEqual(["/guide/a", "/guide/deeper"]);
    const refused = await crawlOnce([start(), "--allow-prefix", `${site.origin}/guide/`]);
    expect([refused.exitCode, pathsOf(refused)]).toEqual([2, []]);
  },
  "one-language": async () => {
    expect(pathsOf(await crawl(`${site.origin}/lang`))).toEqual(["/de/lang", "/lang"]);
    expect(pathsOf(await crawl(`${site.origin}/lang`, "--one-language", "en"))).toEqual(["/lang"]);
    const wrong = await crawlOnce([`${site.origin}/lang`, "--one-language", "English!"]);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain(
      '--one-language (one_language) must be the tag of a language, such as en or pt-BR, not "English!"',
    );
  },
  "one-version": async () => {
    const versions = ["1.0", "2.0", "latest"].map((version) => `/at/${version}/a`);
    expect(pathsOf(await crawl(`${site.origin}/at/1.0/a`))).toEqual(versions);
    const run = await crawl(`${site.origin}/at/1.0/a`, "--one-version", "latest");
    expect(pathsOf(run)).toEqual(["/at/latest/a"]);
  },
  since: async () => {
    expect(pathsOf(await crawl(`${site.origin}/dated`))).toEqual(["/dated", "/guide/b"]);
    expect(pathsOf(await crawl(`${site.origin}/dated`, "--since", "2025-07-01"))).toEqual(["/guide/b"]);
    const wrong = await crawlOnce([`${site.origin}/dated`, "--since", "yesterday"]);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("must be a date, such as")]);
  },
  "include-url": async () => {
    const run = await crawl(`${site.origin}/guide/a`, "--include-url", "/guide/d*");
    expect(pathsOf(run)).toEqual(["/guide/a", "/guide/deeper"]);
  },
  "exclude-url": async () => {
    const all = pathsOf(await crawl(`${site.origin}/guide/a`));
    const run = await crawl(`${site.origin}/guide/a`, "--exclude-url", "**/deeper");
    expect(pathsOf(run)).toEqual(all.filter((path) => path !== "/guide/deeper"));
    expect(all).toContain("/guide/deeper");
  },
  "max-pages": async () => {
    const run = await crawl(start(), "--max-pages", "3");
    expect(run.manifest?.successful).toBe(3);
    expect(run.stderr).toContain(
      "the limit of 3 pages was reached; a larger --max-pages continues from here\n",
    );
    const words = [start(), "--max-pages", "3", "--jsonl"];
    expect((await crawlOnce(words)).stderr).toContain(
      "the limit of 3 pages was reached; --max-pages sets another\n",
    );
    await using directory = await crawlDirectory();
    await directory.crawl([start(), "--max-pages", "3"]);
    const more = await directory.crawl([start(), "--max-pages", "4"]);
    expect([more.exitCode, more.manifest?.successful]).toEqual([0, 4]);
    expect(more.stderr).toContain("crawled 4 pages (3 of them before)");
  },
  chunks: async () => {
    const { stdout } = await crawlOnce([start(), "--max-depth", "0", "--jsonl", "--chunks"]);
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({ index: 0, id: expect.any(String) });
    expect((await crawlOnce([start(), "--chunks"])).stderr).toContain("--chunks goes with --jsonl");
  },
  query: async () => {
    const FIELDS = ["--fields", "markdown,warnings"];
    const rich = async (...words: string[]): Promise<string> =>
      (await crawlOnce([`${site.origin}/rich`, start(), "--max-depth", "0", "--jsonl", ...FIELDS, ...words]))
        .stdout;
    const [whole, parts] = [await rich(), await rich("--query", "weir", "--max-tokens", "50")];
    expect(whole).toContain("Nobody cheered");
    expect(parts).toContain("weir today");
    expect(parts).not.toContain("Nobody cheered");
    // A page without the words is there too, and says so.
    expect(parts.trim().split("\n")).toHaveLength(2);
    expect(parts).toContain("no part of the text has words of the query");
    expect((await crawlOnce([start(), "--query", "guide"])).stderr).toContain("--query goes with --jsonl");
  },
  "max-tokens": async () => {
    const size = async (tokens: string): Promise<number> => {
      const words = [`${site.origin}/rich`, "--max-depth", "0", "--jsonl", "--query", "weir"];
      return (await crawlOnce([...words, "--max-tokens", tokens])).stdout.length;
    };
    expect(await size("50")).toBeLessThan(await size("5000"));
    const alone = await crawlOnce([start(), "--jsonl", "--max-tokens", "60"]);
    expect([alone.exitCode, alone.stderr]).toEqual([
      2,
      expect.stringContaining("--max-tokens goes with --query"),
    ]);
  },
  "chunk-tokens": async () => {
    const lines = async (...words: string[]): Promise<number> =>
      (await crawlOnce([start(), "--max-depth", "0", "--jsonl", "--chunks", ...words])).stdout.split("\n")
        .length;
    expect(await lines("--chunk-tokens", "50")).toBeGreaterThan(await lines());
  },
  "chunk-overlap": async () => {
    const length = async (...words: string[]): Promise<number> => {
      const chunked = [start(), "--max-depth", "0", "--jsonl", "--chunks", "--chunk-tokens", "50", ...words];
      return (await crawlOnce(chunked)).stdout.length;
    };
    expect(await length("--chunk-overlap", "20")).toBeGreaterThan(await length());
  },
  fields: async () => {
    const words = [start(), "--max-depth", "0", "--fields", "title,links"];
    const { links, ...line } = JSON.parse((await crawlOnce([...words, "--jsonl"])).stdout);
    expect(Object.keys(line)).toEqual(["title", "depth", "parent"]);
    expect(links).toContainEqual({ url: `${site.origin}/guide/a`, text: expect.any(String) });
  },
  "follow-links": async () => {
    expect(pathsOf(await crawl(start(), "--no-follow-links", "--follow-links"))).toEqual(ALL);
  },
  "respect-meta-robots": async () => {
    const run = await crawl(start(), "--respect-meta-robots");
    expect(pathsOf(run)).toEqual(ALL.filter((path) => path !== "/noindex"));
    expect(pathsOf(run, "skipped")).toContain("/noindex");
  },
  "ignore-robots": async () => {
    const run = await crawl(start(), "--ignore-robots");
    expect(pathsOf(run)).toEqual([...ALL, "/private"].sort());
    expect(run.stderr).toContain("warning: robots.txt is ignored\n");
    expect((await crawl(start(), "--ignore-robots", "--quiet")).stderr).toBe("");
  },
  concurrency: async () => {
    for (const concurrency of [1, 6]) {
      await using slow = serveNumberedSite({ pages: 25, answerMs: 40 });
      const run = await crawlOnce([`${slow.origin}/`, "--concurrency", `${concurrency}`]);
      expect(run.manifest?.successful).toBe(25);
      expect(slow.peak).toBe(concurrency);
    }
  },
  "rate-limit": async () => {
    await using spaced = serveNumberedSite({ pages: 5 });
    await crawlOnce([`${spaced.origin}/`, "--rate-limit", "0.2"]);
    const times = spaced.visits.map(({ at }) => at);
    expect(times.length).toBe(6); // robots.txt too
    // Each as the site notices it, which on a busy machine may be some ms late.
    for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThan(100);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900);
  },
  "adaptive-delay": async () => {
    const run = async (...words: string[]): Promise<NumberedSite> => {
      await using slow = serveNumberedSite({ pages: 10, fanOut: 9, answerMs: 100 });
      await crawlOnce([`${slow.origin}/`, "--ignore-robots", "--concurrency", "9", ...words]);
      return slow;
    };
    expect((await run()).peak).toBeGreaterThan(1);
    const adaptive = await run("--adaptive-delay");
    expect(adaptive.peak).toBe(1);
    const starts = adaptive.visits.slice(1).map(({ at }) => at);
    // Of the 200 ms from one start to the next a page takes half to answer, and the host rests for the other half.
    expect(Math.max(...starts) - Math.min(...starts)).toBeGreaterThan(8 * 150);
  },
  "output-dir": async () => {
    using directory = temporaryDirectory();
    const run = await runBinary(
      ["crawl", `${site.origin}/guide/b`, "--rate-limit", "0", "--output-dir", "deep/er/out"],
      { cwd: directory.path },
    );
    expect([run.exitCode, run.stdout]).toEqual([0, ""]);
    const host = new URL(site.origin).host.replace(":", "_");
    const names = [...new Bun.Glob("**/*").scanSync({ cwd: directory.path })].sort();
    expect(names).toEqual([`deep/er/out/${host}__guide__b.md`, "deep/er/out/manifest.json"]);
  },
  "changed-jsonl": async () => {
    await using directory = await crawlDirectory();
    const toStdout = await directory.crawl([start(), "--max-depth", "0", "--changed-jsonl", "-"]);
    expect(toStdout.exitCode).toBe(0);
    expect(JSON.parse(toStdout.stdout)).toMatchObject({ change: "new", url: start(), status: "success" });
    const file = join(directory.path, "changes.jsonl");
    const toFile = await directory.crawl([start(), "--max-depth", "1", "--changed-jsonl", file]);
    const lines = (await Bun.file(file).text()).trimEnd().split("\n");
    expect([toFile.stdout, lines.length]).toEqual(["", (toFile.manifest?.successful ?? 0) - 1]);
    const again = await directory.crawl([start(), "--max-depth", "1", "--changed-jsonl", file]);
    expect([again.exitCode, await Bun.file(file).text()]).toEqual([0, ""]);
    await using fresh = await crawlDirectory();
    const among = join(fresh.output, "changes.jsonl");
    const first = await fresh.crawl([start(), "--max-depth", "0", "--changed-jsonl", among]);
    expect([first.exitCode, first.stderr]).toEqual([0, expect.not.stringContaining("error")]);
    expect(JSON.parse(await Bun.file(among).text())).toMatchObject({ change: "new", url: start() });
    const nowhere = await directory.crawl([
      start(),
      "--changed-jsonl",
      join(directory.path, "no", "f.jsonl"),
    ]);
    expect([nowhere.exitCode, nowhere.stderr]).toMatchObject([
      1,
      expect.stringContaining("no such directory"),
    ]);
  },
  jsonl: async () => {
    const run = await crawl(`${site.origin}/missing-links`, "--jsonl", "--max-failures", "2");
    const lines = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ url, success, depth }) => [new URL(url).pathname, success, depth]).sort()).toEqual([
      ["/gone/1", false, 1],
      ["/gone/2", false, 1],
      ["/missing-links", true, 0],
    ]);
    expect(lines.find(({ success }) => success)).toMatchObject({ title: "Missing links", parent: null });
    expect(lines.find(({ success }) => !success).error.code).toBe("http_status");
    expect([run.manifest, run.files]).toEqual([null, []]);
  },
  "dry-run": async () => {
    const before = site.count("/guide/a");
    const words = [
      "--sitemap",
      `${site.origin}/one.xml`,
      "--dry-run",
      "--deny-prefix",
      `${site.origin}/guide/b`,
    ];
    const run = await crawl(start(), ...words);
    expect(run.stdout).toBe(`${start()}\n${site.origin}/guide/a\n`);
    const missing = await crawlOnce(["--sitemap", `${site.origin}/none.xml`, "--dry-run"]);
    expect([missing.exitCode, missing.stdout]).toEqual([1, ""]);
    expect(missing.stderr).toStartWith("warning: a sitemap is left out: GET ");
    const twice = await crawl(`${site.origin}/guide/a`, ...words.slice(0, 3), "--max-pages", "1");
    expect(twice.stdout).toBe(`${site.origin}/guide/a\n`);
    expect(twice.stderr).toBe("would begin with 1 page, 1 left out as max_pages\n");
    expect(run.stderr).toBe("would begin with 2 pages, 1 left out as out_of_scope\n");
    expect([site.count("/guide/a") - before, run.files]).toEqual([0, []]);
  },
  fresh: async () => {
    await using directory = await crawlDirectory();
    await directory.crawl([start()]);
    const other = await directory.crawl([start(), "--max-depth", "1", "--fresh"]);
    expect([other.exitCode, pathsOf(other)]).toEqual([0, ALL.filter((path) => path !== "/guide/deeper")]);
  },
  "retry-failed": async () => {
    // With failed pages: test/cli/crawl-retry.test.ts.
    await using directory = await crawlDirectory();
    await directory.crawl([start()]);
    const before = site.count("/guide/a");
    const { exitCode } = await runBinary(["crawl", "--retry-failed", directory.output]);
    expect([exitCode, site.count("/guide/a")]).toEqual([0, before]);
  },
  documents: async () => {
    expect(pathsOf(await crawl(`${site.origin}/papers`))).toEqual(["/papers"]);
    const run = await crawl(`${site.origin}/papers`, "--documents");
    expect(pathsOf(run)).toEqual(["/paper.pdf", "/papers"]);
  },
  "save-images": async () => {
    expect((await single("/pictured")).markdown).toContain(`(${site.origin}/mill.svg)`);
    expect((await single("/pictured", "--save-images")).markdown).toMatch(/\(images\/[\da-f]{16}\.svg\)/);
  },
  "trust-lastmod": async () => {
    await using directory = await crawlDirectory();
    const words = ["--sitemap", `${site.origin}/one.xml`, "--no-follow-links", "--trust-lastmod"];
    await directory.crawl(words);
    const before = site.count("/guide/a");
    const again = await directory.crawl(words);
    expect([again.exitCode, pathsOf(again)]).toEqual([0, ["/guide/a", "/guide/b"]]);
    expect(site.count("/guide/a")).toBe(before);
  },
  "max-failures": async () => {
    const exitCode = async (...words: string[]) =>
      (await crawlOnce([`${site.origin}/missing-links`, ...words])).exitCode;
    expect(await exitCode("--max-failures", "1")).toBe(3);
    expect(await exitCode("--max-failures", "66.7%")).toBe(0);
  },
  "env-file": async () => {
    await using directory = await crawlDirectory();
    await writeFile(join(directory.path, "settings"), "ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES=2\n");
    const run = await directory.crawl([start(), "--env-file", "settings"]);
    expect(run.manifest?.successful).toBe(2);
  },
  "log-level": async () => {
    const { run } = await single("/rich", "--log-level", "info", "--quiet");
    const messages = run.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    for (const message of ["crawl started", "page crawled", "crawl finished"])
      expect(messages).toContain(message);
  },
  "log-format": async () => {
    const { run } = await single("/rich", "-v", "--quiet", "--log-format", "text");
    expect(run.stderr).toMatch(/^\S+Z INFO crawl started job_id=/m);
  },
  quiet: async () => {
    expect((await single("/rich", "--quiet")).run.stderr).toBe("");
    const failed = await single("/busy", "--retries", "0", "--quiet");
    expect(failed.run.stderr).toMatch(/^error: no page was stored: 1 page failed, .*HTTP 503\n$/);
  },
  verbose: async () => {
    const { run } = await single("/rich", "-v", "--quiet");
    const lines = run.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(
      lines.filter(({ message, url }) => message === "page crawled" && url.endsWith("/rich")).length,
    ).toBe(1);
  },
  "no-color": async () => {
    // With a terminal on stderr: test/cli/crawl-terminal.test.ts.
    expect((await single("/rich", "--no-color")).run.stderr).not.toContain("\u001b");
  },
  version: async () => {
    expect((await runBinary(["crawl", "--version"])).exitCode).toBe(0);
  },
  help: async () => {
    const { exitCode, stdout } = await runBinary(["crawl", "--help"]);
    expect([exitCode, stdout.startsWith("Usage: article-extractor crawl URL ...")]).toEqual([0, true]);
    for (const { name } of CRAWL_COMMAND.flags) {
      const isListed = new RegExp(`^ +(?:-\\w, )?--${name}\\b`, "m").test(stdout);
      expect([name, isListed]).toEqual([name, true]);
    }
  },
};

// They mean the same as for one page, as test/unit/cli/page-options.test.ts shows: each alone is tried there.
const isOfPages = ({ name, group }: (typeof CRAWL_COMMAND.flags)[number]): boolean =>
  (group === "Extraction" || group === "Fetching") && !(name in EFFECTS);

/** Those that test/contract/specification/extraction-command-line.test.ts tries. */
const SPECIFIED = new Set(["deny-prefix", "max-depth", "no-follow-links"]);

describe("each option of crawl has its effect:", () => {
  for (const { name, help } of CRAWL_COMMAND.flags.filter(
    (flag) => !isOfPages(flag) && !SPECIFIED.has(flag.name),
  )) {
    test(`--${name}: ${help}`, async () => {
      const effect = EFFECTS[name];
      if (!effect) throw new Error(`--${name} has no test in EFFECTS`);
      await effect();
    });
  }
});

test("the options of a page reach every page of a crawl, fetched over plain HTTP", async () => {
  await using proxy = await startForwardProxy({ credentials: null, hosts: {} });
  const words = [
    "--no-browser",
    "--no-images",
    "--exclude",
    ".aside",
    "--min-words",
    "1000",
    "--retries",
    "0",
  ];
  const network = ["--user-agent", "Reader/1", "--header", "X-Weir: 1", "--proxy", `127.0.0.1:${proxy.port}`];
  const { markdown, visits, entry } = await single("/rich", ...words, ...network);
  expect(markdown).toContain("weir today");
  for (const left of ["![The mill]", "Nobody cheered"]) expect(markdown).not.toContain(left);
  expect(entry?.warnings).toContainEqual(expect.stringMatching(/^Content below minimum word count/));
  expect(visits[0]?.headers).toMatchObject({ "user-agent": "Reader/1", "x-weir": "1" });
  expect((await proxy.requests()).some(({ line }) => line.includes("/rich"))).toBeTrue();
  const refused = await single("/rich", "--egress", "public");
  expect([refused.entry?.error?.code, refused.visits.length]).toEqual(["egress_refused", 0]);
});

test("the options of a page reach every page of a crawl, fetched with the browser", async () => {
  await using scripted = serveScriptedSite();
  await using directory = await crawlDirectory();
  const state = join(directory.path, "state.json");
  const urls = [`${scripted.origin}/self-login`, `${scripted.origin}/scroll`, `${scripted.origin}/media`];
  const words = ["--max-depth", "0", "--ignore-robots", "--min-words", "1", "--concurrency", "1"];
  const browser = ["--prefer-browser", "--scroll", "--load-media", "--storage-state", state];
  const run = await directory.crawl([...urls, ...words, ...browser], { timeoutMs: 90_000 });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining("error")]);
  const texts = (await Promise.all(run.files.map(run.read))).join("\n");
  for (const said of ["Welcome back.", "number 40"]) expect(texts).toContain(said);
  expect(scripted.count("/picture.png")).toBe(1);
  expect(await Bun.file(state).exists()).toBeTrue();
});

describe("the limits of a crawl", () => {
  const list = async (directory: string, count: number, origin: string): Promise<void> =>
    writeFile(
      join(directory, "list.txt"),
      Array.from({ length: count }, (_, index) => `${origin}/p/${index}\n`).join(""),
    );
  const words = "--sitemap list.txt --no-follow-links --rate-limit 0 --no-browser --output-dir out";

  test("that nobody set cut no list in silence: the exit code is 3, and the last line takes the rest", async () => {
    await using site = serveNumberedSite({ pages: 110 });
    using directory = temporaryDirectory();
    await list(directory.path, 110, site.origin);
    const type = (more: string) =>
      runBinary(["crawl", ...`${words}${more}`.split(" ")], { cwd: directory.path });
    const cut = await type("");
    expect(cut.exitCode).toBe(3);
    expect(cut.stderr).toStartWith(
      "at most 100 pages (default; --max-pages), no links (--no-follow-links)\n",
    );
    expect(cut.stderr).toEndWith(
      "error: 10 pages that the seeds and sitemaps name are left: nobody set a limit, and the default is 100; --max-pages 110 takes them\n",
    );
    const rest = await type(" --max-pages 110");
    expect(rest.exitCode).toBe(0);
    expect(rest.stderr).toContain("at most 110 pages (--max-pages), ");
  });

  test("that somebody set leave the exit code 0", async () => {
    await using site = serveNumberedSite({ pages: 8 });
    using directory = temporaryDirectory();
    await list(directory.path, 8, site.origin);
    const typed = await runBinary(["crawl", ...`${words} --max-pages 5`.split(" ")], { cwd: directory.path });
    expect(typed.exitCode).toBe(0);
    const env = { ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES: "5" };
    const set = await runBinary(["crawl", ...`${words} --fresh`.split(" ")], { cwd: directory.path, env });
    expect(set.exitCode).toBe(0);
    expect(set.stderr).toStartWith("at most 5 pages (ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES), ");
  });

  test("that cut only links leave it 0, too", async () => {
    await using site = serveNumberedSite({ pages: 110 });
    using directory = temporaryDirectory();
    const start = `${site.origin}/ --max-depth 99 --rate-limit 0 --no-browser --output-dir out`;
    const run = await runBinary(["crawl", ...start.split(" ")], { cwd: directory.path });
    expect([run.exitCode, run.stderr.split("\n")[0]]).toEqual([
      0,
      "at most 100 pages (default; --max-pages), depth 99 (--max-depth)",
    ]);
  });
});
