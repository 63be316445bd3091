import { expect, test } from "bun:test";
import { join } from "node:path";
import type { ArticleChunk } from "../../../src/chunks.ts";
import { runCommand } from "../../support/command.ts";
import { type CrawlSite, serveCrawlSite } from "../../support/crawl-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PROSE = "The keeper opens the lower gate by hand when the water stands high. ".repeat(30);
const pageOf = (second: string): string =>
  `<html lang="en"><head><title>Gates</title></head><body><main><h1>Gates</h1><p>${PROSE}</p><h2 id="locks">Locks</h2><p>${second}</p></main></body></html>`;
let second = "A lock has two gates, and the boat waits between them until the water is level.";
const site: CrawlSite = forAllTests(
  serveCrawlSite({ "/": () => new Response(pageOf(second), { headers: { "content-type": "text/html" } }) }),
);

const linesOf = (text: string): ArticleChunk[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const chunks = async (...words: string[]): Promise<ArticleChunk[]> => {
  const run = await runCommand([...words, "--no-browser"], { env: { ARTICLE_EXTRACTOR_EGRESS: "open" } });
  expect([run.exitCode, run.stderr.includes("error")]).toEqual([0, false]);
  return linesOf(run.stdout);
};

test("a page gives a line for each chunk, with headings, anchor and tokens", async () => {
  const found = await chunks(`${site.origin}/`, "--chunks", "--chunk-tokens", "200");
  expect(found.length).toBeGreaterThan(3);
  expect(found.map(({ index }) => index)).toEqual([...found.keys()]);
  for (const { tokens, url, title, lang, page } of found)
    expect([tokens <= 200, url, title, lang, page]).toEqual([true, `${site.origin}/`, "Gates", "en", null]);
  expect(found.at(-1)).toMatchObject({ heading_path: ["Locks"], anchor: "locks", text: second });
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
});

test("the form and the switch are the same", async () => {
  expect(await chunks(`${site.origin}/`, "--output", "chunks")).toEqual(
    await chunks(`${site.origin}/`, "--chunks"),
  );
});

test("a crawl writes chunks instead of pages, and a chunk keeps its id while its text stays", async () => {
  using directory = temporaryDirectory();
  const words = ["crawl", `${site.origin}/`, "--jsonl", "--chunks", "--max-pages", "1", "--rate-limit", "0"];
  const before = await chunks(...words, "--output-dir", join(directory.path, "one"));
  second = "A lock has two gates and a sluice.";
  const after = await chunks(...words, "--output-dir", join(directory.path, "two"));
  const ids = new Set(before.map(({ id }) => id));
  expect(after.filter(({ id }) => !ids.has(id)).map(({ text }) => text)).toEqual([second]);
  expect(after.length).toBe(before.length);
});

test.each([
  [["--chunks", "--output", "markdown"], "--chunks and --output markdown exclude each other"],
  [["--chunk-tokens", "99"], "--chunk-tokens goes with --output chunks"],
  [["--chunks", "--chunk-tokens", "9"], '--chunk-tokens must be a whole number from 50 to 100000, not "9"'],
])("%j is refused", async (words, message) => {
  const { exitCode, stderr } = await runCommand([`${site.origin}/`, ...words]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `error: ${message}\n` });
});
