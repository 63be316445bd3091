import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HostSlots } from "../../src/crawler/index.ts";
import { failureOf } from "../support/test-fetcher.ts";

/** Where hosts have their slots. */
export type HostSlotsPlace = AsyncDisposable & {
  /** The slots as one more process has them. */
  open(): Promise<HostSlots>;
  /** Lets so many ms pass at once for turns that are under way; null where processes share nothing. */
  readonly skip: ((ms: number) => Promise<void>) | null;
};

const { signal } = new AbortController();
const HOUR = 60 * 60 * 1000;
/** Clocks that count whole milliseconds are this inexact. */
const TICK_MS = 1;

/** What all slots of hosts do, whatever keeps them. */
export function describeHostSlots(kind: string, makePlace: () => Promise<HostSlotsPlace>): void {
  describe(`the host slots of ${kind}`, () => {
    let place: HostSlotsPlace;
    let slots: HostSlots;
    beforeEach(async () => {
      place = await makePlace();
      slots = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    describeTurns(() => ({ place, slots }));
    describePauses(() => ({ place, slots }));
    describeProcesses(() => ({ place, slots }));
  });
}

type Parts = () => { readonly place: HostSlotsPlace; readonly slots: HostSlots };

function describeTurns(parts: Parts): void {
  test("turns of a host start at least the delay apart, and one at a time", async () => {
    const { slots } = parts();
    // Read before the first turn, which begins within the call: a busy machine may resume this test late.
    const startedAt = performance.now();
    const first = await slots.take("h", { delayMs: 60, signal });
    let isSecondOut = false;
    const second = slots.take("h", { delayMs: 60, signal }).then((turn) => {
      isSecondOut = true;
      turn.release();
    });
    await Bun.sleep(1);
    expect(isSecondOut).toBe(false);
    first.release();
    await second;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(60 - TICK_MS);
  });

  test.each([
    [50, 50],
    [400, 250],
  ])("after a turn of %p ms the delay counts from %p ms after its start", async (lengthMs, countedMs) => {
    const { place, slots } = parts();
    const other = place.skip ? await place.open() : slots;
    const startedAt = performance.now();
    const first = await slots.take("h", { delayMs: 300, signal });
    await Bun.sleep(lengthMs);
    first.release();
    await other.take("h", { delayMs: 300, signal });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300 + countedMs - 2 * TICK_MS);
  });

  test("hosts do not wait for each other, nor does a host without delay for itself", async () => {
    const { slots } = parts();
    await slots.take("one", { delayMs: HOUR, signal });
    await slots.take("two", { delayMs: HOUR, signal });
    await slots.take("three", { delayMs: 0, signal });
    await slots.take("three", { delayMs: 0, signal });
    expect(await slots.restMs("one", HOUR)).toBeGreaterThan(HOUR / 2);
    expect(await slots.restMs("three", 0)).toBe(0);
    expect(await slots.restMs("never asked", HOUR)).toBe(0);
  });

  test("whoever is called off leaves the line to those behind", async () => {
    const { slots } = parts();
    const first = await slots.take("h", { delayMs: 1, signal });
    const controller = new AbortController();
    const second = failureOf(slots.take("h", { delayMs: 1, signal: controller.signal }));
    const third = slots.take("h", { delayMs: 1, signal });
    controller.abort();
    expect((await second)?.code).toBe("cancelled");
    first.release();
    (await third).release();
  });

  test("a turn that is released twice ends no other", async () => {
    const { slots } = parts();
    const first = await slots.take("h", { delayMs: 1, signal });
    first.release();
    const second = await slots.take("h", { delayMs: 1, signal });
    first.release();
    let isThirdOut = false;
    const third = slots.take("h", { delayMs: 1, signal }).then(() => {
      isThirdOut = true;
    });
    await Bun.sleep(5);
    expect(isThirdOut).toBe(false);
    second.release();
    await third;
  });
}

function describePauses(parts: Parts): void {
  test.each([0, 1])("a pause holds a turn with delay %p, and no other host", async (delayMs) => {
    const { slots } = parts();
    const startedAt = performance.now();
    await slots.pause("h", 100);
    await slots.take("h", { delayMs, signal });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(100 - TICK_MS);
    await slots.pause("h", HOUR);
    await slots.take("other", { delayMs, signal });
  });

  test("a shorter pause does not end a longer one", async () => {
    const { slots } = parts();
    expect(await slots.pause("h", HOUR)).toBeGreaterThan(HOUR / 2);
    expect(await slots.pause("h", 1)).toBeGreaterThan(HOUR / 2);
    expect(await slots.restMs("h", 0)).toBeGreaterThan(HOUR / 2);
  });

  test("a pause ends no wait early that is called off", async () => {
    const { slots } = parts();
    await slots.pause("h", HOUR);
    const controller = new AbortController();
    const waiting = failureOf(slots.take("h", { delayMs: 0, signal: controller.signal }));
    controller.abort();
    expect((await waiting)?.code).toBe("cancelled");
  });
}

function describeProcesses(parts: Parts): void {
  const shared = (name: string, run: (others: Parts) => Promise<void>): void =>
    test(name, async () => {
      if (parts().place.skip !== null) await run(parts);
    });

  shared("processes together are as polite as one, whatever each of them wants", async () => {
    const asked = fc.record({
      processes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
      delayMs: fc.integer({ min: 1, max: 40 }),
      isHeldMs: fc.integer({ min: 0, max: 60 }),
    });
    const { place } = parts();
    const opened = [await place.open(), await place.open(), await place.open()];
    let host = 0;
    await fc.assert(
      fc.asyncProperty(asked, async ({ processes, delayMs, isHeldMs }) => {
        const name = `host-${host++}`;
        const starts: number[] = [];
        const startedAt = performance.now();
        let out = 0;
        const ask = async (slots: HostSlots): Promise<void> => {
          const turn = await slots.take(name, { delayMs, signal });
          starts.push(performance.now());
          out++;
          expect(out).toBe(1);
          if (isHeldMs > 0) await Bun.sleep(isHeldMs);
          out--;
          turn.release();
        };
        await Promise.all(
          processes.flatMap((count, process) => Array.from({ length: count }, () => ask(opened[process]!))),
        );
        // From before the first turn, since a busy machine may tell late of a turn, and in time of the next.
        for (const [index, at] of starts.entries())
          expect(at - startedAt).toBeGreaterThanOrEqual(index * delayMs - TICK_MS);
      }),
      { numRuns: 10 },
    );
  });

  shared("a pause of one process holds the others", async () => {
    const { place, slots } = parts();
    const other = await place.open();
    const startedAt = performance.now();
    await slots.pause("h", 150);
    await slots.pause("slow", 150);
    await Promise.all([other.take("h", { delayMs: 0, signal }), other.take("slow", { delayMs: 1, signal })]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(150 - TICK_MS);
  });

  shared("a page need not wait for what another process has made long", async () => {
    const { place, slots } = parts();
    const other = await place.open();
    await slots.pause("paused", HOUR);
    (await slots.take("slow", { delayMs: HOUR, signal })).release();
    for (const [host, delayMs] of [
      ["paused", 0],
      ["paused", 1],
      ["slow", HOUR],
    ] as const) {
      expect(await other.takeSoon(host, { delayMs, patienceMs: 100, signal })).toBeGreaterThan(HOUR / 2);
    }
    const turn = await other.takeSoon("free", { delayMs: HOUR, patienceMs: 100, signal });
    expect(turn).toHaveProperty("release");
  });

  shared("the turn of a process that died ends by itself, and not before", async () => {
    const { place, slots } = parts();
    await slots.take("h", { delayMs: 1, signal });
    let isSecondOut = false;
    const other = await place.open();
    const second = other.take("h", { delayMs: 1, signal }).then(() => {
      isSecondOut = true;
    });
    // As often as this its slots are asked meanwhile, and could have given it.
    for (let count = 0; count < 3; count++) {
      (await other.take(`other-${count}`, { delayMs: 1, signal })).release();
      await Bun.sleep(20);
    }
    expect(isSecondOut).toBe(false);
    await place.skip!(60_000);
    await second;
  });
}
