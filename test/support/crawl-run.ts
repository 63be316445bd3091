import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ManifestEntry } from "../../src/crawler/manifest.ts";
import { type BinaryResult, type RunOptions, runBinary } from "./binary.ts";
import type { ManifestFile } from "./crawling.ts";
import { temporaryDirectory } from "./temporary.ts";

export type CrawlRun = BinaryResult & {
  /** Null when none was written. */
  readonly manifest: ManifestFile | null;
  /** Names of the Markdown files, sorted. */
  readonly files: readonly string[];
  /** The text of a Markdown file. */
  read(name: string): Promise<string>;
};

/** Reads what a crawl left in its output directory. */
export async function readCrawl(directory: string): Promise<Pick<CrawlRun, "manifest" | "files" | "read">> {
  const names = await readdir(directory).catch(() => []);
  const manifest = Bun.file(join(directory, "manifest.json"));
  return {
    manifest: (await manifest.exists()) ? await manifest.json() : null,
    files: names.filter((name) => name.endsWith(".md")).sort(),
    read: (name) => Bun.file(join(directory, name)).text(),
  };
}

/** Makes a directory for crawls with the built program, which have no delay unless the words say `--rate-limit`. */
export async function crawlDirectory() {
  const place = temporaryDirectory();
  const output = join(place.path, "out");
  return {
    path: place.path,
    output,
    async crawl(words: readonly string[], options: RunOptions = {}): Promise<CrawlRun> {
      const pace = words.includes("--rate-limit") ? [] : ["--rate-limit", "0"];
      const to = words.some((word) => ["--jsonl", "--dry-run"].includes(word))
        ? []
        : ["--output-dir", output];
      const run = await runBinary(["crawl", ...words, ...pace, ...to], { cwd: place.path, ...options });
      return { ...run, ...(await readCrawl(output)) };
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** Crawls once into a directory that is removed afterwards; what `read` gives is kept in memory. */
export async function crawlOnce(words: readonly string[], options: RunOptions = {}): Promise<CrawlRun> {
  await using directory = await crawlDirectory();
  const run = await directory.crawl(words, options);
  const texts = new Map(
    await Promise.all(run.files.map(async (name) => [name, await run.read(name)] as const)),
  );
  return { ...run, read: async (name) => texts.get(name) ?? "" };
}

/** Gives the sorted paths of a manifest's entries that have one status. */
export function pathsOf(
  run: Pick<CrawlRun, "manifest">,
  status: ManifestEntry["status"] = "success",
): string[] {
  const entries = run.manifest?.results.filter((entry) => entry.status === status) ?? [];
  return entries.map(({ url }) => new URL(url).pathname + new URL(url).search).sort();
}
