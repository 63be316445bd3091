import { expect, test } from "bun:test";
import { DEFAULT_NETWORK, storeOutput } from "../../../src/app/index.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { makeBucket, optionsFor, standBefore } from "../../support/bucket.ts";
import { crawlPlan, openTestApp } from "../../support/crawling.ts";
import { seededRandom } from "../../support/damage-pages.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { startResettingProxy } from "../../support/resetting-proxy.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PAGES = 250;
const MAX_PAGES = 200;
const app = forAllTests(openTestApp());

test.each([1, 2])("a bucket that fails at random costs no page its outcome (seed %p)", async (seed) => {
  const { name: bucket, options } = await makeBucket();
  await using sound = await openObjectStore({ kind: "s3", bucket, prefix: "p" }, options);
  const random = seededRandom(seed);
  await using faulty = standBefore(options);
  const count = { refused: 0, lost: 0 };
  faulty.fault = async (request) => {
    const chance = random();
    if (chance < 0.05) {
      count.refused++;
      return new Response(null, { status: chance < 0.025 ? 500 : 503 });
    }
    if (chance > 0.06 || request.method !== "PUT") return null;
    // The object is there, and nobody is told.
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    await fetch(`${options.endpoint}${pathname}${search}`, {
      method,
      headers,
      body: await request.arrayBuffer(),
    });
    count.lost++;
    return new Response(null, { status: 502 });
  };
  await using proxy = await startResettingProxy({
    to: Number(new URL(faulty.options.endpoint ?? "").port),
    seed,
    share: 0.03,
    maxResets: 60,
  });
  const place = { kind: "s3", bucket, prefix: "p" } as const;
  await using store = await openObjectStore(place, optionsFor(`http://127.0.0.1:${proxy.port}`));
  await using site = serveNumberedSite({ pages: PAGES, fanOut: 8 });
  using directory = temporaryDirectory();
  await using session = app.openSession(DEFAULT_NETWORK);
  const output = storeOutput(store, directory.path);
  const crawling = session.crawl(
    crawlPlan({ seeds: [`${site.origin}/`], maxPages: MAX_PAGES, concurrency: 4 }),
    { output, jobId: null, isFresh: false, authorizations: new Map() },
    new AbortController().signal,
  );
  const totals: number[] = [];
  for await (const event of crawling) if ("progress" in event) totals.push(event.progress.total);

  expect(proxy.resets()).toBeGreaterThan(5);
  expect(Math.min(count.refused, count.lost)).toBeGreaterThan(0);
  const manifest = JSON.parse(new TextDecoder().decode((await sound.read("manifest.json")) ?? undefined));
  const { status, total_pages, successful, failed, results } = manifest;
  expect({ status, total_pages, successful, failed }).toEqual({
    status: "completed",
    total_pages: MAX_PAGES,
    successful: MAX_PAGES,
    failed: 0,
  });
  expect(Math.max(...totals)).toBe(MAX_PAGES);
  const stored: string[] = [];
  for await (const { key } of sound.list("")) if (/^[^/]+\.md$/.test(key)) stored.push(key);
  const named = results.map(({ file_path }: { readonly file_path: string }) => file_path);
  expect(stored.toSorted()).toEqual(named.toSorted());
});
