import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { contendForLead, holdLease, type Leases } from "../../src/base/database/index.ts";
import { untilTrue } from "../support/until.ts";

/** A place for leases, as several processes see it. */
export interface LeasePlace extends AsyncDisposable {
  /** The leases as one more process sees them. */
  open(): Promise<Leases>;
  /** When a lease ends unless it is renewed, in ms on some clock. */
  expiry(name: string): Promise<number>;
  /** Lets time pass on the only clock that counts. */
  pass(ms: number): Promise<void>;
}

const TTL_MS = 60_000;
const DAY_MS = 86_400_000;
const LONG_MS = 7.5 * DAY_MS;
/** Renewed four times as often, and long enough for a busy machine. */
const HELD_MS = 4000;

/** What every kind of leases keeps to. */
export function describeLeases(kind: string, makePlace: () => Promise<LeasePlace>): void {
  describe(`leases in ${kind}`, () => {
    let place: LeasePlace;
    let mine: Leases;
    let theirs: Leases;
    beforeEach(async () => {
      place = await makePlace();
      mine = await place.open();
      theirs = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    test("belong to one owner at a time, each by its name", async () => {
      expect(await mine.holder("work")).toBeNull();
      expect(await mine.take("work", "me", TTL_MS)).not.toBeNull();
      expect(await theirs.take("work", "they", TTL_MS)).toBeNull();
      expect(await theirs.take("play", "they", TTL_MS)).not.toBeNull();
      expect([await theirs.holder("work"), await mine.holder("play")]).toEqual(["me", "they"]);
    });

    test("are renewed with the same fence, also late when nobody came between", async () => {
      const fence = await mine.take("work", "me", TTL_MS);
      await place.pass(TTL_MS - 1000);
      expect(await mine.take("work", "me", TTL_MS)).toBe(fence);
      await place.pass(TTL_MS - 1000);
      expect(await theirs.take("work", "they", TTL_MS)).toBeNull();
      await place.pass(2000);
      expect(await mine.holder("work")).toBeNull();
      expect(await mine.take("work", "me", TTL_MS)).toBe(fence);
    });

    test("run out, and the next holding has a higher fence; the former owner gets none", async () => {
      const first = await mine.take("work", "me", TTL_MS);
      await place.pass(TTL_MS + 1);
      expect(await theirs.take("work", "they", TTL_MS)).toBeGreaterThan(first ?? Number.POSITIVE_INFINITY);
      expect(await mine.take("work", "me", TTL_MS)).toBeNull();
      await mine.release("work", "me");
      expect(await mine.holder("work")).toBe("they");
    });

    test("are free at once when they are given back, with a higher fence even for the same owner", async () => {
      const fences: (number | null)[] = [];
      for (const owner of ["me", "they", "they", "me"]) {
        fences.push(await mine.take("work", owner, TTL_MS));
        await mine.release("work", owner);
        await mine.release("work", owner);
        expect(await theirs.holder("work")).toBeNull();
      }
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => Number(a) - Number(b)));
      expect(fences).not.toContain(null);
    });

    test("have names of any length and letters", async () => {
      for (const name of ["", "'; DROP TABLE lease; --", "Straße/☃:".repeat(200)]) {
        expect(await mine.take(name, "me", TTL_MS)).not.toBeNull();
        expect(await theirs.holder(name)).toBe("me");
      }
    });

    test("go to exactly one of twenty that contend", async () => {
      const contenders = await Promise.all(Array.from({ length: 20 }, () => place.open()));
      for (let round = 0; round < 3; round++) {
        const fences = await Promise.all(
          contenders.map((leases, index) => leases.take("work", `${round}:${index}`, TTL_MS)),
        );
        expect(fences.filter((fence) => fence !== null)).toEqual([round + 1]);
        await place.pass(TTL_MS + 1);
      }
    });

    test("keep one holder and growing fences, whatever owners do", async () => {
      const step = fc.record({
        owner: fc.constantFrom("a", "b", "c"),
        act: fc.constantFrom("take", "release", "pass" as const),
        // Real time passes too, so no sum of these comes close to the end of a lease.
        ms: fc.integer({ min: 1, max: 5 }).map((days) => days * DAY_MS),
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
          const name = `run ${run++}`;
          let now = 0;
          let held = { owner: "", fence: 0, until: 0 };
          for (const { owner, act, ms } of steps) {
            if (act === "pass") {
              await place.pass(ms);
              now += ms;
            } else if (act === "release") {
              await mine.release(name, owner);
              if (held.owner === owner) held = { ...held, owner: "", until: 0 };
            } else {
              const fence = await mine.take(name, owner, LONG_MS);
              const isFree = held.until <= now || held.owner === owner;
              expect(fence === null).toBe(!isFree);
              if (fence === null) continue;
              expect(fence).toBe(held.owner === owner ? held.fence : held.fence + 1);
              held = { owner, fence, until: now + LONG_MS };
            }
          }
        }),
        { numRuns: 30 },
      );
    });

    test("that are held are renewed, and given back at the end", async () => {
      const held = await holdLease({
        ...{ leases: mine, name: "work", owner: "me", ttlMs: HELD_MS },
        ...{ onLost: () => expect.unreachable(), onError: () => expect.unreachable() },
      });
      const before = await place.expiry("work");
      await untilTrue(async () => (await place.expiry("work")) > before);
      expect(await theirs.holder("work")).toBe("me");
      await held?.[Symbol.asyncDispose]();
      expect(await theirs.holder("work")).toBeNull();
    });

    test("that are lost to another owner are told of once", async () => {
      let lost = 0;
      const held = await holdLease({
        ...{ leases: mine, name: "work", owner: "me", ttlMs: HELD_MS },
        ...{ onLost: () => lost++, onError: () => expect.unreachable() },
      });
      const takeOver = async (): Promise<boolean> => {
        await place.pass(2 * HELD_MS);
        return (await theirs.take("work", "they", TTL_MS)) !== null;
      };
      await untilTrue(takeOver);
      await untilTrue(() => lost > 0);
      await held?.[Symbol.asyncDispose]();
      expect({ lost, holder: await mine.holder("work") }).toEqual({ lost: 1, holder: "they" });
    });

    test("for a lead go from one contender to the next", async () => {
      const told: string[] = [];
      const contend = (leases: Leases, owner: string): AsyncDisposable =>
        contendForLead({
          ...{ leases, name: "lead", owner, ttlMs: HELD_MS },
          onGained: (fence) => told.push(`${owner} ${fence}`),
          onLost: () => told.push(`${owner} lost`),
          onError: () => expect.unreachable(),
        });
      const first = contend(mine, "me");
      await untilTrue(() => told.length === 1);
      await using _ = contend(theirs, "they");
      await first[Symbol.asyncDispose]();
      await untilTrue(() => told.length === 2);
      expect(told).toEqual(["me 1", "they 2"]);
    });
  });
}
