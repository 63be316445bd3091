import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { ObjectStore } from "../../src/base/objects.ts";
import { openObjectStore } from "../../src/scale/objects/open.ts";
import { BINARY, type BinaryResult, cleanEnvironment, runBinary } from "../support/binary.ts";
import { environmentFor, makeBucket } from "../support/bucket.ts";
import type { ManifestFile } from "../support/crawling.ts";
import { type NumberedSite, serveNumberedSite } from "../support/numbered-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const PAGES = 40;
const site: NumberedSite = serveNumberedSite({ pages: PAGES, fanOut: 4, answerMs: 2 });
afterAll(() => site[Symbol.asyncDispose]());

const words = (...more: readonly string[]): string[] => [
  "crawl",
  `${site.origin}/`,
  "--rate-limit",
  "0",
  "--max-depth",
  "10",
  ...more,
];

/** A bucket with a store on it, and machines that crawl into it. */
async function openPlace(prefix = "docs") {
  const { name, options } = await makeBucket();
  const url = `s3://${name}/${prefix}`;
  const store = await openObjectStore({ kind: "s3", bucket: name, prefix }, options);
  const home = temporaryDirectory();
  const envOf = (machine: string): Record<string, string> => ({
    ...environmentFor(options),
    XDG_STATE_HOME: join(home.path, machine),
  });
  return {
    url,
    store,
    envOf,
    crawl: (machine: string, ...more: readonly string[]): Promise<BinaryResult> =>
      runBinary(words("--output-dir", url, ...more), { env: envOf(machine) }),
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

const manifestOf = async (store: ObjectStore): Promise<ManifestFile> =>
  JSON.parse(new TextDecoder().decode((await store.read("manifest.json")) ?? undefined));

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys = [];
  for await (const { key } of store.list("")) keys.push(key);
  return keys;
}

/** Every success of the manifest has its object, and there is no other page. */
async function expectWhole(store: ObjectStore, pages: number): Promise<ManifestFile> {
  const manifest = await manifestOf(store);
  const files = manifest.results.flatMap(({ status, file_path }) =>
    status === "success" ? [file_path] : [],
  );
  expect(files.length).toBe(pages);
  expect(new Set(files).size).toBe(pages);
  const stored = (await keysOf(store)).filter((key) => key.endsWith(".md") && !key.includes("/"));
  expect(stored.sort()).toEqual(files.map(String).sort());
  return manifest;
}

describe("crawl --output-dir s3://…", () => {
  test("stores pages, manifest and memory in the bucket, and asks for nothing twice", async () => {
    await using place = await openPlace("with blank/é");
    const first = await place.crawl("here");
    expect([first.exitCode, first.stderr]).toEqual([0, first.stderr]);
    expect(first.stderr).toContain(`${PAGES} stored in ${place.url}`);
    expect(first.stderr).toContain(`${place.url}/manifest.json`);
    const manifest = await expectWhole(place.store, PAGES);
    expect(manifest.config.output_dir).toBe(place.url);
    const name = manifest.results[0]?.file_path ?? "";
    expect(name).toMatch(/-[0-9a-f]{20}\.md$/);
    expect(new TextDecoder().decode((await place.store.read(name)) ?? undefined)).toStartWith("---\nurl: ");
    expect(await keysOf(place.store)).toContain(".article-extractor/frontier.sqlite.zst");

    const before = await place.store.head(name);
    const again = await place.crawl("here");
    expect(again.stderr).toContain(`0 new, 0 changed, ${PAGES} unchanged, 0 gone`);
    expect(await place.store.head(name)).toEqual(before);
  });

  test("goes on after kill -9, and loses and doubles nothing", async () => {
    await using place = await openPlace();
    const child = Bun.spawn([BINARY, ...words("--output-dir", place.url, "--concurrency", "2")], {
      env: cleanEnvironment(place.envOf("here")),
      stdio: ["ignore", "ignore", "ignore"],
    });
    await untilTrue(async () => (await keysOf(place.store)).length >= 5);
    child.kill("SIGKILL");
    await child.exited;
    expect(await place.store.read("manifest.json")).toBeNull();
    const asked = site.visits.length;
    expect((await place.crawl("here")).exitCode).toBe(0);
    await expectWhole(place.store, PAGES);
    expect(pagesSince(asked)).toBeLessThan(PAGES);
  });

  test("saves what it knows when it is interrupted", async () => {
    await using place = await openPlace();
    const child = Bun.spawn([BINARY, ...words("--output-dir", place.url, "--concurrency", "2")], {
      env: cleanEnvironment(place.envOf("one")),
      stdio: ["ignore", "ignore", "pipe"],
    });
    await untilTrue(async () => (await keysOf(place.store)).length >= 5);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    const { results } = await manifestOf(place.store);
    expect(results.length).toBeGreaterThan(0);
    const asked = site.visits.length;
    expect((await place.crawl("two")).exitCode).toBe(0);
    await expectWhole(place.store, PAGES);
    expect(pagesSince(asked)).toBeLessThanOrEqual(PAGES - results.length);
  });
});

const pagesSince = (asked: number): number =>
  new Set(
    site.visits
      .slice(asked)
      .map(({ path }) => path)
      .filter((path) => path !== "/robots.txt"),
  ).size;
