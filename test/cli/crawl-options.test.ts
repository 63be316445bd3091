import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CRAWL_COMMAND } from "../../src/cli/commands.ts";
import { DESKTOP_BROWSERS } from "../../src/fetching/testing.ts";
import { runBinary, temporaryDirectory } from "../support/binary.ts";
import { browserEffects } from "../support/browser-effects.ts";
import { type CrawlRun, crawlDirectory, crawlOnce, pathsOf } from "../support/crawl-run.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { documentOf } from "../support/generated-document.ts";
import { crawlPage, type NumberedSite, serveNumberedSite } from "../support/numbered-site.ts";

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
  "/missing-links": { body: crawlPage("Missing links", ["/gone/1", "/gone/2"]) },
  "/busy": { status: 503, body: "busy" },
  "/plain": {
    body: documentOf(["paragraph", "paragraph", "paragraph", "paragraph", "code"], "article").html,
  },
  "/rich": {
    body: `<html><head><title>Rich</title></head><body><article><p id="first">The mill_wheel turns. ${"The first paragraph stands here. ".repeat(10)}</p>
<p><img src="mill.png" alt="The mill"></p><pre><code>weir today</code></pre><p class="aside">${"Nobody cheered at all. ".repeat(10)}</p></article></body></html>`,
  },
};

let site: NumberedSite;
beforeAll(() => {
  site = serveNumberedSite({ pages: 30, answers: ANSWERS });
});
afterAll(() => site[Symbol.asyncDispose]());

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
  "deny-prefix": async () => {
    const words = ["--deny-prefix", `${site.origin}/guide/`, "--deny-prefix", `${site.origin}/blog`];
    expect(pathsOf(await crawl(start(), ...words))).toEqual(["/noindex", "/start"]);
  },
  "max-pages": async () => {
    const run = await crawl(start(), "--max-pages", "3");
    expect(run.manifest?.successful).toBe(3);
    expect(run.stderr).toContain(
      "the limit of 3 pages was reached; a larger --max-pages goes on from here\n",
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
  fields: async () => {
    const words = [start(), "--max-depth", "0", "--fields", "title,links"];
    const { links, ...line } = JSON.parse((await crawlOnce([...words, "--jsonl"])).stdout);
    expect(Object.keys(line)).toEqual(["title", "depth", "parent"]);
    expect(links).toContainEqual({ url: `${site.origin}/guide/a`, text: expect.any(String) });
    expect((await crawlOnce(words)).stderr).toBe("error: --fields goes with --jsonl\n");
  },
  "max-depth": async () => {
    expect(pathsOf(await crawl(start(), "--max-depth", "0"))).toEqual(["/start"]);
    expect(pathsOf(await crawl(start(), "--max-depth", "1"))).not.toContain("/guide/deeper");
    expect(pathsOf(await crawl(start(), "--max-depth", "2"))).toEqual(ALL);
  },
  "follow-links": async () => {
    expect(pathsOf(await crawl(start(), "--follow-links"))).toEqual(ALL);
    expect(pathsOf(await crawl(start(), "--no-follow-links", "--follow-links"))).toEqual(ALL);
  },
  "no-follow-links": async () => {
    expect(pathsOf(await crawl(start(), "--no-follow-links"))).toEqual(["/start"]);
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
    /** From the second page's start to the last one's: the first page taught the crawl how slow the host is. */
    const run = async (...words: string[]): Promise<number> => {
      await using slow = serveNumberedSite({ pages: 10, fanOut: 9, answerMs: 100 });
      await crawlOnce([`${slow.origin}/`, "--ignore-robots", ...words]);
      const starts = slow.visits.slice(1).map(({ at }) => at);
      return Math.max(...starts) - Math.min(...starts);
    };
    expect(await run("--concurrency", "9")).toBeLessThan(600); // all at once
    expect(await run("--concurrency", "9", "--adaptive-delay")).toBeGreaterThan(800); // one at a time
    const spaced = ["--rate-limit", "0.01"];
    expect(await run(...spaced, "--adaptive-delay")).toBeGreaterThan(1.2 * (await run(...spaced)));
  },
  "output-dir": async () => {
    await using directory = await temporaryDirectory();
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
    for (const words of [
      ["--jsonl", "--changed-jsonl", "-"],
      ["--dry-run", "--changed-jsonl", file],
    ])
      expect((await crawlOnce([start(), ...words])).exitCode).toBe(2);
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
    expect(await exitCode()).toBe(3);
    expect(await exitCode("--max-failures", "1")).toBe(3);
    expect(await exitCode("--max-failures", "2")).toBe(0);
    expect(await exitCode("--max-failures", "66%")).toBe(3);
    expect(await exitCode("--max-failures", "66.7%")).toBe(0);
  },
  "min-words": async () => {
    const warnings = async (n: string) => (await single("/guide/b", "--min-words", n)).entry?.warnings;
    expect(await warnings("1000")).toEqual([expect.stringMatching(/^Content below minimum word count/)]);
    expect(await warnings("0")).toBeNull();
  },
  "no-images": async () => {
    expect((await single("/rich")).markdown).toContain("![The mill]");
    expect((await single("/rich", "--no-images")).markdown).not.toContain("![The mill]");
  },
  favor: async () => {
    expect((await single("/plain")).markdown).toContain("weir plan");
    expect((await single("/plain", "--favor", "precision")).markdown).not.toContain("weir plan");
  },
  engine: async () => {
    expect((await single("/rich")).markdown).toContain("mill_wheel");
    expect((await single("/rich", "--engine", "readability")).markdown).toContain("mill\\_wheel");
  },
  "no-code": async () => {
    expect((await single("/rich")).markdown).toContain("weir today");
    expect((await single("/rich", "--no-code")).markdown).not.toContain("weir today");
  },
  select: async () => {
    expect((await single("/rich", "--select", ".aside")).markdown).not.toContain("first paragraph");
  },
  exclude: async () => {
    expect((await single("/rich", "--exclude", ".aside")).markdown).not.toContain("Nobody cheered");
  },
  "user-agent": async () => {
    const { visits } = await single("/rich", "--user-agent", "Reader/1");
    expect(visits[0]?.headers["user-agent"]).toBe("Reader/1");
  },
  "random-user-agent": async () => {
    const { visits } = await single("/rich", "--random-user-agent");
    expect(DESKTOP_BROWSERS).toContain(visits[0]?.headers["user-agent"] ?? "");
  },
  header: async () => {
    expect((await single("/rich", "--header", "X-Weir: 1")).visits[0]?.headers["x-weir"]).toBe("1");
  },
  proxy: async () => {
    await using proxy = await startForwardProxy({ credentials: null, hosts: {} });
    const { run } = await single("/rich", "--proxy", `http://127.0.0.1:${proxy.port}`);
    expect(run.exitCode).toBe(0);
    expect((await proxy.requests()).some(({ line }) => line.includes("/rich"))).toBeTrue();
  },
  "proxy-bypass": async () => {
    const words = ["--proxy", "http://127.0.0.1:1", "--proxy-bypass", "127.0.0.1"];
    expect((await single("/rich", ...words)).run.exitCode).toBe(0);
  },
  timeout: async () => {
    await using slow = serveNumberedSite({ pages: 1, answerMs: 1000 });
    const run = await crawlOnce([`${slow.origin}/`, "--timeout", "0.2", "--retries", "0", "--ignore-robots"]);
    expect(run.manifest?.results[0]?.error?.code).toBe("timeout");
  },
  retries: async () => {
    for (const n of [0, 1]) expect((await single("/busy", "--retries", `${n}`)).visits.length).toBe(n + 1);
  },
  "max-bytes": async () => {
    expect((await single("/rich", "--max-bytes", "200")).entry?.error?.code).toBe("too_large");
  },
  egress: async () => {
    const { entry, visits } = await single("/rich", "--egress", "public");
    expect([entry?.error?.code, visits.length]).toEqual(["egress_refused", 0]);
  },
  // Without a browser fetcher these two ask for what happens anyway; they must be taken.
  ...browserEffects(async (url, args, env = {}) => {
    const words = [url, "--max-depth", "0", "--ignore-robots", "--min-words", "1", ...args];
    const run = await crawlOnce(words, { env, timeoutMs: 90_000 });
    return { text: await run.read(run.files[0] ?? ""), log: run.stderr };
  }),
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

describe("each option of crawl has its effect:", () => {
  for (const { name, help } of CRAWL_COMMAND.flags) {
    test(`--${name}: ${help}`, async () => {
      const effect = EFFECTS[name];
      if (!effect) throw new Error(`--${name} has no test in EFFECTS`);
      await effect();
    }, 120_000);
  }
});
