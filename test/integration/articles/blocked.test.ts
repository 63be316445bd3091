import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  articleFromDocument,
  articleFromUrl,
  type FetcherPreference,
  RenderingHistory,
} from "../../../src/articles/index.ts";
import type { FailureRecord } from "../../../src/base/failure.ts";
import { extractBody } from "../../../src/extraction/index.ts";
import type { Fetcher } from "../../../src/fetching/index.ts";
import { BLOCKED_PAGES } from "../../support/blocked-pages.ts";
import { BLOCKED_PATHS, BLOCKED_ROUTES, blockedAnswer } from "../../support/blocked-site.ts";
import { runCommand } from "../../support/command.ts";
import { html, page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlOnce, crawlPlan, openTestApp } from "../../support/crawling.ts";
import { OPTIONS } from "../../support/extraction.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { failureOf, testFetcher } from "../../support/test-fetcher.ts";

const app = forAllTests(openTestApp());
const PATHS = Object.keys(BLOCKED_PATHS);
const KINDS = Object.values(BLOCKED_PATHS).map(([name]) => BLOCKED_PAGES[name]?.kind);
const site = forAllTests(
  serveCrawlSite({
    ...BLOCKED_ROUTES,
    "/": page("Home", [...PATHS, "/mill"]),
    "/mill": page("The mill"),
    "/led": () => redirect("/users/sign_in"),
    "/users/sign_in": () => blockedAnswer("a login page after a redirect"),
    "/guarded": ({ headers }) =>
      headers["user-agent"] === "test browser"
        ? html(page("The mill"))
        : blockedAnswer("Cloudflare's challenge"),
  }),
);

const read = (path: string, ...words: string[]) =>
  runCommand([`${site.origin}${path}`, "--no-browser", "--retries", "0", "--output", "text", ...words]);

describe("extract", () => {
  for (const [path, [, says]] of Object.entries(BLOCKED_PATHS))
    test(`of ${path} fails, and names what is shown and its signs`, async () => {
      const run = await read(path);
      expect(run).toMatchObject({ exitCode: 1, stdout: "" });
      expect(run.stderr).toContain(`${site.origin}${path} ${says}`);
    });

  test("names the address that the site has led to", async () => {
    expect((await read("/led")).stderr).toContain("shows a login page instead of the page (led to 127.0.0.1");
    expect((await read("/users/sign_in")).stderr).not.toContain("instead of the page");
  });

  test("takes it with --keep-blocked, with a warning, whatever the status", async () => {
    for (const path of ["/rate", "/region", "/consent"]) {
      const { exitCode, stderr } = await read(path, "--keep-blocked");
      expect([path, exitCode]).toEqual([path, 0]);
      expect(stderr).toContain("instead of the page (");
      // The port may have these digits.
      expect(stderr.replaceAll(site.origin, "")).not.toContain("404");
    }
  });

  test("of a list says it for each page", async () => {
    const words = [`${site.origin}/mill`, `${site.origin}/paywall`, "--no-browser", "--retries", "0"];
    const { stdout, exitCode } = await runCommand(words);
    const lines = stdout.trim().split("\n");
    const errors = lines.map((line) => JSON.parse(line).error ?? null);
    expect(errors.map((error) => error?.code ?? null)).toEqual([null, "blocked"]);
    expect(errors[1].block).toMatchObject({ kind: "paywall" });
    expect(exitCode).toBe(1);
  });

  const ofFile = (body: string) =>
    articleFromDocument({ name: "page.html", kind: "html", body, url: null, warnings: [] }, OPTIONS, {
      extractor: { extract: extractBody },
    });

  test("of a file says it, too", async () => {
    const pages = Object.values(BLOCKED_PAGES).filter(({ kind }) => kind === "challenge");
    expect(pages.length).toBeGreaterThan(1);
    const failures = await Promise.all(
      pages.map(({ html }) =>
        ofFile(html).then(
          () => null,
          ({ code }) => code,
        ),
      ),
    );
    expect(failures).toContain("blocked");
  });

  test("is a warning where a file holds a preview, which is what its owner has of the page", async () => {
    const { html = "" } = BLOCKED_PAGES["a preview with an offer"] ?? {};
    const { warnings, article } = await ofFile(html);
    expect(warnings.at(-1)).toStartWith("page.html shows the preview before a paywall instead");
    expect(article.wordCount).toBeGreaterThan(20);
  });
});

test("a crawl fails such pages, stores nothing of them, and takes the others", async () => {
  const { outcomeOf } = await crawlOnce(
    app,
    crawlPlan({ seeds: [`${site.origin}/`], preference: "http_only" }),
  );
  expect<unknown>(PATHS.map((path) => [path, outcomeOf(path)?.status, outcomeOf(path)?.error?.code])).toEqual(
    PATHS.map((path) => [path, "failed", "blocked"]),
  );
  expect(PATHS.map((path) => outcomeOf(path)?.error?.block?.kind)).toEqual(KINDS);
  expect(PATHS.map((path) => outcomeOf(path)?.filePath ?? null)).toEqual(PATHS.map(() => null));
  expect(outcomeOf("/mill")?.status).toBe("success");
});

test("crawl says it at the command line, and keeps with --keep-blocked", async () => {
  using directory = temporaryDirectory();
  const crawl = async (name: string, ...words: string[]) => {
    const words0 = ["crawl", `${site.origin}/`, "--no-browser", "--retries", "0", "--rate-limit", "0"];
    await runCommand([...words0, "--output-dir", name, ...words], { cwd: directory.path });
    return readdirSync(join(directory.path, name)).filter((file) => file.endsWith(".md")).length;
  };
  expect(await crawl("a")).toBe(2);
  expect(await crawl("b", "--keep-blocked")).toBeGreaterThan(5);
});

test("the manifest and --jsonl name the kind and its signs", async () => {
  using directory = temporaryDirectory();
  const words = ["crawl", `${site.origin}/`, "--no-browser", "--retries", "0", "--rate-limit", "0"];
  await runCommand([...words, "--output-dir", "a"], { cwd: directory.path });
  const { results } = JSON.parse(readFileSync(join(directory.path, "a/manifest.json"), "utf8"));
  const { stdout } = await runCommand([...words, "--jsonl"], { cwd: directory.path });
  const lines = stdout.trim().split("\n");
  for (const entries of [results, lines.map((line) => JSON.parse(line))]) {
    const blocks = PATHS.map((path) => entryOf(entries, path)?.error?.block);
    expect<unknown>(blocks.map((block) => block?.kind)).toEqual(KINDS);
    expect(blocks.every((block) => (block?.signs.length ?? 0) > 1)).toBe(true);
    expect(entryOf(entries, "/mill")?.error ?? null).toBeNull();
  }
});

type Entry = { readonly url: string; readonly error: FailureRecord | null };
const entryOf = (entries: readonly Entry[], path: string): Entry | undefined =>
  entries.find(({ url }) => url === `${site.origin}${path}`);

describe("a challenge to the plain client", () => {
  const http = forAllTests(testFetcher({}));
  const other = testFetcher({ userAgent: "test browser" });
  const browser: Fetcher = forAllTests({
    fetch: async (url, options) => ({ ...(await other.fetch(url, options)), fetchedBy: "browser" }),
    [Symbol.asyncDispose]: () => other[Symbol.asyncDispose](),
  });
  const open = (path: string, preference: FetcherPreference, renderingHistory?: RenderingHistory) =>
    articleFromUrl(
      { url: `${site.origin}${path}`, preference, options: OPTIONS, fetch: {}, renderingHistory },
      { fetchers: { http, browser }, extractor: { extract: extractBody } },
    );

  test("is no failure where the browser gets the page", async () => {
    expect((await open("/guarded", "learned", new RenderingHistory())).fetcher).toBe("browser");
    expect((await open("/guarded", "browser")).fetcher).toBe("browser");
  });

  test("fails at once without the browser", async () => {
    const before = site.visits.length;
    expect(await failureOf(open("/guarded", "http_only"))).toMatchObject({
      code: "blocked",
      targetStatus: 403,
    });
    expect(site.visits.length - before).toBe(1);
  });

  test("fails after the browser, too, and says so", async () => {
    const failure = await failureOf(open("/challenge-200", "learned", new RenderingHistory()));
    expect(failure?.message).toContain("the browser did not get past it");
  });
});
