import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Source } from "../../src/tenants/source/source.ts";
import { documentsOf, runSync } from "../support/git-tenant.ts";

/** Documents by name, as the place behind a source has them. */
export type Texts = Readonly<Record<string, string>>;

/** A source and the place that it brings its documents from. */
export type SourceBench = AsyncDisposable & {
  /** The same place and state each time: a program that was started again. */
  open(): Source;
  /** Makes the place hold exactly these documents. */
  publish(texts: Texts): Promise<void>;
  /** Makes the place fail, until something is published; null where it is at hand and cannot. */
  readonly breakPlace: (() => void) | null;
  /** Syncs after which a document that is gone is removed. */
  readonly syncsToRemove: number;
};

const A_AND_B: Texts = { a: "About harbours", b: "About sluices" };

/** What every source keeps (see `Source`). */
export function describeSource(name: string, openBench: () => Promise<SourceBench>): void {
  describe(`the source of ${name}`, () => {
    let bench: SourceBench;
    beforeEach(async () => {
      bench = await openBench();
    });
    afterEach(async () => {
      await bench[Symbol.asyncDispose]();
    });
    const titlesOf = async (source: Source): Promise<string[]> =>
      [...(await documentsOf(source)).values()].map(({ title }) => title).sort();

    test("has the documents after a sync, under addresses that stay", async () => {
      await bench.publish(A_AND_B);
      const source = bench.open();
      await runSync(source);
      expect(await titlesOf(source)).toEqual(["About harbours", "About sluices"]);
      const addresses = [...(await documentsOf(source)).keys()].sort();
      await runSync(source);
      expect([...(await documentsOf(bench.open())).keys()].sort()).toEqual(addresses);
    });

    test("has no documents to read before there are any", async () => {
      await expect(documentsOf(bench.open())).rejects.toMatchObject({ code: "unreadable_input" });
    });

    test("counts nothing as fetched when nothing has changed", async () => {
      await bench.publish(A_AND_B);
      await runSync(bench.open());
      expect(await runSync(bench.open())).toMatchObject({ fetched: 0, removed: 0, failed: 0 });
    });

    test("brings what is new and what has changed", async () => {
      await bench.publish(A_AND_B);
      await runSync(bench.open());
      await bench.publish({ ...A_AND_B, b: "About locks", c: "About tides" });
      await runSync(bench.open());
      expect(await titlesOf(bench.open())).toEqual(["About harbours", "About locks", "About tides"]);
    });

    test("removes what is gone", async () => {
      await bench.publish({ ...A_AND_B, c: "About tides" });
      await runSync(bench.open());
      await bench.publish(A_AND_B);
      for (let round = 0; round < bench.syncsToRemove; round++) await runSync(bench.open());
      expect(await titlesOf(bench.open())).toEqual(["About harbours", "About sluices"]);
    });

    test("keeps the documents when the place fails, and says so", async () => {
      await bench.publish(A_AND_B);
      await runSync(bench.open());
      if (bench.breakPlace === null) return;
      bench.breakPlace();
      for (let round = 0; round < 3; round++) await expect(runSync(bench.open())).rejects.toThrow();
      expect(await titlesOf(bench.open())).toEqual(["About harbours", "About sluices"]);
      await bench.publish({ ...A_AND_B, c: "About tides" });
      await runSync(bench.open());
      expect(await titlesOf(bench.open())).toHaveLength(3);
    });

    test("keeps the documents when a sync is called off, and goes on afterwards", async () => {
      await bench.publish(A_AND_B);
      await runSync(bench.open());
      await bench.publish({ ...A_AND_B, c: "About tides" });
      const called = runSync(bench.open(), AbortSignal.abort());
      if (bench.breakPlace !== null) {
        await expect(called).rejects.toMatchObject({ code: "cancelled" });
        expect(await titlesOf(bench.open())).toEqual(["About harbours", "About sluices"]);
      }
      await runSync(bench.open());
      expect(await titlesOf(bench.open())).toHaveLength(3);
    });

    test("does not mind odd names and texts", async () => {
      await bench.publish({ "with space": "Ünïcode “quotes”", "100%": "Percent & <tags>" });
      await runSync(bench.open());
      expect(await titlesOf(bench.open())).toHaveLength(2);
    });
  });
}
