import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_NETWORK, storeOutput } from "../../../src/app/index.ts";
import type { ObjectStore } from "../../../src/base/objects.ts";
import type { CrawlEvent, CrawlPlan, CrawlSummary } from "../../../src/crawler/index.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { makeBucket, optionsFor, standBefore } from "../../support/bucket.ts";
import { crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { type SiteAnswer, serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { failureOf } from "../../support/test-fetcher.ts";
import { untilTrue } from "../../support/until.ts";

const PAGES = 30;
const app = forAllTests(openTestApp());
const site = forAllTests(serveNumberedSite({ pages: PAGES, fanOut: 3 }));
const plan = crawlPlan({ seeds: [`${site.origin}/` as CrawlPlan["seeds"][number]], concurrency: 2 });

type Crawling = {
  readonly plan?: CrawlPlan;
  readonly isFresh?: boolean;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CrawlEvent) => void;
};

async function crawl(
  store: ObjectStore,
  stateDirectory: string | null,
  { isFresh = false, signal = new AbortController().signal, onEvent, ...more }: Crawling = {},
): Promise<CrawlSummary> {
  await using session = app.openSession(DEFAULT_NETWORK);
  const options = {
    output: storeOutput(store, stateDirectory),
    jobId: null,
    isFresh,
    authorizations: new Map(),
  } as const;
  for await (const event of session.crawl(more.plan ?? plan, options, signal)) {
    onEvent?.(event);
    if (event.kind === "finished") return event.summary;
  }
  throw new Error("the crawl ended without a summary");
}

/** A bucket behind a server that can fail, with little patience, and a directory of this machine. */
async function openPlace({ patienceMs = 1_500 } = {}) {
  const { name: bucket, options } = await makeBucket();
  const faulty = standBefore(options, { patienceMs, silenceMs: 500 });
  const location = { kind: "s3", bucket, prefix: "p" } as const;
  const store = await openObjectStore(location, faulty.options);
  const sound = await openObjectStore(location, options);
  const directory = temporaryDirectory();
  return {
    faulty,
    store,
    sound,
    state: join(directory.path, "state"),
    [Symbol.asyncDispose]: async () => {
      for (const part of [store, sound, faulty, directory]) await part[Symbol.asyncDispose]();
    },
  };
}

const denied = (): Response =>
  new Response("<Error><Code>AccessDenied</Code></Error>", {
    status: 403,
    headers: { "content-type": "application/xml" },
  });

/** The number of pages in a store, each of which its manifest names. */
async function pagesIn(store: ObjectStore): Promise<number> {
  const text = new TextDecoder().decode((await store.read("manifest.json")) ?? undefined);
  const results: readonly { file_path: string | null }[] = JSON.parse(text).results;
  const named = results.flatMap(({ file_path }) => file_path ?? []).sort();
  const stored = [];
  for await (const { key } of store.list("")) if (/^[^/]+\.md$/.test(key)) stored.push(key);
  expect(stored.sort()).toEqual(named);
  return stored.length;
}

describe("a crawl into a bucket", () => {
  test("waits for a bucket that is away for a moment", async () => {
    await using place = await openPlace({ patienceMs: 60_000 });
    let left = 12;
    place.faulty.fault = ({ method }) =>
      method === "PUT" && left-- > 0 && left % 3 > 0 ? new Response(null, { status: 503 }) : null;
    expect((await crawl(place.store, place.state)).state).toBe("completed");
    expect(await pagesIn(place.sound)).toBe(PAGES);
  });

  test.each<[string, () => Response | Promise<Response>, RegExp]>([
    ["answers 503", () => new Response(null, { status: 503 }), /^could not write s3:.*HTTP 503/],
    [
      "never answers",
      () => new Promise<Response>(() => {}),
      /^could not write s3:.*(no answer in time|does not answer)/,
    ],
    [
      "refuses to write",
      denied,
      /^could not write s3:.*access is denied: the credentials need s3:PutObject$/,
    ],
  ])("ends with one line when it %s from some page on, and goes on later", async (_, fault, message) => {
    await using place = await openPlace();
    let puts = 0;
    let manifests = 0;
    place.faulty.fault = ({ method, url }) => {
      if (method === "GET" || method === "HEAD") return null;
      if (new URL(url).pathname.endsWith("/manifest.json")) manifests++;
      return ++puts > 8 ? fault() : null;
    };
    const asked = site.visits.length;
    const summary = await crawl(place.store, place.state);
    expect(summary.state).toBe("failed");
    expect(summary.error?.message).toMatch(message);
    expect(summary.manifestPath).toBeNull();
    const asIfStored = summary.progress.successful;
    expect(asIfStored).toBeGreaterThan(0);
    // Whoever has waited for a bucket in vain does not wait again for each thing that is left to write.
    expect(manifests).toBe(summary.error?.code === "store_unavailable" ? 0 : 1);
    place.faulty.fault = () => null;
    expect((await crawl(place.store, place.state)).state).toBe("completed");
    expect(await pagesIn(place.sound)).toBe(PAGES);
    // What was stored is not asked for again.
    const paths = site.visits.slice(asked).filter(({ path }) => path !== "/robots.txt");
    expect(paths.length).toBeLessThanOrEqual(2 * PAGES - asIfStored);
  });

  test("ends soon when it is called off while the bucket is silent", async () => {
    await using place = await openPlace();
    const controller = new AbortController();
    place.faulty.fault = ({ method }) => {
      if (method !== "PUT") return null;
      controller.abort();
      return new Promise<Response>(() => {});
    };
    const summary = await crawl(place.store, place.state, { signal: controller.signal });
    expect(summary.progress.inFlight).toBe(0);
    expect(["cancelled", "failed"]).toContain(summary.state);
    place.faulty.fault = () => null;
    await crawl(place.store, place.state);
    expect(await pagesIn(place.sound)).toBe(PAGES);
  });

  test("tells soon that a bucket cannot be reached at the start", async () => {
    await using place = await openPlace();
    place.faulty.fault = () => new Response(null, { status: 503 });
    expect(await failureOf(crawl(place.store, place.state))).toMatchObject({ code: "store_unavailable" });
    place.faulty.fault = denied;
    const failure = await failureOf(crawl(place.store, place.state));
    expect(failure?.message).toMatch(
      /access is denied: the credentials need s3:GetObject and s3:ListBucket$/,
    );
    expect(await readdir(join(place.state, ".."))).toEqual([]);
  });

  test("reports a manifest or a memory that could not be written", async () => {
    for (const key of ["/p/manifest.json", "/p/.article-extractor/frontier.sqlite.zst"]) {
      await using place = await openPlace();
      place.faulty.fault = ({ method, url }) =>
        method === "PUT" && new URL(url).pathname.endsWith(key) ? denied() : null;
      const summary = await crawl(place.store, place.state);
      expect(summary).toMatchObject({ state: "failed", error: { code: "unwritable_output" } });
      expect(summary.error?.message).toContain(key.slice(3));
      place.faulty.fault = () => null;
      expect((await crawl(place.store, place.state)).state).toBe("completed");
      expect(await pagesIn(place.sound)).toBe(PAGES);
    }
  });

  test("refuses a manifest of somebody else, and takes an empty one and its own", async () => {
    await using place = await openPlace();
    await place.sound.put("manifest.json", '{\n  "name": "a web app"\n}');
    const failure = await failureOf(crawl(place.store, place.state));
    expect(failure).toMatchObject({ code: "invalid_usage" });
    expect(failure?.message).toMatch(/^s3:\/\/.*\/p holds a manifest.json that is not a crawl's/);
    await place.sound.put("manifest.json", "");
    for (const _ of [1, 2]) expect((await crawl(place.store, place.state)).state).toBe("completed");
  });

  test("refuses the manifest of a crawl that is remembered elsewhere, as a shared one is", async () => {
    await using place = await openPlace();
    await crawl(place.store, place.state);
    await place.sound.delete(".article-extractor/frontier.sqlite.zst");
    const other = join(place.state, "other");
    const failure = await failureOf(crawl(place.store, other));
    expect(failure).toMatchObject({ code: "invalid_usage" });
    expect(failure?.message).toMatch(/^s3:\/\/.*\/p holds the manifest of a crawl .*--join .*--fresh /);
    expect((await crawl(place.store, other, { isFresh: true })).state).toBe("completed");
    // What this machine remembers is its own.
    await place.sound.delete(".article-extractor/frontier.sqlite.zst");
    expect((await crawl(place.store, other)).state).toBe("completed");
  });

  test("says of a damaged memory how to go on", async () => {
    await using place = await openPlace();
    await place.sound.put(".article-extractor/frontier.sqlite.zst", "no frontier at all");
    const failure = await failureOf(crawl(place.store, place.state));
    expect(failure?.code).toBe("unreadable_input");
    expect(failure?.message).toMatch(/^could not take the crawl's memory from s3:.*\(--fresh forgets it\)/);
    expect((await crawl(place.store, place.state, { isFresh: true })).state).toBe("completed");
    expect(await pagesIn(place.sound)).toBe(PAGES);
  });

  test("goes on from the bucket on another machine, whose memory the first then takes", async () => {
    await using place = await openPlace();
    const [one, two] = [join(place.state, "one"), join(place.state, "two")];
    const modeOf = async (state: string, options: Crawling = {}): Promise<string> => {
      let mode = "none";
      await crawl(place.store, state, {
        ...options,
        onEvent: (event) => {
          if (event.kind === "started") mode = event.mode;
        },
      });
      return mode;
    };
    expect(await modeOf(one, { plan: crawlPlan({ ...plan, maxPages: 10 }) })).toBe("new");
    expect(await pagesIn(place.sound)).toBe(10);
    const asked = site.visits.length;
    expect(await modeOf(two)).toBe("resumed");
    expect(await pagesIn(place.sound)).toBe(PAGES);
    const paths = site.visits.slice(asked).filter(({ path }) => path !== "/robots.txt");
    expect(paths.length).toBe(PAGES - 10);
    // Its own memory ends after ten pages.
    expect(await modeOf(one)).toBe("repeated");
    expect(await modeOf(two, { isFresh: true })).toBe("new");
  });

  test("begins anew where somebody has emptied the bucket", async () => {
    await using place = await openPlace();
    for (const _ of [1, 2]) {
      const summary = await crawl(place.store, place.state);
      expect(summary.changes).toEqual({ new: PAGES });
      for await (const { key } of place.sound.list("")) await place.sound.delete(key);
    }
  });

  test("moves pages that are gone below the state's prefix", async () => {
    await using place = await openPlace();
    const answers: Record<string, SiteAnswer> = {};
    await using shrinking = serveNumberedSite({ pages: 3, answers });
    const small = crawlPlan({ seeds: [`${shrinking.origin}/` as CrawlPlan["seeds"][number]] });
    await crawl(place.store, place.state, { plan: small });
    answers["/p/1"] = { status: 410, body: "gone" };
    const gone: (string | null)[] = [];
    const summary = await crawl(place.store, place.state, {
      plan: small,
      onEvent: (event) => {
        if (event.kind === "page" && event.outcome.change === "gone") gone.push(event.outcome.filePath);
      },
    });
    expect(summary.changes).toEqual({ unchanged: 2, gone: 1 });
    expect(await pagesIn(place.sound)).toBe(2);
    expect(gone).toEqual([expect.stringMatching(/^\.article-extractor\/gone\/.*p__1-[0-9a-f]{20}\.md$/)]);
    const moved = await place.sound.read(gone[0] ?? "");
    expect(new TextDecoder().decode(moved ?? undefined)).toContain("Page 1");
  });

  test("is one at a time on a machine", async () => {
    await using place = await openPlace();
    let isRefused = false;
    place.faulty.fault = async ({ method }) => {
      if (method !== "PUT" || isRefused) return null;
      isRefused = true;
      const failure = await failureOf(crawl(place.sound, place.state));
      expect(failure?.message).toMatch(/another crawl is running there/);
      return null;
    };
    const patient = await openObjectStore(
      { kind: "s3", bucket: new URL(place.store.url).host, prefix: "p" },
      { ...place.faulty.options, patienceMs: 60_000, silenceMs: 60_000 },
    );
    expect((await crawl(patient, place.state)).state).toBe("completed");
    expect(isRefused).toBe(true);
    await patient[Symbol.asyncDispose]();
  });

  test("leaves a manifest of no page and of one", async () => {
    await using place = await openPlace();
    await using closed = serveNumberedSite({
      pages: 1,
      answers: { "/robots.txt": { body: "User-agent: *\nDisallow: /" } },
    });
    const none = crawlPlan({ seeds: [`${closed.origin}/` as CrawlPlan["seeds"][number]] });
    expect((await crawl(place.store, place.state, { plan: none })).skips).toEqual({ robots: 1 });
    expect(await pagesIn(place.sound)).toBe(0);
    const one = crawlPlan({ ...plan, maxPages: 1, maxDepth: 0 });
    await crawl(place.store, place.state, { plan: one });
    expect(await pagesIn(place.sound)).toBe(1);
  });

  test("keeps nothing on this machine when it is told so, and asks once for what is unchanged", async () => {
    await using place = await openPlace();
    const heads = new Map<string, number>();
    await crawl(place.store, null);
    place.faulty.fault = ({ method, url }) => {
      const { pathname } = new URL(url);
      if (method === "HEAD") heads.set(pathname, (heads.get(pathname) ?? 0) + 1);
      return null;
    };
    const modes: string[] = [];
    const summary = await crawl(place.store, null, {
      onEvent: (event) => event.kind === "started" && modes.push(event.mode),
    });
    expect(modes).toEqual(["repeated"]);
    expect(summary.changes).toEqual({ unchanged: PAGES });
    // A bucket's requests are paid for: one a page.
    expect([...new Set(heads.values())]).toEqual([1]);
    expect(heads.size).toBe(PAGES + 1);
  });
});

describe("a crawl into a directory that machines share", () => {
  test("stores the same as into a bucket, and goes on from another machine", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "shared");
    await using store = await openObjectStore({ kind: "directory", path }, optionsFor(""));
    const small = crawlPlan({ ...plan, maxPages: 5 });
    await crawl(store, join(directory.path, "one"), { plan: small });
    expect(await pagesIn(store)).toBe(5);
    await crawl(store, join(directory.path, "two"));
    expect(await pagesIn(store)).toBe(PAGES);
    expect((await readdir(path)).filter((name) => !name.endsWith(".md")).sort()).toEqual([
      ".article-extractor",
      "manifest.json",
    ]);
    await untilTrue(async () => (await readdir(join(path, ".article-extractor"))).length === 1);
  });
});
