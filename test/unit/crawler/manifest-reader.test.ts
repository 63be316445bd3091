import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ManifestEntry, readManifestEntries } from "../../../src/crawler/index.ts";
import { page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlace, crawlPlan, openTestApp } from "../../support/crawling.ts";

const directory = await mkdtemp(join(tmpdir(), "manifest-"));
afterAll(() => rm(directory, { recursive: true }));

const entriesOf = (path: string): Promise<ManifestEntry[]> => Array.fromAsync(readManifestEntries(path));

test("gives every entry of a manifest, whatever its texts hold", async () => {
  await using app = openTestApp();
  const names = Array.from({ length: 60 }, (_, index) => `/page-${index}`);
  const titles = ["Line\u2028separated", "  ]", '"results": []', `${"Ünïcode 🌊 ".repeat(20)}`];
  await using site = serveCrawlSite({
    "/": page("Home", names),
    ...Object.fromEntries(names.map((name, index) => [name, page(titles[index % titles.length] ?? "")])),
  });
  await using place = await crawlPlace(app);
  const { manifest } = await place.crawl(crawlPlan({ seeds: [`${site.origin}/`] }));
  const entries = await entriesOf(join(place.path, "manifest.json"));
  expect(entries).toHaveLength(61);
  expect(entries).toEqual(manifest?.results as ManifestEntry[]);

  const text = await readFile(join(place.path, "manifest.json"), "utf8");
  // Read in several pieces, cut within characters of more than one byte.
  const large = join(directory, "large.json");
  const [head = "", rest = ""] = text.split('"results": [\n');
  const lines = rest.slice(0, rest.lastIndexOf("\n  ]"));
  const repeated = Array.from({ length: 10 }, () => lines).join(",\n");
  await writeFile(large, `${head}"results": [\n${repeated}\n  ]\n}\n`);
  expect(await entriesOf(large)).toEqual(Array.from({ length: 10 }, () => entries).flat());

  const cut = join(directory, "cut.json");
  await writeFile(cut, text.slice(0, text.length / 2));
  await expect(entriesOf(cut)).rejects.toMatchObject({ code: "unreadable_input" });
}, 60_000);

test("gives nothing of a manifest without entries", async () => {
  const path = join(directory, "empty.json");
  await writeFile(path, '{\n  "job_id": null,\n  "results": []\n}\n');
  expect(await entriesOf(path)).toEqual([]);
});

test.each([
  ["nothing", null],
  ["no manifest", "{}"],
  ["no JSON", '{\n  "results": [\n    {"url":\n  ]\n}\n'],
])("says so where there is %s", async (_, text) => {
  const path = join(directory, "other.json");
  await rm(path, { force: true });
  if (text !== null) await writeFile(path, text);
  await expect(entriesOf(path)).rejects.toMatchObject({ code: "unreadable_input" });
});
