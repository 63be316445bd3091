import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../src/base/failure.ts";
import type { IndexBuildOptions } from "../../../src/search/builder/build-index.ts";
import { buildIndex, type Language, type SourceDocument } from "../../../src/search/index.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { LANGUAGE_SAMPLES } from "../../support/language-samples.ts";
import { buildAt, manyDocuments } from "../../support/search/segment-fixture.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const options = (path: string): IndexBuildOptions => ({
  path,
  profile: "default",
  memoryBytes: 1 << 24,
  workerUrl: new URL("../../../bin/index-worker.ts", import.meta.url),
  documentLimitMs: 20_000,
});

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("a build on a worker", () => {
  test("gives the same bytes as a build on the main thread, and carries over unchanged documents", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const documents = manyDocuments(300);
    const told: number[] = [];
    const counts = await buildIndex(() => documents, {
      ...options(path),
      onProgress: ({ documents: count }) => told.push(count),
    });
    expect(counts).toEqual({ documents: 300, unchanged: 0 });
    expect(told.at(-1)).toBe(300);
    await buildAt(join(directory.path, "other"), documents);
    const [a, b] = await Promise.all(
      ["index", "other"].map((name) => Bun.file(join(directory.path, name)).bytes()),
    );
    expect(Buffer.compare(a!, b!)).toBe(0);
    expect(await buildIndex(() => documents.slice(1), options(path))).toEqual({
      documents: 299,
      unchanged: 299,
    });
  });

  test("finds out the documents' language, unless it is told", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const fingerprintOf = async (texts: readonly string[], language?: Language) => {
      const documents = texts.map((markdown, n) => ({ url: docsUrl("x", `${n}`), title: "x", markdown }));
      await buildIndex(() => documents, { ...options(path), language });
      using segment = Segment.open(path);
      return segment.analyserFingerprint.split("/")[1];
    };
    const [german, french] = ["German", "French"].map((name) => LANGUAGE_SAMPLES[name]!.sentences.join("\n"));
    const english =
      "The miller opened the sluice every morning, and the water of the river ran to the mill.\n".repeat(3);
    expect(await fingerprintOf([german!])).toBe("de");
    expect(await fingerprintOf([english, german!, german!])).toBe("de");
    expect(await fingerprintOf([german!, english, english])).toBe("en");
    expect(await fingerprintOf([`\`\`\`\n${english}\n\`\`\`\n\n${french!}`])).toBe("fr");
    expect(await fingerprintOf([french!], "sv")).toBe("sv");
    for (const none of [[], [""], ["x"], ["水車の設定を変更する。".repeat(30)], ["| a | b |\n".repeat(90)]])
      expect(await fingerprintOf(none)).toBe("en");
  });

  test("replaces an index that is damaged", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    writeFileSync(path, "not an index");
    await buildIndex(() => manyDocuments(10), options(path));
    using segment = Segment.open(path);
    expect(segment.documentCount).toBe(10);
  });

  test("that is cancelled, or whose documents fail, leaves nothing behind", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const controller = new AbortController();
    const cancelled = buildIndex(() => manyDocuments(2000), {
      ...options(path),
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    expect(await failureOf(cancelled)).toMatchObject({ code: "cancelled" });
    async function* failing(): AsyncGenerator<SourceDocument> {
      yield* manyDocuments(100);
      throw new Failure("unreadable_input", "gone");
    }
    expect(await failureOf(buildIndex(failing, options(path)))).toMatchObject({ code: "unreadable_input" });
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test("reports what the worker could not do", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    mkdirSync(path);
    writeFileSync(join(path, "file"), "");
    expect(await failureOf(buildIndex(() => manyDocuments(5), options(path)))).toMatchObject({
      code: "unwritable_output",
    });
    const missing = { ...options(path), workerUrl: new URL("./no-worker.ts", import.meta.url) };
    expect(await failureOf(buildIndex(() => manyDocuments(5), missing))).toMatchObject({ code: "internal" });
  });

  test("gives up on a worker that hangs", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "index");
    const hanging = {
      ...options(path),
      workerUrl: new URL("../../support/search/hanging-worker.ts", import.meta.url),
      documentLimitMs: 200,
    };
    expect(await failureOf(buildIndex(() => manyDocuments(500), hanging))).toMatchObject({ code: "timeout" });
  });
});
