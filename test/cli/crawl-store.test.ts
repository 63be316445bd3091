import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type ObjectStore, openObjectStore } from "../../src/base/objects/index.ts";
import {
  BINARY,
  type BinaryResult,
  cleanEnvironment,
  runBinary,
  temporaryDirectory,
} from "../support/binary.ts";
import { environmentFor, makeBucket } from "../support/bucket.ts";
import type { Manifest } from "../support/crawl-run.ts";
import { type NumberedSite, type SiteAnswer, serveNumberedSite } from "../support/numbered-site.ts";
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
  const home = await temporaryDirectory();
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

const manifestOf = async (store: ObjectStore): Promise<Manifest> =>
  JSON.parse(new TextDecoder().decode((await store.read("manifest.json")) ?? undefined));

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys = [];
  for await (const { key } of store.list("")) keys.push(key);
  return keys;
}

/** Every success of the manifest has its object, and there is no other page. */
async function expectWhole(store: ObjectStore, pages: number): Promise<Manifest> {
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

  test("goes on from the bucket on another machine", async () => {
    await using place = await openPlace();
    expect((await place.crawl("one", "--max-pages", "10")).exitCode).toBe(0);
    await expectWhole(place.store, 10);
    const asked = site.visits.length;
    expect((await place.crawl("two")).stderr).toMatch(/crawled .* pages/);
    await expectWhole(place.store, PAGES);
    expect(pagesSince(asked)).toBe(PAGES - 10);
    // The first machine takes what the second has saved.
    const other = await place.crawl("one");
    expect(other.stderr).toContain(`0 new, 0 changed, ${PAGES} unchanged, 0 gone`);
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

  test("moves pages that are gone, and --fresh begins anew", async () => {
    const answers: Record<string, SiteAnswer> = {};
    await using shrinking = serveNumberedSite({ pages: 3, answers });
    await using place = await openPlace();
    const crawl = (...more: string[]): Promise<BinaryResult> =>
      runBinary(["crawl", `${shrinking.origin}/`, "--rate-limit", "0", "--output-dir", place.url, ...more], {
        env: place.envOf("here"),
      });
    await crawl();
    answers["/p/1"] = { status: 410, body: "gone" };
    const { stderr } = await crawl();
    expect(stderr).toContain("1 gone");
    const gone = (await keysOf(place.store)).filter((key) => key.startsWith(".article-extractor/gone/"));
    expect(gone.length).toBe(1);
    expect((await expectWhole(place.store, 2)).skipped).toBe(1);
    const fresh = await crawl("--fresh");
    expect(fresh.stderr).not.toContain("since the last crawl");
    expect((await manifestOf(place.store)).failed).toBe(1);
  });

  test("begins anew where somebody has emptied the bucket", async () => {
    await using place = await openPlace();
    await place.crawl("here", "--max-pages", "5");
    for (const key of await keysOf(place.store)) await place.store.delete(key);
    expect((await place.crawl("here", "--max-pages", "5")).stderr).not.toContain("since the last crawl");
    await expectWhole(place.store, 5);
  });
});

const pagesSince = (asked: number): number =>
  new Set(
    site.visits
      .slice(asked)
      .map(({ path }) => path)
      .filter((path) => path !== "/robots.txt"),
  ).size;
