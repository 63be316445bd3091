import { expect, test } from "bun:test";
import {
  claim,
  claimOne,
  type FrontierSteps,
  options,
  paths,
  rest,
  seed,
  settle,
  url,
} from "../support/frontier-steps.ts";

/** How many pages a frontier hands out, and when it is over. */
export function describeBudget({ frontier, reopen, lose }: FrontierSteps): void {
  test("hands out no more pages than may be fetched, counting those under way", async () => {
    await reopen({ maxPages: 2 });
    await frontier().add([seed("/a"), seed("/b"), seed("/c"), seed("/d")]);
    const a = await claimOne(frontier());
    const b = await claimOne(frontier());
    expect(await claim(frontier())).toEqual([]);
    expect(await frontier().counts()).toMatchObject({ fetched: 0, queued: 2, underway: 2, untried: 2 });
    await settle(frontier(), a, {});
    expect(await claim(frontier())).toEqual([]);
    expect(await frontier().counts()).toMatchObject({ fetched: 1, underway: 1, untried: 1 });
    await settle(frontier(), b, {});
    expect(await frontier().claim(options({}))).toMatchObject({ pages: [], isOver: true });
  });

  test("counts the pages of several depths in one claim together", async () => {
    await reopen({ maxPages: 3 });
    await frontier().add([seed("/")]);
    await settle(frontier(), await claimOne(frontier()), { links: ["/a", "/b", "/c"] });
    await frontier().add([seed("/", "other.test")]);
    expect((await claim(frontier())).map(({ depth }) => depth)).toEqual([0, 1]);
  });

  test("hands out another page for one that was not fetched, or was given back without a try", async () => {
    await reopen({ maxPages: 1 });
    await frontier().add([seed("/a"), seed("/b")]);
    await settle(frontier(), await claimOne(frontier()), { isFetched: false });
    const b = await claimOne(frontier());
    await frontier().retry(b, { waitMs: 0, tries: 0, spentMs: 0 });
    expect(await claim(frontier())).toHaveLength(1);
  });

  test("counts a page once that is tried again, whose further tries need no room", async () => {
    await reopen({ maxPages: 1 });
    await frontier().add([seed("/a"), seed("/b")]);
    const a = await claimOne(frontier());
    await frontier().retry(a, { waitMs: 0, tries: 1, spentMs: 5 });
    expect(await frontier().counts()).toMatchObject({ fetched: 1, queued: 2, underway: 0, untried: 0 });
    const again = await claimOne(frontier(), { count: 9 });
    expect([again.url, again.tries]).toEqual([url("/a"), 1]);
    expect(await frontier().counts()).toMatchObject({ underway: 1, untried: 0 });
    await settle(frontier(), again, {});
    expect(await frontier().counts()).toMatchObject({ fetched: 1, queued: 1 });
    expect(await frontier().claim(options({}))).toMatchObject({ pages: [], isOver: true });
  });

  test("hands out first what a lost process had under way, and no other page in its place", async () => {
    await reopen({ maxPages: 2 });
    await frontier().add([seed("/a", "one.test"), seed("/b", "two.test"), seed("/c", "three.test")]);
    const lost = await claim(frontier(), { count: 2 });
    for (const _ of [1, 2]) {
      const again = await lose({ maxPages: 2 });
      expect(await again.counts()).toMatchObject({ fetched: 2, queued: 3, underway: 0, untried: 0 });
      const [one, two, ...others] = await claim(again);
      expect([one?.url, two?.url].sort()).toEqual(lost.map((page) => page.url).sort());
      expect([one?.isTakenOver, two?.isTakenOver, one?.tries, others.length]).toEqual([true, true, 0, 0]);
      expect(await again.counts()).toMatchObject({ fetched: 2, underway: 2, untried: 0 });
    }
    const [one, two] = await claim(await lose({ maxPages: 2 }));
    if (!one || !two) throw new Error("no pages");
    await settle(frontier(), one, {});
    // A page that turns out not to be fetched makes room.
    await settle(frontier(), two, { isFetched: false });
    expect(await frontier().counts()).toMatchObject({ fetched: 1, queued: 1 });
    await settle(frontier(), await claimOne(frontier()), {});
    expect((await frontier().claim(options({}))).isOver).toBe(true);
  });

  test("makes no room for what a lost process may have asked for when it fails without being asked for again", async () => {
    await reopen({ maxPages: 1 });
    await frontier().add([seed("/a", "one.test"), seed("/b", "two.test")]);
    await claim(frontier());
    const page = await claimOne(await lose({ maxPages: 1 }));
    await settle(frontier(), page, { isFetched: false, outcome: { status: "failed" } });
    expect(await frontier().counts()).toMatchObject({ failed: 1, fetched: 1, queued: 1 });
    expect(await claim(frontier())).toEqual([]);
  });

  test("keeps the place of a page that is called off after it may have been asked for", async () => {
    await reopen({ maxPages: 1 });
    await frontier().add([seed("/a", "one.test"), seed("/b", "two.test")]);
    const page = await claimOne(frontier());
    await frontier().retry(page, { waitMs: 0, tries: 0, spentMs: 0, isAsked: true });
    expect(await frontier().counts()).toMatchObject({ fetched: 1, queued: 2, untried: 0 });
    const again = await claimOne(await reopen({ maxPages: 1 }));
    expect([again.url, again.isTakenOver]).toEqual([page.url, true]);
    // What was put back before it was asked for keeps its place as well.
    await frontier().retry(again, { waitMs: 0, tries: 0, spentMs: 0 });
    expect((await claim(frontier())).map(({ url: claimed }) => claimed)).toEqual([page.url]);
  });

  test("admits more after a restart with a larger limit", async () => {
    await reopen({ maxPages: 1 });
    await frontier().add([seed("/a"), seed("/b"), seed("/c")]);
    await settle(frontier(), await claimOne(frontier()), {});
    await reopen({ maxPages: 2 });
    expect(await claim(frontier())).toHaveLength(1);
  });

  test("is over when nothing waits and nothing is under way, and not before", async () => {
    const isOver = async (): Promise<boolean> => (await frontier().claim(options({}))).isOver;
    expect(await isOver()).toBe(true);
    await frontier().add([seed("/a")]);
    const a = await claimOne(frontier());
    expect(await isOver()).toBe(false);
    await frontier().retry(a, { waitMs: 60_000, tries: 1, spentMs: 0 });
    expect(await isOver()).toBe(false);
  });

  test("is not over while an exclusive host that nobody has freed yet has pages", async () => {
    await frontier().add([seed("/a"), seed("/b")]);
    const a = await claimOne(frontier(), { isHostExclusive: true });
    await settle(frontier(), a, {});
    expect((await frontier().claim(options({ isHostExclusive: true }))).isOver).toBe(false);
    await frontier().freeHost(a, 0);
    expect(paths(await claim(frontier(), { isHostExclusive: true }))).toEqual(["/b"]);
  });
}

/** When a frontier hands out the pages of a host, and those that are tried again. */
export function describeHosts({ frontier, pass }: FrontierSteps): void {
  test("hands out one page of an exclusive host until it is freed, and then after its rest", async () => {
    await frontier().add([seed("/a"), seed("/b"), seed("/c", "other.test")]);
    const claimed = await claim(frontier(), { isHostExclusive: true });
    expect(paths(claimed).sort()).toEqual(["/a", "/c"]);
    expect(await claim(frontier(), { isHostExclusive: true })).toEqual([]);
    const a = claimed.find(({ host }) => host === "h.test");
    if (!a) throw new Error("no page");
    await frontier().freeHost(a, 60_000);
    const early = await frontier().claim(options({ isHostExclusive: true }));
    expect([early.pages.length, early.isOver]).toEqual([0, false]);
    expect(early.waitMs).toBeLessThanOrEqual(60_000);
    await pass(60_000);
    expect(paths(await claim(frontier(), { isHostExclusive: true }))).toEqual(["/b"]);
  });

  test("leaves a paused host alone and goes on with the others", async () => {
    await frontier().add([seed("/a"), seed("/b", "other.test")]);
    const pages = await claim(frontier());
    const paused = pages.find(({ host }) => host === "h.test");
    const other = pages.find(({ host }) => host === "other.test");
    if (!paused || !other) throw new Error("no pages");
    await rest(frontier(), paused, 60_000);
    await rest(frontier(), other, 0);
    expect(paths(await claim(frontier()))).toEqual(["/b"]);
    await pass(60_000);
    expect(paths(await claim(frontier()))).toEqual(["/a"]);
  });

  test("shares a claim among hosts instead of giving it all to the first", async () => {
    const hosts = ["one.test", "two.test", "three.test"];
    await frontier().add(hosts.flatMap((host) => ["/a", "/b", "/c"].map((path) => seed(path, host))));
    expect((await claim(frontier(), { count: 3 })).map(({ host }) => host).sort()).toEqual([...hosts].sort());
  });

  test("lets the host go first that has waited longest", async () => {
    await frontier().add([seed("/a", "one.test"), seed("/b", "one.test"), seed("/a", "two.test")]);
    const first = await claimOne(frontier());
    await pass(1);
    const second = await claimOne(frontier());
    expect(new Set([first.host, second.host]).size).toBe(2);
  });

  test("hands a page out again when its next try is due, before new ones", async () => {
    await frontier().add([seed("/a"), seed("/b"), seed("/c")]);
    const page = await claimOne(frontier());
    await frontier().retry(page, { waitMs: 60_000, tries: 1, spentMs: 40 });
    expect((await frontier().counts()).fetched).toBe(1);
    expect(paths(await claim(frontier(), { count: 1 }))).toEqual(["/b"]);
    await pass(60_000);
    const again = await claimOne(frontier());
    expect([again.url, again.tries, again.spentMs]).toEqual([url("/a"), 1, 40]);
    await settle(frontier(), again, {});
    expect((await frontier().counts()).fetched).toBe(1);
  });

  test("puts a page that was not tried back to its place, uncounted", async () => {
    await frontier().add([seed("/a"), seed("/b")]);
    const [page] = await claim(frontier(), { count: 1 });
    if (!page) throw new Error("no page");
    await frontier().retry(page, { waitMs: 0, tries: 0, spentMs: 0 });
    expect((await frontier().counts()).fetched).toBe(0);
    expect(paths(await claim(frontier(), { count: 1 }))).toEqual(["/a"]);
  });
}
