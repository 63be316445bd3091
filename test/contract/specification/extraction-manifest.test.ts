import { expect } from "bun:test";
import { type CrawlRun, crawlDirectory } from "../../support/crawl-run.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const answers = {
  "/": { body: crawlPage("Start", ["/guide/keys/", "/guide/locks", "/broken"], 200) },
  "/guide/keys/": { body: crawlPage("Keys: a guide", [], 200) },
  "/guide/locks": { body: crawlPage("Locks", [], 200) },
  "/broken": { status: 500, body: "no" },
};
const site = forAllTests(serveNumberedSite({ pages: 0, answers }));
const directory = forAllTests(await crawlDirectory());
const startedAt = Date.now();
const words = [`${site.origin}/`, `${site.origin}/sitemap`, "--deny-prefix", `${site.origin}/sitemap`];
const run: CrawlRun = await directory.crawl([
  ...words,
  "--max-pages",
  "20",
  "--concurrency",
  "3",
  "--retries",
  "0",
]);
const endedAt = Date.now();
const manifest = run.manifest!;
const host = new URL(site.origin).host.replace(":", "_");
const nameOf = (path: string): string => `${host}${path}.md`;
const entryOf = (path: string) => manifest.results.find(({ url }) => url === site.origin + path)!;

/** Whether a text is a time in UTC (ISO 8601) within the crawl. */
function expectTimeOfCrawl(time: unknown): void {
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
  const ms = Date.parse(String(time));
  expect(ms).toBeGreaterThanOrEqual(startedAt - 1000);
  expect(ms).toBeLessThanOrEqual(endedAt + 1000);
}

const MANIFEST = "Manifest";

statement(MANIFEST, "job_id | string | Job identifier.", () => {
  expect(manifest.job_id).toMatch(/^[\w-]{8,}$/);
});

statement(MANIFEST, "started_at | string, ISO 8601 UTC | Job start.", () => {
  expectTimeOfCrawl(manifest.started_at);
});

statement(MANIFEST, "completed_at | string, ISO 8601 UTC | Job end.", () => {
  expectTimeOfCrawl(manifest.completed_at);
  expect(manifest.completed_at >= manifest.started_at).toBeTrue();
});

statement(MANIFEST, "config | object | Holds the job's seeds, max_pages and concurrency", () => {
  const seeds = words.slice(0, 2);
  expect(manifest.config).toMatchObject({ seeds, max_pages: 20, concurrency: 3 });
});

statement(MANIFEST, "total_pages | integer | Pages handled.", () => {
  expect(manifest.total_pages).toBe(5);
});

const countOf = (status: string): number =>
  manifest.results.filter((entry) => entry.status === status).length;

statement(MANIFEST, "successful | integer | Count of successful pages.", () => {
  expect([manifest.successful, countOf("success")]).toEqual([3, 3]);
});

statement(MANIFEST, "failed | integer | Count of failed pages.", () => {
  expect([manifest.failed, countOf("failed")]).toEqual([1, 1]);
});

statement(MANIFEST, "skipped | integer | Count of skipped pages.", () => {
  expect([manifest.skipped, countOf("skipped")]).toEqual([1, 1]);
});

statement(MANIFEST, "duration_seconds | number | Job duration.", () => {
  const { started_at, completed_at, duration_seconds } = manifest;
  const between = (Date.parse(completed_at) - Date.parse(started_at)) / 1000;
  expect(Math.abs(duration_seconds - between)).toBeLessThan(0.5);
});

statement(MANIFEST, "results | array of result entry | One per page.", () => {
  const paths = ["/", "/broken", "/guide/keys/", "/guide/locks", "/sitemap"];
  expect(manifest.results.map(({ url }) => String(url)).sort()).toEqual(
    paths.map((path) => site.origin + path),
  );
});

statement(MANIFEST, "`url` (string)", () => {
  for (const { url } of manifest.results) expect(url).toStartWith(`${site.origin}/`);
});

statement(MANIFEST, "`file_path` (string, flat file name relative to the output directory)", () => {
  for (const { status, file_path } of manifest.results)
    if (status === "success") expect(run.files).toContain(file_path!);
    else expect(file_path).toBeNull();
});

statement(MANIFEST, "`status` (string)", () => {
  expect(manifest.results.filter(({ status }) => typeof status !== "string")).toEqual([]);
});

statement(MANIFEST, "`word_count` (integer)", async () => {
  for (const { word_count, file_path, status } of manifest.results)
    if (status === "success") {
      expect(Number.isSafeInteger(word_count)).toBeTrue();
      expect(await run.read(file_path!)).toContain(`word_count: ${word_count}\n`);
    }
});

statement(MANIFEST, "`title` (string)", () => {
  expect(entryOf("/guide/locks").title).toBe("Locks");
});

statement(MANIFEST, "The value `success` is the only entry status given", () => {
  expect(entryOf("/").status).toBe("success");
});

const PAGE = "Markdown page file";
const frontmatterOf = async (path: string): Promise<Record<string, string>> => {
  const [, block = ""] = (await run.read(nameOf(path))).split("---\n");
  return Object.fromEntries(
    block
      .trimEnd()
      .split("\n")
      .map((line) => [line.split(": ")[0]!, line.slice(line.indexOf(": ") + 2)]),
  );
};

statement(
  PAGE,
  "One file per extracted page, flat in the output directory, plus `manifest.json`.",
  async () => {
    expect(run.files).toEqual([nameOf(""), nameOf("__guide__keys__"), nameOf("__guide__locks")].sort());
    expect(await Bun.file(`${directory.output}/manifest.json`).exists()).toBeTrue();
  },
);

statement(PAGE, "File name: the URL without its scheme", () => {
  for (const name of run.files) expect(name).not.toContain("http");
});

statement(PAGE, "every path separator `/` replaced by two underscores `__`", () => {
  expect(entryOf("/guide/keys/").file_path).toBe(`${host}__guide__keys__.md`);
  expect(entryOf("/guide/locks").file_path).toBe(`${host}__guide__locks.md`);
});

statement(PAGE, "with the extension `.md`", () => {
  for (const { status, file_path } of manifest.results)
    if (status === "success") expect(file_path).toEndWith(".md");
});

statement(PAGE, "(host comes first, then path segments)", () => {
  for (const name of run.files) expect(name).toStartWith(host);
});

statement(PAGE, "YAML frontmatter with keys `url` (string)", async () => {
  const text = await run.read(nameOf("__guide__locks"));
  expect(text).toStartWith("---\n");
  expect((await frontmatterOf("__guide__locks")).url).toContain(`${site.origin}/guide/locks`);
});

statement(PAGE, "`title` (string)", async () => {
  // A colon would end a plain scalar of YAML.
  expect((await frontmatterOf("__guide__keys__")).title).toMatch(/^["']Keys: a guide["']$/);
});

statement(PAGE, "`extracted_at` (ISO 8601 UTC timestamp)", async () => {
  expectTimeOfCrawl((await frontmatterOf("__guide__locks")).extracted_at?.replaceAll(/["']/g, ""));
});

statement(PAGE, "`word_count` (integer)", async () => {
  expect(Number((await frontmatterOf("__guide__locks")).word_count)).toBe(
    entryOf("/guide/locks").word_count!,
  );
});

statement(PAGE, "then a first-level heading with the title", async () => {
  const [, , body] = (await run.read(nameOf("__guide__keys__"))).split("---\n");
  expect(body?.trimStart()).toStartWith("# Keys: a guide\n");
});

statement(PAGE, "then the article body in Markdown", async () => {
  const [, , body] = (await run.read(nameOf("__guide__locks"))).split("---\n");
  expect(body).toContain("Locks tells of the gate that opens at low water.");
  expect(body).not.toMatch(/<p>|<article>/);
});
