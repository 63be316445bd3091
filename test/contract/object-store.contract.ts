import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ObjectStore } from "../../src/base/objects.ts";
import { folderOf } from "../../src/base/objects.ts";

/** One empty place for objects, and stores on it. */
export type ObjectStorePlace = AsyncDisposable & {
  /** Another store on the same place, as of another process. */
  open(): Promise<ObjectStore>;
};

/** What every object store does, whatever it is made of. */
export function describeObjectStore(kind: string, makePlace: () => Promise<ObjectStorePlace>): void {
  describe(`the object store of ${kind}`, () => {
    let place: ObjectStorePlace;
    let store: ObjectStore;
    beforeEach(async () => {
      place = await makePlace();
      store = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    describeOneObject(() => store);
    describeStreams(() => store);
    describeListing(() => store);
    describeKeys(() => store);

    test("shows a second store what the first has written and deleted", async () => {
      const other = await place.open();
      await store.put("a", "1");
      expect(await text(other, "a")).toBe("1");
      await other.delete("a");
      expect(await store.read("a")).toBeNull();
    });
  });
}

function describeOneObject(store: () => ObjectStore): void {
  test.each([
    ["a text", "Words with é, 漢字 and 🙂.\n"],
    ["nothing", ""],
    ["one byte", new Uint8Array([0])],
    ["every byte", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
    ["a part and a byte", bytesOf(PART_BYTES + 1)],
  ])("gives back %s", async (_, content) => {
    await store().put("folder/object", content);
    const wanted = Buffer.from(content as string); // a copy of bytes, too
    expect(wanted.equals((await store().read("folder/object")) ?? new Uint8Array([7]))).toBe(true);
    expect((await store().head("folder/object"))?.size).toBe(wanted.length);
  });

  test("has nothing where nothing was put", async () => {
    await store().put("a", "1");
    for (const key of ["b", "a/b", "A b", "aa"]) {
      expect(await store().read(key)).toBeNull();
      expect(await store().stream(key)).toBeNull();
      expect(await store().head(key)).toBeNull();
    }
  });

  test("replaces an object by a shorter one", async () => {
    await store().put("a", "long ".repeat(1000));
    await store().put("a", "short");
    expect(await text(store(), "a")).toBe("short");
  });

  test("tells versions apart, and the writer its own", async () => {
    const first = await store().put("a", "1");
    expect((await store().head("a"))?.version).toBe(first);
    const second = await store().put("a", "2");
    expect((await store().head("a"))?.version).toBe(second);
    expect(second).not.toBe(first);
    expect(first).not.toBe("");
  });

  test("deletes an object, and one that is not there", async () => {
    await store().put("folder/a", "1");
    await store().put("folder/b", "2");
    for (const key of ["folder/a", "folder/a", "none", "folder/b/c"]) await store().delete(key);
    expect(await keys(store())).toEqual(["folder/b"]);
  });

  test("leaves one whole object after overlapping writes", async () => {
    const versions = Array.from({ length: 10 }, (_, number) => `version ${number} `.repeat(20_000));
    await Promise.all(versions.map((version) => store().put("a", version)));
    expect(versions).toContain(await text(store(), "a"));
  });

  test("refuses what was cancelled before", async () => {
    const signal = AbortSignal.abort();
    expect(await codeOf(store().put("a", "1", { signal }))).toBe("cancelled");
    expect(await codeOf(store().putStream("a", pieces("1"), { signal }))).toBe("cancelled");
    expect(await store().read("a")).toBeNull();
  });
}

function describeStreams(store: () => ObjectStore): void {
  test.each([
    ["no piece", []],
    ["an empty piece", [""]],
    ["pieces of text", ["one, ", "", "two é"]],
    ["exactly a part", [bytesOf(PART_BYTES)]],
    ["a byte more than a part", [bytesOf(PART_BYTES), new Uint8Array([1])]],
    ["several parts in uneven pieces", [bytesOf(PART_BYTES - 1), bytesOf(3), bytesOf(PART_BYTES + 7), "end"]],
  ])("writes and reads %s as streams", async (_, written) => {
    const version = await store().putStream("a", pieces(...written));
    const wanted = Buffer.concat(written.map((piece) => Buffer.from(piece as string)));
    const read: Uint8Array[] = [];
    for await (const piece of (await store().stream("a")) ?? []) read.push(piece);
    expect(Buffer.concat(read).equals(wanted)).toBe(true);
    expect(await store().head("a")).toEqual({ size: wanted.length, version });
  });

  test.each([
    ["at once", []],
    ["in the first part", ["some"]],
    ["after two parts", [bytesOf(2 * PART_BYTES), "some"]],
  ])("keeps the old object when its writer fails %s", async (_, before) => {
    await store().put("a", "old");
    async function* failing() {
      yield* before;
      throw new RangeError("the source failed");
    }
    await expect(store().putStream("a", failing())).rejects.toThrow(new RangeError("the source failed"));
    expect(await text(store(), "a")).toBe("old");
    expect(await keys(store())).toEqual(["a"]);
  });

  test("keeps the old object when a stream is called off", async () => {
    await store().put("a", "old");
    const controller = new AbortController();
    async function* endless() {
      for (let number = 0; ; number++) {
        if (number === 3) controller.abort();
        yield bytesOf(PART_BYTES / 2);
      }
    }
    expect(await codeOf(store().putStream("a", endless(), controller))).toBe("cancelled");
    expect(await text(store(), "a")).toBe("old");
  });

  test("lets a reader leave in the middle", async () => {
    await store().put("a", bytesOf(PART_BYTES));
    for await (const _ of (await store().stream("a")) ?? []) break;
    expect((await store().head("a"))?.size).toBe(PART_BYTES);
  });
}

function describeListing(store: () => ObjectStore): void {
  test("lists nothing while it is empty", async () => {
    expect(await keys(store())).toEqual([]);
    expect(await keys(store(), "none/")).toEqual([]);
  });

  test("lists by prefix in the order of the keys' bytes", async () => {
    const all = ["a", "a b", "a-b", "a.md", "a/b", "a/b/c", "a0", "b/x", "é", "漢", "～", "🙂"];
    // A file system has no file and folder of one name.
    const written = all.filter((key) => !["a", "a/b"].includes(key));
    for (const key of [...written].reverse()) await store().put(key, key);
    expect(await keys(store())).toEqual(written);
    expect(await keys(store(), "a")).toEqual(written.filter((key) => key.startsWith("a")));
    expect(await keys(store(), "a/")).toEqual(["a/b/c"]);
    expect(await keys(store(), "a/b/c")).toEqual(["a/b/c"]);
    expect(await keys(store(), "b/y")).toEqual([]);
  });

  test("lists more than a thousand", async () => {
    const all = Array.from({ length: 1003 }, (_, number) => `p/${String(number).padStart(4, "0")}`);
    for (let at = 0; at < all.length; at += 50)
      await Promise.all(all.slice(at, at + 50).map((key) => store().put(key, "")));
    expect(await keys(store(), "p/")).toEqual(all);
  });
}

function describeKeys(store: () => ObjectStore): void {
  test.each(GOOD_KEYS)("takes the key %j as it stands", async (key) => {
    await store().put(key, key);
    expect(await text(store(), key)).toBe(key);
    expect(await keys(store())).toEqual([key]);
  });

  test.each(BAD_KEYS)("refuses the key %j", async (key) => {
    expect(await codeOf(store().put(key, "1"))).toBe("invalid_usage");
    expect(await codeOf(store().read(key))).toBe("invalid_usage");
    expect(await codeOf(store().delete(key))).toBe("invalid_usage");
    expect(await keys(store())).toEqual([]);
  });

  test("gives a folder that cannot be left", async () => {
    const folder = folderOf(store(), "jobs/a b");
    expect(folder.url).toBe(`${store().url}/jobs/a b`);
    await store().put("secret", "1");
    await store().put("jobs/a bc", "2");
    await folder.put("page.md", "3");
    expect(await text(store(), "jobs/a b/page.md")).toBe("3");
    expect(await keys(folder)).toEqual(["page.md"]);
    expect(await folder.read("secret")).toBeNull();
    for (const key of BAD_KEYS) expect(await codeOf(folder.read(key))).toBe("invalid_usage");
    for (const path of BAD_KEYS.filter((key) => key !== ""))
      expect(() => folderOf(store(), path)).toThrow(/is not a path below/);
  });
}

const PART_BYTES = 8 * 1024 * 1024;

const GOOD_KEYS = [
  "a",
  "with blank + plus & ampersand",
  "percent%2Fsign%",
  "question?mark#hash",
  "é/漢字/🙂.md",
  "..a/b..",
  "'\"<>;",
  `${"long".repeat(60)}.md`,
];

const BAD_KEYS = [
  "",
  "/",
  "/a",
  "a/",
  "a//b",
  ".",
  "..",
  "../a",
  "a/../b",
  "a/..",
  "a/./b",
  "a\\b",
  "a\nb",
  "a\0",
];

const bytesOf = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => at % 251);

async function* pieces(...all: readonly (string | Uint8Array)[]) {
  yield* all;
}

const text = async (store: ObjectStore, key: string): Promise<string> =>
  new TextDecoder().decode((await store.read(key)) ?? undefined);

async function keys(store: ObjectStore, prefix = ""): Promise<string[]> {
  const all = [];
  for await (const { key } of store.list(prefix)) all.push(key);
  return all;
}

const codeOf = async (call: Promise<unknown>): Promise<unknown> =>
  await call.then(
    () => "done",
    (error) => error.code ?? error,
  );
