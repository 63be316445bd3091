import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { IndexBuildOptions } from "../../../src/search/builder/build-index.ts";
import { buildIndex } from "../../../src/search/index.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const options = (path: string, notices: string[]): IndexBuildOptions => ({
  path,
  profile: "default",
  memoryBytes: 1 << 24,
  workerUrl: new URL("../../support/search/fragile-worker.ts", import.meta.url),
  documentLimitMs: 1000,
  onNotice: ({ path: document, reason, detail }) =>
    notices.push(`${document} ${reason === null ? "cut" : "left out"}: ${detail}`),
});

/** Makes documents from texts by name, in this order. */
const documents = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([name, markdown]) => ({ url: docsUrl("t", name), title: name, markdown }));

const indexed = (path: string): string[] => {
  using segment = Segment.open(path);
  return Array.from({ length: segment.documentCount }, (_, number) => segment.document(number).title);
};

describe("one bad document harms no other, and is reported", () => {
  const cases = [
    [
      "hangs the worker",
      "HANG",
      `took longer than 1000 ms${process.platform === "linux" ? " of CPU time" : ""} for it`,
    ],
    ["ends the worker", "DIE", "ended before the index was built"],
    ["throws", "THROW", "regular expression too large"],
  ] as const;
  for (const [what, text, reason] of cases)
    for (const place of ["first", "middle", "last", "only"] as const)
      test(`one that ${what}, ${place}`, async () => {
        using directory = temporaryDirectory();
        const path = join(directory.path, "index");
        const others = place === "only" ? [] : ["a", "b", "c", "d"];
        const at = { first: 0, middle: 2, last: 4, only: 0 }[place];
        const names = others.toSpliced(at, 0, "bad");
        const texts = Object.fromEntries(names.map((name) => [name, name === "bad" ? text : `word ${name}`]));
        const notices: string[] = [];
        const counts = await buildIndex(() => documents(texts), options(path, notices));
        expect(counts.documents).toBe(others.length);
        expect(indexed(path)).toEqual(others);
        expect(notices).toEqual([expect.stringMatching(new RegExp(`^docs://t/bad left out: .*${reason}`))]);
      });

  test.skipIf(process.platform !== "linux")("one that waits is no bad one", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const notices: string[] = [];
    await buildIndex(() => documents({ slow: "WAIT" }), options(path, notices));
    expect([indexed(path), notices]).toEqual([["slow"], []]);
  });

  test("as do several of every kind, while the others are carried over from the previous index", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const good = { a: "one", b: "two", c: "three" };
    await buildIndex(() => documents(good), options(path, []));
    const notices: string[] = [];
    const texts = { x: "DIE", a: "one", y: "THROW", b: "two", z: "DIE", c: "three", w: "HANG" };
    expect(await buildIndex(() => documents(texts), options(path, notices))).toEqual({
      documents: 3,
      unchanged: 3,
    });
    expect(notices.length).toBe(4);
  });

  test("but a worker that dies on every document ends the build", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const texts = Object.fromEntries(Array.from({ length: 30 }, (_, number) => [`d${number}`, "DIE"]));
    // A busy machine may take more than a second to start the next worker, which is another failure.
    const patient = { ...options(path, []), documentLimitMs: 60_000 };
    const failure = await buildIndex(() => documents(texts), patient).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "Failure", code: "internal" });
  });
});
