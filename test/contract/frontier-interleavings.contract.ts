import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ClaimedPage, Frontier, FrontierEntry } from "../../src/crawler/frontier/frontier.ts";
import { all, claim, type FrontierPlace, seed, settle } from "../support/frontier-steps.ts";
import { untilTrue } from "../support/until.ts";

const HOSTS = ["a.test", "b.test", "c.test"];
const URLS = 12;
const entry = (number: number): FrontierEntry => seed(`/${number}`, HOSTS[number % HOSTS.length]);

/** A site of a few pages that link to each other, and how it is crawled. */
const site = fc.record({
  seeds: fc.integer({ min: 1, max: 4 }),
  links: fc.array(fc.array(fc.nat(URLS - 1), { maxLength: 3 }), { minLength: URLS, maxLength: URLS }),
  maxPages: fc.integer({ min: 1, max: URLS + 2 }),
  isHostExclusive: fc.boolean(),
});

type Site = typeof site extends fc.Arbitrary<infer T> ? T : never;
type Claimed = { readonly page: ClaimedPage; readonly worker: number };
/** What may be known from outside: who holds which page, what was fetched, and what is over. */
type Model = {
  readonly held: Map<string, Claimed>;
  readonly fetched: Set<string>;
  /** What a worker that died had claimed, and has not been tried since. */
  readonly lost: Set<string>;
  readonly settled: Set<string>;
};
type Real = {
  readonly site: Site;
  readonly place: FrontierPlace;
  /** The frontiers of the workers. */
  readonly workers: Frontier[];
};
type Step = fc.AsyncCommand<Model, Real>;

/** The page that a worker has had for longest. */
const heldBy = ({ held }: Model, worker: number): Claimed | undefined =>
  [...held.values()].find((claimed) => claimed.worker === worker);

const linksOf = ({ links }: Site, page: ClaimedPage): string[] =>
  (links[Number(new URL(page.url).pathname.slice(1))] ?? []).map((number) => entry(number).url);

const claimStep = (worker: number, count: number): Step => ({
  check: () => true,
  async run(model, { site: { isHostExclusive, maxPages }, workers }) {
    const frontier = workers[worker];
    if (!frontier) return;
    for (const page of await claim(frontier, { count, isHostExclusive })) {
      const known = { isHeld: model.held.has(page.url), isSettled: model.settled.has(page.url) };
      expect({ url: page.url, ...known }).toEqual({ url: page.url, isHeld: false, isSettled: false });
      model.held.set(page.url, { page, worker });
    }
    // All that a site may have been asked for, also by workers that died.
    const asked = new Set([...model.held.keys(), ...model.fetched, ...model.lost]);
    expect(asked.size).toBeLessThanOrEqual(maxPages);
    const { fetched } = await frontier.counts();
    expect(fetched).toBe(model.fetched.size + model.lost.size);
  },
  toString: () => `${worker} claims ${count}`,
});

const settleStep = (worker: number, isFetched: boolean): Step => ({
  check: (model) => heldBy(model, worker) !== undefined,
  async run(model, { site: its, workers }) {
    const frontier = workers[worker];
    const claimed = heldBy(model, worker);
    if (!frontier || !claimed) return;
    const { page } = claimed;
    const links = isFetched ? linksOf(its, page) : [];
    const outcome = isFetched ? {} : ({ status: "skipped", reason: "robots" } as const);
    expect(await settle(frontier, page, { isFetched, links, outcome })).toBe(true);
    expect(await settle(frontier, page, { isFetched })).toBe(false);
    if (its.isHostExclusive) await frontier.freeHost(page, 0);
    model.held.delete(page.url);
    model.settled.add(page.url);
    model.lost.delete(page.url);
    if (isFetched) model.fetched.add(page.url);
  },
  toString: () => `${worker} ${isFetched ? "fetches" : "skips"} a page`,
});

/** @param how tried without success, called off after the request may have gone out, or put back before it */
const retryStep = (worker: number, how: "tried" | "asked" | "untried"): Step => ({
  check: (model) => heldBy(model, worker) !== undefined,
  async run(model, { site: its, workers }) {
    const frontier = workers[worker];
    const claimed = heldBy(model, worker);
    if (!frontier || !claimed) return;
    const { page } = claimed;
    const isTried = how === "tried";
    const tries = page.tries + (isTried ? 1 : 0);
    await frontier.retry(page, { waitMs: isTried ? 1000 : 0, tries, spentMs: 1, isAsked: how === "asked" });
    expect(await settle(frontier, page, {})).toBe(false);
    if (its.isHostExclusive) await frontier.freeHost(page, 0);
    model.held.delete(page.url);
    if (isTried) {
      model.fetched.add(page.url);
      model.lost.delete(page.url);
    } else if (how === "asked" && page.tries === 0) model.lost.add(page.url);
  },
  toString: () => `${worker} gives a page back, ${how}`,
});

const deathStep = (worker: number): Step => ({
  check: () => true,
  async run(model, { site: its, place, workers }) {
    const frontier = workers[worker];
    if (!frontier) return;
    await place.kill(frontier);
    for (const [held, claimed] of model.held) {
      if (claimed.worker !== worker) continue;
      model.held.delete(held);
      if (!model.fetched.has(held)) model.lost.add(held);
    }
    await noteClaimedAhead(model, place);
    workers[worker] = await place.open({ maxPages: its.maxPages, maxDepth: 10 });
  },
  toString: () => `${worker} dies and comes back`,
});

/** Notes what a worker that died had claimed ahead: nobody can tell that it did not ask for these pages as well. */
async function noteClaimedAhead(model: Model, place: FrontierPlace): Promise<void> {
  if (!place.lost) return;
  const lost = await place.lost();
  expect(lost).toEqual(expect.arrayContaining([...model.lost]));
  for (const url of lost.filter((one) => !model.lost.has(one))) {
    const isFree = !(model.held.has(url) || model.fetched.has(url) || model.settled.has(url));
    expect({ url, isFree }).toEqual({ url, isFree: true });
    model.lost.add(url);
  }
}

const passStep: Step = {
  check: () => true,
  run: (_, { place }) => place.pass(1000),
  toString: () => "a second passes",
};

/** Until a worker has claimed ahead what it may. */
const idleStep: Step = {
  check: () => true,
  run: () => Bun.sleep(100),
  toString: () => "a tenth of a second passes",
};

/** Crawls what is left as one worker, after the others are gone. */
async function finish(model: Model, real: Real): Promise<Frontier> {
  const { workers, place, site: its } = real;
  for (const worker of workers.slice(1)) await worker[Symbol.asyncDispose]();
  for (const [held, { worker }] of model.held) if (worker > 0) model.held.delete(held);
  const frontier = workers[0];
  if (!frontier) throw new Error("the first worker is gone");
  for (let rounds = 0; rounds < 200; rounds++) {
    while (heldBy(model, 0)) await settleStep(0, true).run(model, real);
    await claimStep(0, 4).run(model, real);
    if (heldBy(model, 0)) continue;
    if ((await frontier.claim({ count: 1, isHostExclusive: its.isHostExclusive })).isOver) return frontier;
    await place.pass(1000);
  }
  throw new Error("the crawl does not end");
}

/**
 * Any interleaving of workers that claim, settle, give back, die and come back gives each URL exactly one outcome, and
 * asks for no more pages than it may.
 * @param workers the number of processes that may have the frontier open at once
 */
export function describeInterleavings(
  kind: string,
  makePlace: () => Promise<FrontierPlace>,
  { workers, runs }: { readonly workers: number; readonly runs: number },
): void {
  const worker = fc.nat(workers - 1);
  const steps = fc.commands<Model, Real, false>(
    [
      fc.tuple(worker, fc.integer({ min: 1, max: 4 })).map((parts) => claimStep(...parts)),
      fc.tuple(worker, fc.boolean()).map((parts) => settleStep(...parts)),
      fc.tuple(worker, fc.constantFrom("tried", "asked", "untried")).map((parts) => retryStep(...parts)),
      worker.map((index) => deathStep(index)),
      fc.constant(passStep),
    ],
    { maxCommands: 40 },
  );
  const crawl = async (its: Site, commands: Iterable<Step>): Promise<void> => {
    await using place = await makePlace();
    const limits = { maxPages: its.maxPages, maxDepth: 10 };
    const opened: Frontier[] = [];
    for (let index = 0; index < workers; index++) opened.push(await place.open(limits));
    const entries = Array.from({ length: its.seeds }, (_, number) => entry(number));
    await opened[0]?.add(entries);
    await opened[0]?.finishSeeding();
    const model: Model = { held: new Map(), fetched: new Set(), lost: new Set(), settled: new Set() };
    const real: Real = { site: its, place, workers: opened };
    await fc.asyncModelRun(() => ({ model, real }), commands);
    await using frontier = await finish(model, real);
    // Only who leads drops, and the lead passes on with a beat where one of the others had it.
    await untilTrue(() => frontier.state().leads);
    await frontier.dropQueued();
    const outcomes = await all(frontier);
    const found = outcomes.map((outcome) => outcome.url);
    expect(new Set(found).size).toBe(found.length);
    // A seed that was left over has an entry, a link only a count.
    const left = entries.map((one) => one.url).filter((one) => !model.settled.has(one));
    expect(found.map(String).sort()).toEqual([...model.settled, ...left].sort());
    const { successful, failed, skipped, fetched, queued, underway } = await frontier.counts();
    expect([successful + failed + skipped, queued, underway]).toEqual([found.length, 0, 0]);
    expect(fetched).toBe(model.fetched.size);
    const { skippedLinks } = await frontier.tallies();
    const isCut = left.length + (skippedLinks.max_pages ?? 0) > 0;
    if (isCut) expect(fetched).toBe(its.maxPages);
    else expect(fetched).toBeLessThanOrEqual(its.maxPages);
  };
  test(`each URL of ${kind} has one outcome whatever ${workers} ${workers > 1 ? "workers do" : "worker does"}`, async () => {
    await fc.assert(fc.asyncProperty(site, steps, crawl), { numRuns: runs });
  });
  test(`pages that a lost worker of ${kind} had claimed ahead count as fetched, once each`, async () => {
    const links = Array.from({ length: URLS }, () => []);
    const its = { seeds: 4, links, maxPages: URLS, isHostExclusive: false };
    const claims = [claimStep(0, 3), retryStep(0, "asked"), claimStep(0, 1), idleStep, deathStep(0)];
    await crawl(its, [...claims, claimStep(workers - 1, 4)]);
  });
}
