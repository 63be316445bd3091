import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Frontier } from "../../src/crawler/frontier/frontier.ts";
import {
  all,
  claim,
  type FrontierLimits,
  type FrontierPlace,
  type FrontierSteps,
  paths,
  seed,
  settle,
  told,
  url,
} from "../support/frontier-steps.ts";
import { describeBudget, describeHosts } from "./frontier-claims.contract.ts";
import { describeRestarts } from "./frontier-restarts.contract.ts";

/** What every frontier does, whatever it is made of. */
export function describeFrontier(kind: string, makePlace: () => Promise<FrontierPlace>): void {
  describe(`the frontier of ${kind}`, () => {
    let place: FrontierPlace;
    let frontier: Frontier;
    beforeEach(async () => {
      place = await makePlace();
      frontier = await place.open(LIMITS);
    });
    afterEach(async () => {
      await frontier[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    });
    const steps: FrontierSteps = {
      frontier: () => frontier,
      pass: (ms) => place.pass(ms),
      reopen: async (limits = {}) => {
        await frontier[Symbol.asyncDispose]();
        frontier = await place.open({ ...LIMITS, ...limits });
        return frontier;
      },
      lose: async (limits = {}) => {
        await place.kill(frontier);
        frontier = await place.open({ ...LIMITS, ...limits });
        return frontier;
      },
    };
    describeAdding(steps);
    describeClaiming(steps);
    describeBudget(steps);
    describeHosts(steps);
    describeSettling(steps);
    describeSamePages(steps);
    describeRestarts(steps);
  });
}

const LIMITS: FrontierLimits = { maxPages: 100_000, maxDepth: 10 };

function describeAdding({ frontier }: FrontierSteps): void {
  test("takes a URL once, however often it is added", async () => {
    expect(await frontier().add([seed("/a"), seed("/a"), seed("/b")])).toBe(2);
    expect(await frontier().add([seed("/b"), seed("/c")])).toBe(1);
    expect((await frontier().counts()).queued).toBe(3);
  });

  test("records a refused URL as skipped and never hands it out", async () => {
    await frontier().add([{ ...seed("/a"), refusal: "out_of_scope" }, seed("/b")]);
    expect(paths(await claim(frontier(), { count: 9 }))).toEqual(["/b"]);
    expect((await frontier().counts()).skipped).toBe(1);
    expect((await all(frontier())).map(({ url, reason }) => [url, reason])).toEqual([
      [url("/a"), "out_of_scope"],
    ]);
  });
}

function describeClaiming({ frontier }: FrontierSteps): void {
  test("hands out each page to one claim only", async () => {
    await frontier().add([seed("/a"), seed("/b"), seed("/c")]);
    expect(paths(await claim(frontier(), { count: 2 }))).toEqual(["/a", "/b"]);
    expect(paths(await claim(frontier(), { count: 2 }))).toEqual(["/c"]);
    expect(paths(await claim(frontier(), { count: 2 }))).toEqual([]);
  });

  test("goes breadth first: all of a depth before the next, first found first", async () => {
    await frontier().add([seed("/1"), seed("/2")]);
    const [first, second] = await claim(frontier(), { count: 2 });
    await settle(frontier(), second, { links: ["/2/b", "/2/a"] });
    await settle(frontier(), first, { links: ["/1/a"] });
    expect(paths(await claim(frontier(), { count: 9 }))).toEqual(["/2/b", "/2/a", "/1/a"]);
  });

  test("holds deeper pages of a host back while a shallower one is under way", async () => {
    await frontier().add([seed("/1"), seed("/2")]);
    const [first, second] = await claim(frontier(), { count: 2 });
    await settle(frontier(), first, { links: ["/deep"] });
    expect(await claim(frontier(), { count: 9 })).toEqual([]);
    await settle(frontier(), second, {});
    expect(paths(await claim(frontier(), { count: 9 }))).toEqual(["/deep"]);
  });

  test("gives a page the smaller depth when it is found again nearer to the seeds", async () => {
    await frontier().add([seed("/1"), seed("/2", "far.test")]);
    const pages = await claim(frontier(), { count: 2 });
    const far = pages.find(({ host }) => host === "far.test");
    const near = pages.find(({ host }) => host === "h.test");
    await settle(frontier(), near, { links: ["/mid"] });
    const [mid] = await claim(frontier(), { count: 1 });
    await settle(frontier(), mid, { links: ["/target"] });
    await settle(frontier(), far, { links: ["/target"] });
    const [target] = await claim(frontier(), { count: 1 });
    expect([target?.depth, target?.parent]).toEqual([1, url("/2", "far.test")]);
  });

  test("refuses to settle a page that was given back or is settled already", async () => {
    await frontier().add([seed("/a")]);
    const [page] = await claim(frontier(), { count: 1 });
    if (!page) throw new Error("no page");
    await frontier().retry(page, { waitMs: 0, tries: 0, spentMs: 0 });
    expect(await settle(frontier(), page, {})).toBe(false);
    expect((await frontier().counts()).successful).toBe(0);
    const [again] = await claim(frontier(), { count: 1 });
    expect(again?.url).toBe(url("/a"));
    expect(await settle(frontier(), again, {})).toBe(true);
    expect(await settle(frontier(), again, {})).toBe(false);
    expect((await frontier().counts()).successful).toBe(1);
  });
}

function describeSettling({ frontier }: FrontierSteps): void {
  test("records the outcome, the links and the counts together", async () => {
    await frontier().add([seed("/")]);
    const [page] = await claim(frontier(), { count: 1 });
    await settle(frontier(), page, {
      links: ["/a", "/b", "/"],
      skippedLinks: new Map([["denied", 3]]),
      outcome: { title: "Home", wordCount: 12, filePath: "h.md", warnings: ["short"] },
    });
    expect(await frontier().counts()).toEqual({
      successful: 1,
      failed: 0,
      skipped: 0,
      fetched: 1,
      queued: 2,
      underway: 0,
      untried: 0,
    });
    const [outcome] = await all(frontier());
    expect(outcome).toMatchObject({
      url: url("/"),
      title: "Home",
      depth: 0,
      parent: null,
      warnings: ["short"],
    });
    expect((await frontier().tallies()).skippedLinks).toEqual({ denied: 3 });
    const links = await claim(frontier(), { count: 9 });
    expect(links.map(({ depth, parent, source }) => [depth, parent, source])).toEqual([
      [1, url("/"), "link"],
      [1, url("/"), "link"],
    ]);
  });

  test("tells each recorded outcome once, in the order of recording", async () => {
    await frontier().add([seed("/a"), seed("/b")]);
    const [a, b] = await claim(frontier(), { count: 2 });
    await settle(frontier(), b, {});
    expect((await told(frontier())).map((outcome) => outcome.url)).toEqual([url("/b")]);
    await settle(frontier(), a, {
      outcome: { status: "failed", error: { code: "timeout", message: "slow" } },
    });
    expect((await told(frontier())).map(({ error }) => error)).toEqual([
      { code: "timeout", message: "slow" },
    ]);
    expect(await told(frontier())).toEqual([]);
    expect((await frontier().tallies()).failures).toEqual({ timeout: 1 });
  });

  test("keeps what a page is blocked by, when it is told and when all are listed", async () => {
    await frontier().add([seed("/a")]);
    const [a] = await claim(frontier(), { count: 1 });
    const block = { kind: "paywall", signs: ['a text that ends in "…"', "84 words"] } as const;
    const error = { code: "blocked", message: "shows a preview", block } as const;
    await settle(frontier(), a, { outcome: { status: "failed", error } });
    expect((await told(frontier())).map((outcome) => outcome.error)).toEqual([error]);
    expect((await Array.fromAsync(frontier().outcomes())).map((outcome) => outcome.error)).toEqual([error]);
  });

  test("counts many outcomes, and lets others have their turn meanwhile", async () => {
    const refusals = ["out_of_scope", "trap"] as const;
    for (let from = 0; from < 12_000; from += 1000)
      await frontier().add(
        Array.from({ length: 1000 }, (_, at) => ({
          ...seed(`/${from + at}`),
          refusal: refusals[at % 4 === 0 ? 0 : 1],
        })),
      );
    await frontier().add([seed("/kept"), seed("/gone")]);
    const [kept, transient] = await claim(frontier(), { count: 2 });
    await settle(frontier(), kept, { outcome: { change: "new" } });
    await settle(frontier(), transient, { outcome: { change: "changed", httpStatus: 404 } });
    let hasHadTurn = false;
    setImmediate(() => {
      hasHadTurn = true;
    });
    expect(await frontier().tallies()).toEqual({
      failures: {},
      skips: { out_of_scope: 3000, trap: 9000 },
      skippedLinks: {},
      changes: { new: 1, changed: 1 },
      transient404: 1,
    });
    expect(hasHadTurn).toBe(true);
  });

  test("makes entries of seeds and sitemap URLs that are left over, and counts links", async () => {
    await frontier().add([seed("/"), { ...seed("/late"), source: "sitemap" }]);
    const [page] = await claim(frontier(), { count: 1 });
    await settle(frontier(), page, { links: ["/a", "/b"] });
    await frontier().dropQueued();
    expect(await frontier().counts()).toMatchObject({ skipped: 1, queued: 0 });
    expect((await frontier().tallies()).skippedLinks).toEqual({ max_pages: 2 });
    expect((await all(frontier())).map(({ url: of, reason }) => [of, reason])).toEqual([
      [url("/"), null],
      [url("/late"), "max_pages"],
    ]);
    expect((await told(frontier())).map(({ reason }) => reason)).toEqual([null, "max_pages"]);
    expect(await claim(frontier(), { count: 9 })).toEqual([]);
  });

  test("drops many that are left over in turn with other work", async () => {
    const many = Array.from({ length: 4500 }, (_, index) => seed(`/${index}`));
    await frontier().add(many);
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    await frontier().dropQueued();
    expect(hasTurned).toBe(true);
    expect(await frontier().counts()).toMatchObject({ skipped: 4500, queued: 0 });
    expect((await told(frontier())).map(({ url: of }) => of)).toEqual(many.map(({ url: of }) => of));
  });

  test("lists more outcomes than it reads at once", async () => {
    const many = Array.from({ length: 1200 }, (_, index) => seed(`/${index}`));
    await frontier().add(many.map((entry) => ({ ...entry, refusal: "trap" as const })));
    expect(await all(frontier())).toHaveLength(1200);
  });
}

function describeSamePages({ frontier }: FrontierSteps): void {
  test("takes a queued URL that a page redirected to for that page", async () => {
    await frontier().add([seed("/old"), seed("/new")]);
    const [old] = await claim(frontier(), { count: 1 });
    if (!old) throw new Error("no page");
    expect(await frontier().identify(old, [url("/new")])).toBe(true);
    expect(await claim(frontier(), { count: 9 })).toEqual([]);
    await settle(frontier(), old, {});
    expect((await all(frontier())).map(({ status, reason }) => [status, reason])).toEqual([
      ["success", null],
      ["skipped", "duplicate"],
    ]);
  });

  test("makes the later one the duplicate when both end at one stored page", async () => {
    await frontier().add([seed("/new"), seed("/old")]);
    const [first, second] = await claim(frontier(), { count: 2 });
    await settle(frontier(), first, {});
    if (!second) throw new Error("no page");
    expect(await frontier().identify(second, [url("/new")])).toBe(false);
  });

  test("lets exactly one of two pages under way stand that take each other for the original", async () => {
    await frontier().add([seed("/a"), seed("/b"), seed("/c")]);
    const [a, b, c] = await claim(frontier(), { count: 3 });
    if (!a || !b || !c) throw new Error("no pages");
    const stands = [
      await frontier().identify(a, [b.url]),
      await frontier().identify(b, [c.url]),
      await frontier().identify(c, [a.url]),
    ];
    expect(stands.filter(Boolean)).toHaveLength(1);
  });

  test("makes an entry of another URL of a stored page when it is found", async () => {
    await frontier().add([seed("/a"), seed("/b")]);
    const [a, b] = await claim(frontier(), { count: 2 });
    if (!a) throw new Error("no page");
    await frontier().identify(a, [url("/canonical")]);
    await settle(frontier(), a, {});
    expect((await frontier().counts()).skipped).toBe(0);
    await settle(frontier(), b, { links: ["/canonical", "/canonical"] });
    expect(await frontier().counts()).toMatchObject({ skipped: 1, queued: 0 });
    expect((await all(frontier())).map(({ reason, parent }) => [reason, parent]).at(-1)).toEqual([
      "duplicate",
      url("/b"),
    ]);
  });

  test("is a duplicate where it ends at a duplicate of a stored page, and not of itself", async () => {
    await frontier().add([seed("/first"), seed("/shared"), seed("/later")]);
    const [first] = await claim(frontier(), { count: 1 });
    if (!first) throw new Error("no page");
    expect(await frontier().identify(first, [url("/shared")])).toBe(true);
    expect(await frontier().identify(first, [url("/shared")])).toBe(true);
    await settle(frontier(), first, {});
    const [later] = await claim(frontier(), { count: 1 });
    expect(later?.url).toBe(url("/later"));
    if (!later) throw new Error("no page");
    expect(await frontier().identify(later, [url("/shared")])).toBe(false);
  });

  test("stands where it ends at a duplicate of a page that failed", async () => {
    await frontier().add([seed("/first"), seed("/shared"), seed("/later")]);
    const [first] = await claim(frontier(), { count: 1 });
    if (!first) throw new Error("no page");
    await frontier().identify(first, [url("/shared")]);
    await settle(frontier(), first, { outcome: { status: "failed" } });
    const [later] = await claim(frontier(), { count: 1 });
    if (!later) throw new Error("no page");
    expect(await frontier().identify(later, [url("/shared")])).toBe(true);
  });

  test("is not kept from a URL whose own page failed", async () => {
    await frontier().add([seed("/gone"), seed("/a")]);
    const [gone, a] = await claim(frontier(), { count: 2 });
    await settle(frontier(), gone, { outcome: { status: "failed" } });
    if (!a) throw new Error("no page");
    expect(await frontier().identify(a, [url("/gone")])).toBe(true);
  });
}
