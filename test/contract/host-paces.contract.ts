import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HostSlots } from "../../src/crawler/index.ts";
import type { HostPaces } from "../../src/crawler/politeness.ts";
import { failureOf } from "../support/test-fetcher.ts";
import { untilTrue } from "../support/until.ts";

type Hosts = { readonly paces: HostPaces; readonly slots: HostSlots };

/** Where the paces of hosts are kept. */
export type HostPacesPlace = AsyncDisposable & {
  readonly isShared: boolean;
  /** The paces as one more process, or one more crawl, has them. */
  open(): Promise<Hosts>;
};

const { signal } = new AbortController();
const HOUR = 60 * 60 * 1000;

/** What all paces of hosts do, wherever they are kept. */
export function describeHostPaces(kind: string, makePlace: () => Promise<HostPacesPlace>): void {
  describe(`the paces of hosts in ${kind}`, () => {
    let place: HostPacesPlace;
    let hosts: Hosts;
    beforeEach(async () => {
      place = await makePlace();
      hosts = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    describeRefusals(() => hosts);
    describeAdaptation(() => hosts);
    describeProcesses(() => place);
  });
}

const refuse = (
  { paces }: Hosts,
  host: string,
  options: Partial<Parameters<HostPaces["noteRefusal"]>[1]> = {},
) => paces.noteRefusal(host, { askedMsAgo: 0, retryAfterMs: null, leastMs: 1, ...options }, signal);

/** Refuses a request that was sent after the last pause had begun. */
async function refuseAgain(hosts: Hosts, host: string): Promise<number> {
  await Bun.sleep(2);
  return await refuse(hosts, host, { askedMsAgo: 0 });
}

function describeRefusals(hosts: () => Hosts): void {
  test("nothing is known of a host that has answered nothing", async () => {
    await hosts().paces.learn(signal);
    expect(hosts().paces.of("h")).toEqual({ adaptiveDelayMs: 0, pauses: 0, closedMs: 0 });
  });

  test.each([
    ["the time that it names", { retryAfterMs: 40_000 }, 40_000],
    ["the least pause, where it names none", { retryAfterMs: 0, leastMs: 30_000 }, 30_000],
  ])("a refusal pauses the host for %s", async (_, refusal, expected) => {
    const restMs = await refuse(hosts(), "h", refusal);
    expect(restMs).toBeGreaterThanOrEqual(expected);
    expect(restMs).toBeLessThan(expected + 1);
    expect(await hosts().slots.restMs("h", 0)).toBeGreaterThan(expected - 10_000);
    expect(await hosts().slots.restMs("other", 0)).toBe(0);
    expect(hosts().paces.of("h")).toMatchObject({ pauses: 1, closedMs: 0 });
  });

  test("refusals of requests that were under way when the pause began are one event", async () => {
    for (let count = 0; count < 5; count++) await refuse(hosts(), "h", { askedMsAgo: 5000 });
    expect(hosts().paces.of("h").pauses).toBe(1);
    await refuseAgain(hosts(), "h");
    expect(hosts().paces.of("h").pauses).toBe(2);
  });

  test("a host that refuses eleven times in a row is closed for an hour", async () => {
    for (let count = 1; count <= 10; count++) {
      await refuseAgain(hosts(), "h");
      expect(hosts().paces.of("h")).toMatchObject({ pauses: count, closedMs: 0 });
    }
    await refuseAgain(hosts(), "h");
    const { closedMs } = hosts().paces.of("h");
    expect(closedMs).toBeGreaterThan(HOUR - 60_000);
    expect(closedMs).toBeLessThanOrEqual(HOUR);
  });

  test("a success in between makes the count begin again", async () => {
    for (let count = 0; count < 3; count++) await refuseAgain(hosts(), "h");
    await hosts().paces.noteSuccess("h", signal);
    expect(hosts().paces.of("h").pauses).toBe(0);
    await refuseAgain(hosts(), "h");
    expect(hosts().paces.of("h").pauses).toBe(1);
  });

  test("a host that asks for more than an hour is closed as long as it asks, and not paused", async () => {
    await refuse(hosts(), "h", { retryAfterMs: 24 * HOUR });
    expect(hosts().paces.of("h").closedMs).toBeGreaterThan(23 * HOUR);
    expect(await hosts().slots.restMs("h", 0)).toBeLessThan(HOUR);
  });
}

function describeAdaptation(hosts: () => Hosts): void {
  test("an adapted delay is known, and the host rests that long", async () => {
    const { paces, slots } = hosts();
    await paces.adapt("h", 30_000, signal);
    expect(paces.of("h").adaptiveDelayMs).toBe(30_000);
    expect(await slots.restMs("h", 0)).toBeGreaterThan(20_000);
    await paces.adapt("h", 10, signal);
    expect(paces.of("h").adaptiveDelayMs).toBe(10);
    expect(await slots.restMs("h", 0)).toBeGreaterThan(20_000);
  });

  test("whoever is next in line sees a delay that was adapted before the turn was released", async () => {
    const { paces, slots } = hosts();
    const turn = await slots.take("h", { delayMs: 1, signal });
    const startedAt = performance.now();
    const next = slots.take("h", { delayMs: 1, signal });
    const adapted = paces.adapt("h", 150, signal);
    turn.release();
    await Promise.all([adapted, next]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(149);
  });
}

function describeProcesses(place: () => HostPacesPlace): void {
  const shared = (name: string, run: () => Promise<void>): void =>
    test(name, async () => {
      if (place().isShared) await run();
    });
  const knows = (hosts: Hosts, isSo: () => boolean): Promise<void> =>
    untilTrue(async () => {
      await hosts.paces.learn(signal);
      return isSo();
    });

  shared("what one process learns, the others know, also those that begin later", async () => {
    const [one, two] = [await place().open(), await place().open()];
    await two.paces.learn(signal);
    await refuse(one, "paused", { retryAfterMs: 40_000 });
    await refuse(one, "closed", { retryAfterMs: 24 * HOUR });
    await one.paces.adapt("slow", 20_000, signal);
    for (const hosts of [two, await place().open()]) {
      await knows(hosts, () => hosts.paces.of("slow").adaptiveDelayMs > 0);
      expect(hosts.paces.of("paused")).toMatchObject({ pauses: 1, closedMs: 0 });
      expect(hosts.paces.of("closed").closedMs).toBeGreaterThan(23 * HOUR);
      expect(await hosts.slots.restMs("paused", 0)).toBeGreaterThan(20_000);
      expect(await hosts.slots.restMs("slow", 0)).toBeGreaterThan(10_000);
      const wait = await hosts.slots.takeSoon("paused", { delayMs: 0, patienceMs: 100, signal });
      expect(wait).toBeGreaterThan(20_000);
    }
    await two.paces.noteSuccess("paused", signal);
    await knows(one, () => one.paces.of("paused").pauses === 0);
  });

  shared("refusals that several processes meet at the same time count as if one had met them", async () => {
    const processes = [await place().open(), await place().open(), await place().open()];
    let host = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), async (areLate) => {
        const name = `host-${host++}`;
        // Those of requests from before the first pause are one event; each later one begins a pause.
        for (const isLate of [false, ...areLate]) {
          await Bun.sleep(2);
          const ago = isLate ? 0 : 60_000;
          const among = isLate ? processes.slice(0, 1) : processes;
          await Promise.all(among.map((hosts) => refuse(hosts, name, { askedMsAgo: ago })));
        }
        const expected = 1 + areLate.filter(Boolean).length;
        const [first] = processes;
        await refuse(first!, name, { askedMsAgo: 60_000 });
        expect(first!.paces.of(name).pauses).toBe(expected);
      }),
      { numRuns: 8 },
    );
  });

  shared("names of hosts may be longer than an index takes", async () => {
    const [one, two] = [await place().open(), await place().open()];
    const host = `${"a".repeat(8000)}.test`;
    await refuse(one, host, { retryAfterMs: 24 * HOUR });
    (await one.slots.take(host, { delayMs: 1, signal })).release();
    await knows(two, () => two.paces.of(host).closedMs > 0);
  });

  shared("learning that is called off ends at once", async () => {
    const controller = new AbortController();
    controller.abort();
    const hosts = await place().open();
    expect((await failureOf(hosts.paces.learn(controller.signal)))?.code).toBe("cancelled");
    await hosts.paces.learn(signal);
  });
}
