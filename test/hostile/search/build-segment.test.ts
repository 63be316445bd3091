import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { Failure } from "../../../src/base/failure.ts";
import { buildSegment } from "../../../src/search/builder/build-segment.ts";
import type { BuildCounts, SourceDocument } from "../../../src/search/index.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import {
  buildAnalysis,
  buildAt,
  manyDocuments,
  sourceDocuments,
} from "../../support/search/segment-fixture.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const bytesOf = (path: string): Promise<Uint8Array> => Bun.file(path).bytes();

const pathsIn = (directory: string) => ({
  old: join(directory, "old"),
  full: join(directory, "full"),
  incremental: join(directory, "incremental"),
});

async function expectSameBytes(a: string, b: string): Promise<void> {
  expect(Buffer.compare(await bytesOf(a), await bytesOf(b))).toBe(0);
}

describe("a build", () => {
  test("gives the same bytes for the same documents, in any order and with any spilling", async () => {
    using directory = temporaryDirectory();
    const [a, b, c] = ["a", "b", "c"].map((name) => join(directory.path, name)) as [string, string, string];
    const documents = manyDocuments(500);
    await buildAt(a, documents);
    await buildAt(b, documents.toReversed());
    await buildAt(c, documents, { memoryBytes: 20_000 });
    await expectSameBytes(a, b);
    await expectSameBytes(a, c);
  });

  test("from an older index gives the bytes of a full build", async () => {
    await fc.assert(
      fc.asyncProperty(sourceDocuments(10), sourceDocuments(10), fc.nat(), async (before, added, kept) => {
        using directory = temporaryDirectory();
        const { old, full, incremental } = pathsIn(directory.path);
        await buildAt(old, before);
        const after = uniqueByUrl([...before.filter((_, index) => (kept >> index) & 1), ...added]);
        await buildAt(full, after);
        using previous = Segment.open(old);
        await buildAt(incremental, after, { previous });
        await expectSameBytes(full, incremental);
      }),
      { numRuns: 40 },
    );
  });

  test("from an older index forgets the forms of a word that left with their documents", async () => {
    using directory = temporaryDirectory();
    const { old, full, incremental } = pathsIn(directory.path);
    const [first, second] = ["gates gates", "gate"].map((markdown, index) => ({
      url: docsUrl("test", String(index)),
      title: "",
      markdown,
    })) as [SourceDocument, SourceDocument];
    await buildAt(old, [first, second]);
    await buildAt(full, [first]);
    using previous = Segment.open(old);
    await buildAt(incremental, [first], { previous });
    await expectSameBytes(full, incremental);
  });

  test("analyses only changed documents, and drops deleted ones", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const documents = manyDocuments(300);
    await buildAt(path, documents);
    using previous = Segment.open(path);
    const analysed: string[] = [];
    const analysis = buildAnalysis();
    const changed = { ...documents[7]!, markdown: "other text" };
    const retitled = { ...documents[9]!, title: "other title" };
    const counts = await buildSegment([changed, retitled, ...documents.slice(20)], {
      path,
      previous,
      memoryBytes: 1 << 24,
      analysis: {
        ...analysis,
        analyse: (source) => {
          analysed.push(source.url);
          return analysis.analyse(source);
        },
      },
    });
    expect(analysed).toEqual([changed.url, retitled.url]);
    expect(counts).toEqual({ documents: 282, unchanged: 280 });
    using segment = Segment.open(path);
    expect(segment.documentCount).toBe(282);
    expect(segment.findDocument(documents[3]!.url)).toBe(-1);
    expect(segment.document(segment.findDocument(changed.url)).markdown).toBe("other text");
    expect(previous.documentCount).toBe(300);
  });

  test("of unchanged documents keeps the file with a new time, unless something else has changed", async () => {
    using directory = temporaryDirectory();
    const { old: path, full } = pathsIn(directory.path);
    const documents = manyDocuments(50);
    const dated = documents.map((document) => ({ ...document, declared: { date: "2024-05-06" } }));
    let inode = 0;
    const build = async (
      sources: readonly SourceDocument[],
      options: { owner?: string; slugStyle?: "mkdocs" },
    ) => {
      using previous = Segment.openIfWhole(path);
      const before = inode;
      if (previous !== null) utimesSync(path, 1, 1);
      const { unchanged } = await buildAt(path, sources, { ...options, previous });
      await buildAt(full, sources, options);
      await expectSameBytes(path, full);
      const { ino, mtimeMs } = statSync(path);
      inode = ino;
      expect(mtimeMs).toBeGreaterThan(1000);
      return { unchanged, isKept: inode === before };
    };
    expect(await build(documents, {})).toEqual({ unchanged: 0, isKept: false });
    expect(await build(documents.toReversed(), {})).toEqual({ unchanged: 50, isKept: true });
    expect(await build(dated, {})).toEqual({ unchanged: 50, isKept: false });
    expect(await build(dated, { owner: "me" })).toEqual({ unchanged: 50, isKept: false });
    expect(await build(dated, { owner: "me", slugStyle: "mkdocs" })).toEqual({
      unchanged: 50,
      isKept: false,
    });
    expect(await build(dated, { owner: "me" })).toEqual({ unchanged: 50, isKept: false });
    expect(await build(dated.slice(1), { owner: "me" })).toEqual({ unchanged: 49, isKept: false });
    expect(await build(dated, { owner: "me" })).toEqual({ unchanged: 49, isKept: false });
  });

  test("carries nothing over from an index of another analysis", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    await buildAt(path, manyDocuments(5));
    using previous = Segment.open(path);
    const options = { previous, analysis: buildAnalysis("aggressive-stem") };
    expect(await buildAt(`${path}.other`, manyDocuments(5), options)).toEqual({ documents: 5, unchanged: 0 });
  });

  test("keeps the first of two documents with one address", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const [document] = manyDocuments(1) as [SourceDocument];
    await buildAt(path, [document, { ...document, title: "second" }]);
    using segment = Segment.open(path);
    expect(segment.documentCount).toBe(1);
    expect(segment.document(0).title).toBe(document.title);
  });

  test("reports its progress", async () => {
    using directory = temporaryDirectory();
    const told: BuildCounts[] = [];
    await buildAt(join(directory.path, "index"), manyDocuments(3), {
      onProgress: (counts) => told.push(counts),
    });
    expect(told.map(({ documents }) => documents)).toEqual([1, 2, 3]);
  });

  test("that fails leaves the old index and nothing else", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    await buildAt(path, manyDocuments(20));
    const before = await bytesOf(path);
    async function* failing(): AsyncGenerator<SourceDocument> {
      yield* manyDocuments(5, 3);
      throw new Failure("unreadable_input", "the disk is gone");
    }
    const options = { path, analysis: buildAnalysis(), previous: null, memoryBytes: 1 << 20 };
    const failed = buildSegment(failing(), options);
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: "unreadable_input" });
    expect(Buffer.compare(await bytesOf(path), before)).toBe(0);
    expect(readdirSync(directory.path)).toEqual(["index"]);
  });

  test("that is killed leaves the old index, and the next one removes its files", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    await buildAt(path, manyDocuments(20));
    const before = await bytesOf(path);
    const child = Bun.spawn(
      [process.execPath, new URL("../../support/search/endless-build.ts", import.meta.url).pathname, path],
      { stdout: "pipe" },
    );
    for await (const chunk of child.stdout) if (new TextDecoder().decode(chunk).includes("building")) break;
    child.kill("SIGKILL");
    await child.exited;
    expect(Buffer.compare(await bytesOf(path), before)).toBe(0);
    const left = readdirSync(directory.path).find((name) => name !== "index") ?? "";
    await buildAt(path, manyDocuments(30, 2));
    expect(readdirSync(directory.path)).toContain(left); // its process may still be working
    const twoHoursAgo = new Date(Date.now() - 7_200_000);
    for (const name of [...readdirSync(join(directory.path, left)), "."]) {
      utimesSync(join(directory.path, left, name), twoHoursAgo, twoHoursAgo);
    }
    await buildAt(path, manyDocuments(30, 2));
    expect(readdirSync(directory.path)).toEqual(["index"]);
  });

  test("says which file it cannot write", async () => {
    const failed = buildAt("/proc/nowhere/index", manyDocuments(1)).catch((error: unknown) => error);
    expect(await failed).toMatchObject({
      code: "unwritable_output",
      message: expect.stringContaining("/proc/nowhere"),
    });
  });
});

test("a search continues in its index while another one takes the name", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "index");
  await buildAt(path, manyDocuments(200));
  using old = Segment.open(path);
  const first = old.document(0);
  for (let turn = 0; turn < 5; turn++) {
    await buildAt(path, manyDocuments(50 + turn, turn + 2));
    using current = Segment.open(path);
    expect(current.documentCount).toBe(50 + turn);
    old.requireWhole();
    expect(old.document(0)).toEqual(first);
    expect(old.find("w2")?.documentFrequency).toBeGreaterThan(0);
    expect(old.document(199).url).toBe(old.url(199));
  }
  expect(existsSync(path)).toBe(true);
});

const uniqueByUrl = (documents: readonly SourceDocument[]): SourceDocument[] => [
  ...new Map(documents.map((document) => [document.url, document])).values(),
];
