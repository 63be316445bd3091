import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import {
  importDocuments,
  importedFrom,
  packDocuments,
  readDocumentsFile,
} from "../../../src/search/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const place = temporaryDirectory();
afterAll(() => place[Symbol.dispose]());
let count = 0;
const fresh = (): string => join(place.path, String(count++));
const never = new AbortController().signal;
const ABOUT = {
  name: "Manual",
  description: null,
  source: "https://h.test/",
  licence: "MIT",
  version: "2.1",
  date: "2026-11-30T00:00:00.000Z",
};

function folderOf(documents: ReadonlyMap<string, Uint8Array>): string {
  const folder = fresh();
  mkdirSync(folder);
  for (const [path, bytes] of documents) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

async function fileOf(documents: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const file = fresh();
  const paths = [...documents.keys()];
  const about = { ...ABOUT, documents: paths.length };
  writeFileSync(
    file,
    Buffer.concat(await Array.fromAsync(packDocuments(folderOf(documents), { paths, about }, never))),
  );
  return file;
}

const sourceOf = (path: string) => ({ name: path, stream: () => Bun.file(path).stream() });
const unpack = (file: string, folder: string) =>
  importDocuments(sourceOf(file), { folder, agrees: async () => true }, never);

/** A file of these lines, with the checksum that belongs to them unless another is given. */
function written(lines: readonly unknown[], sum?: string): string {
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  const sha256 = sum ?? new Bun.CryptoHasher("sha256").update(text).digest("hex");
  const file = fresh();
  writeFileSync(file, Bun.gzipSync(`${text}${sum === "" ? "" : `${JSON.stringify({ sha256 })}\n`}`));
  return file;
}
const FIRST = { article_extractor_documents: 1, ...ABOUT, documents: 1 };
const page = (path: string) => ({ path, text: "# A\n" });

const name = fc.stringMatching(/^[a-zA-ZäñЖ中0-9_-]{1,12}$/u);
const documents = fc
  .dictionary(
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join("/")}.md`),
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
    ),
    { maxKeys: 8 },
  )
  .map((files) => {
    // A name in two cases is one file on some disks.
    const byKey = new Map(
      Object.entries(files).map(([path, bytes]) => [path.normalize("NFKC").toLowerCase(), { path, bytes }]),
    );
    return new Map([...byKey.values()].map(({ path, bytes }) => [path, new Uint8Array(bytes)]));
  });

describe("a file of documents", () => {
  test("gives back all documents, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (files) => {
        const target = fresh();
        const about = await unpack(await fileOf(files), target);
        expect(about).toEqual({ ...ABOUT, documents: files.size });
        const back = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) =>
          entry.isFile(),
        );
        // What it said of them lies beside them, out of the way of the index.
        expect(back.length).toBe(files.size + 1);
        expect(await importedFrom(target)).toEqual(about);
        for (const [path, bytes] of files)
          expect([path, new Uint8Array(readFileSync(join(target, path)))]).toEqual([path, bytes]);
      }),
      { numRuns: 60 },
    );
  });

  test("is refused wherever a byte is missing or another, and leaves nothing", async () => {
    const file = await fileOf(
      new Map([
        ["a.md", Buffer.from("# A\n\nText.\n")],
        ["b/c.md", Buffer.from("# C\n")],
      ]),
    );
    const whole = readFileSync(file);
    const broken = fresh();
    for (let at = 0; at < whole.length; at++) {
      writeFileSync(broken, whole.subarray(0, at));
      await expect(unpack(broken, fresh())).rejects.toMatchObject({ code: "unreadable_input" });
      const other = Uint8Array.from(whole);
      other[at] = other[at]! ^ 0x41;
      writeFileSync(broken, other);
      const target = fresh();
      // Time, system and flags in the head of gzip mean nothing for its content.
      const isSame = await unpack(broken, target).then(
        () => true,
        () => false,
      );
      expect([at, isSame]).toEqual([at, isSame && at >= 4 && at <= 9]);
      expect([at, existsSync(target)]).toEqual([at, isSame]);
    }
    expect(readdirSync(place.path).filter((entry) => entry.startsWith("."))).toEqual([]);
  });

  test.each([
    "../a.md",
    "/etc/a.md",
    "a/../../b.md",
    "a//b.md",
    "a\\b.md",
    ".git/hooks/a.md",
    ".g\u200cit/config.md",
    "a\u0000.md",
    "a/.article-extractor/search.md",
    "",
    `${"x".repeat(300)}.md`,
  ])("is refused with the path %p", async (path) => {
    const target = fresh();
    const failure = unpack(written([FIRST, page(path)]), target);
    await expect(failure).rejects.toMatchObject({
      code: "unreadable_input",
      message: expect.stringContaining("is no path for a document"),
    });
    expect(existsSync(target)).toBeFalse();
  });

  test.each<[string, readonly unknown[], string | undefined, string]>([
    ["nothing", [], undefined, "its format"],
    ["another format", [{ ...FIRST, article_extractor_documents: 2 }], undefined, 'its format is "2", not 1'],
    ["no name", [{ ...FIRST, name: 1 }], undefined, "its first line says too little"],
    ["no JSON", [FIRST, "# A"], undefined, "a line is no JSON object"],
    ["no text", [FIRST, { path: "a.md" }], undefined, '"a.md" has no text'],
    [
      "one file twice",
      [{ ...FIRST, documents: 2 }, page("a.md"), page("A.md")],
      undefined,
      '"A.md" is there twice',
    ],
    [
      "a file that is a folder too",
      [{ ...FIRST, documents: 2 }, page("a.md/b.md"), page("A.md")],
      undefined,
      '"A.md" is a file and a folder',
    ],
    [
      "a folder that is a file too",
      [{ ...FIRST, documents: 2 }, page("a"), page("A/b/c.md")],
      undefined,
      '"A/b/c.md" is a file and a folder',
    ],
    ["too few documents", [{ ...FIRST, documents: 2 }, page("a.md")], undefined, "it has 1 of 2 documents"],
    ["another checksum", [FIRST, page("a.md")], "0".repeat(64), "its checksum is another"],
    ["no checksum", [FIRST, page("a.md")], "", "it ends too early"],
    ["more behind it", [FIRST, { sha256: "x" }, page("a.md")], undefined, "it goes on after its checksum"],
  ])("is refused with %s", async (_, lines, sum, reason) => {
    const failure = readDocumentsFile(sourceOf(written(lines, sum)));
    await expect(failure).rejects.toMatchObject({
      code: "unreadable_input",
      message: expect.stringContaining(reason),
    });
  });

  test("that unpacks without end is given up", async () => {
    const bomb = fresh();
    writeFileSync(bomb, Bun.gzipSync(new Uint8Array(200 * 1024 ** 2).fill(32)));
    const failure = readDocumentsFile(sourceOf(bomb));
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining("more than 128 MiB") });
  });

  test("is not unpacked without agreement, nor after an interruption, and what was killed is swept", async () => {
    const file = await fileOf(new Map([["a.md", Buffer.from("# A\n")]]));
    const place = folderOf(
      new Map([
        [".documents-1.tmp/a.md", Buffer.from("# Old\n")],
        [".documents-2.tmp/a.md", Buffer.from("# New\n")],
      ]),
    );
    const longAgo = Date.now() / 1000 - 100_000;
    utimesSync(join(place, ".documents-1.tmp"), longAgo, longAgo);
    const folder = join(place, "there");
    const seen: string[][] = [];
    const agrees = async ({ paths }: { readonly paths: readonly string[] }) => {
      seen.push([...paths]);
      return false;
    };
    expect(await importDocuments(sourceOf(file), { folder, agrees }, never)).toBeNull();
    expect([seen, readdirSync(place)]).toEqual([[["a.md"]], [".documents-2.tmp"]]);
    const interrupted = importDocuments(
      sourceOf(file),
      { folder, agrees },
      AbortSignal.abort(new Error("stop")),
    );
    await expect(interrupted).rejects.toThrow("stop");
    expect(readdirSync(place)).toEqual([".documents-2.tmp"]);
  });

  test("is not unpacked over other files", async () => {
    const folder = folderOf(new Map([["mine.md", Buffer.from("# Mine\n")]]));
    const file = await fileOf(new Map([["a.md", Buffer.from("# A\n")]]));
    await expect(unpack(file, folder)).rejects.toMatchObject({ code: "invalid_usage" });
    expect(readdirSync(folder)).toEqual(["mine.md"]);
  });
});
