import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SyncBook, SyncRecord } from "../../src/tenants/sync-book.ts";
import { untilTrue } from "../support/until.ts";

/** Where a book is kept. */
export type SyncBookPlace = AsyncDisposable & {
  /** The book as one more process has it. */
  open(): Promise<SyncBook>;
  /** Lets so many ms pass at once for leases. */
  pass(ms: number): Promise<void>;
};

/** What every book of syncs does, wherever it is kept. */
export function describeSyncBook(kind: string, makePlace: () => Promise<SyncBookPlace>): void {
  describe(`the sync book in ${kind}`, () => {
    let place: SyncBookPlace;
    let book: SyncBook;
    beforeEach(async () => {
      place = await makePlace();
      book = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    describeRecords(() => ({ place, book }));
    describeRequests(() => ({ place, book }));
    describeWork(() => ({ place, book }));
  });
}

type Parts = () => { readonly place: SyncBookPlace; readonly book: SyncBook };

const readOne = async (book: SyncBook, codename: string) => (await book.read([codename]))[0]!;
const error = (message: string) => ({ code: "network", message }) as const;

function describeRecords(parts: Parts): void {
  test("of a tenant without any there is an empty record", async () => {
    expect(await readOne(parts().book, "new")).toMatchObject({
      state: "idle",
      syncedAt: null,
      failures: 0,
      needsBuild: true,
      history: [],
      isTaken: false,
    });
    expect(await parts().book.read([])).toEqual([]);
  });

  test("a write changes its fields and keeps the others, for every process", async () => {
    const { book, place } = parts();
    await book.write("a", { syncedAt: 1, failures: 2 });
    await (await place.open()).write("a", { failures: 3, lastError: error("away") });
    await book.write("a", { lastError: null });
    expect(await readOne(book, "a")).toMatchObject({ syncedAt: 1, failures: 3, lastError: null });
    expect(await readOne(book, "b")).toMatchObject({ syncedAt: null, failures: 0 });
  });

  test("any records are read together, in the order in which they are asked for", async () => {
    const { book } = parts();
    const texts = fc.string({ unit: "grapheme", maxLength: 20 });
    const change = fc.record({
      syncedAt: fc.option(fc.integer({ min: 0, max: 4e12 })),
      failures: fc.nat(),
      needsBuild: fc.boolean(),
      lastError: fc.option(texts.map(error)),
      testQueries: fc.array(fc.record({ query: texts, hits: fc.nat() }), { maxLength: 3 }),
    });
    const codenames = ["one", "two", "three", "four"];
    const written = new Map<string, Partial<SyncRecord>>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...codenames),
        change,
        fc.shuffledSubarray(codenames),
        async (name, fields, asked) => {
          await book.write(name, fields);
          written.set(name, fields);
          const records = await book.read(asked);
          expect(records).toHaveLength(asked.length);
          for (const [place, codename] of asked.entries())
            expect(records[place]).toMatchObject(written.get(codename) ?? {});
        },
      ),
      { numRuns: 30 },
    );
  });

  test("texts that are no text in a database are written all the same", async () => {
    const { book } = parts();
    await book.write("a", { lastError: error("a \0 and half a \ud83d pair") });
    expect((await readOne(book, "a")).lastError?.message).toStartWith("a ");
    expect((await readOne(book, "a")).lastError?.message).toEndWith(" pair");
  });

  test("the history is read as it was written, also a long one", async () => {
    const { book } = parts();
    const history = Array.from({ length: 50 }, (_, index) => ({
      startedAt: index,
      endedAt: index + 1,
      counts: { fetched: index, unchanged: 0, removed: 0, failed: 0 },
      error: index % 2 ? error("x".repeat(2000)) : null,
    }));
    await book.write("a", { history });
    expect((await readOne(book, "a")).history).toEqual(history);
  });
}

function describeRequests(parts: Parts): void {
  test("a request shows as queued until it is taken, once", async () => {
    const { book, place } = parts();
    const other = await place.open();
    await other.request("a");
    await other.request("a");
    expect((await readOne(book, "a")).state).toBe("queued");
    expect(await book.takeRequests(["b"])).toEqual([]);
    expect(await book.takeRequests(["a", "b"])).toEqual(["a"]);
    expect(await other.takeRequests(["a"])).toEqual([]);
    expect((await readOne(book, "a")).state).toBe("idle");
    await book.request("a");
    expect(await other.takeRequests(["a"])).toEqual(["a"]);
  });

  test("each of many requests is taken by one of several processes", async () => {
    const { place, book } = parts();
    const books = [book, await place.open(), await place.open()];
    const codenames = Array.from({ length: 12 }, (_, index) => `tenant-${index}`);
    await Promise.all(codenames.map((codename, index) => books[index % 3]!.request(codename)));
    const taken = await Promise.all(books.map((one) => one.takeRequests(codenames)));
    expect(taken.flat().toSorted()).toEqual(codenames.toSorted());
  });
}

function describeWork(parts: Parts): void {
  test("on one tenant is the same with each of its sources, and not that of another deployment", async () => {
    const { book, place } = parts();
    const hash = fc.stringMatching(/^[\da-f]{12}$/);
    const keys = fc.uniqueArray(hash, { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(keys, keys, async ([one, two], [first, second]) => {
        const other = await place.open();
        await using begun = await book.begin(`guide@${one}-${first}`);
        expect(begun).not.toBeNull();
        expect(await other.begin(`guide@${one}-${second}`)).toBeNull();
        await using beside = await other.begin(`guide@${two}-${first}`);
        expect(beside).not.toBeNull();
        await beside?.write({ syncedAt: 5 });
        await other.request(`guide@${two}-${second}`);
        const records = await book.read([`guide@${one}-${first}`, `guide@${two}-${first}`]);
        expect(records.map(({ syncedAt, isTaken }) => [syncedAt, isTaken])).toEqual([
          [null, true],
          [5, true],
        ]);
        expect(await book.takeRequests([`guide@${one}-${first}`, `guide@${two}-${first}`])).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  test("one process at a time works on a tenant, and all see that it does", async () => {
    const { book, place } = parts();
    const other = await place.open();
    const work = await book.begin("a");
    expect(work).not.toBeNull();
    expect(await other.begin("a")).toBeNull();
    await work!.write({ state: "running" });
    expect(await other.read(["a", "b"])).toMatchObject([
      { state: "running", isTaken: true },
      { state: "idle", isTaken: false },
    ]);
    await work![Symbol.asyncDispose]();
    expect(await readOne(other, "a")).toMatchObject({ state: "idle", isTaken: false });
    await using next = await other.begin("a");
    expect(next).not.toBeNull();
  });

  test("work of a process that has died is not under way any more", async () => {
    const { book, place } = parts();
    const work = await book.begin("a");
    await work!.write({ state: "running", isBuilding: true });
    await place.pass(15_000);
    expect(await readOne(await place.open(), "a")).toMatchObject({ state: "idle", isTaken: false });
  });

  test("what is written late changes nothing once another process has taken over", async () => {
    const { book, place } = parts();
    const late = await book.begin("a");
    await late!.write({ failures: 1 });
    await place.pass(15_000);
    const other = await place.open();
    await using present = await other.begin("a");
    await present!.write({ failures: 2 });
    await late!.write({ failures: 3, lastError: error("late") }).catch(() => {});
    expect(await readOne(book, "a")).toMatchObject({ failures: 2, lastError: null });
    await untilTrue(() => late!.lost.aborted);
    await late![Symbol.asyncDispose]();
    await late!.write({ failures: 4 }).catch(() => {});
    expect(await readOne(book, "a")).toMatchObject({ failures: 2, isTaken: true });
    await present!.write({ failures: 5 });
    expect((await readOne(book, "a")).failures).toBe(5);
  });

  test("what one work writes is there in the order of the calls", async () => {
    const { book } = parts();
    await using work = await book.begin("a");
    const writes = Array.from({ length: 30 }, (_, index) => work!.write({ failures: index }));
    await Promise.all(writes);
    expect((await readOne(book, "a")).failures).toBe(29);
  });
}
