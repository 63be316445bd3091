import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { Failure } from "../../../src/base/failure.ts";
import { decodeStream } from "../../../src/crawler/sitemap/open.ts";
import { readRecords } from "../../../src/crawler/sitemap/read-sitemaps.ts";

async function* cut(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

type Outcome = { readonly locs: readonly string[]; readonly failure: string | null };

async function read(bytes: Uint8Array, pieceLength: number): Promise<Outcome> {
  const locs: string[] = [];
  try {
    const opened = { bytes: cut(bytes, pieceLength), charset: null, base: null };
    for await (const records of readRecords(opened, "s")) locs.push(...records.map(({ loc }) => loc));
    return { locs, failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { locs, failure: error.message };
  }
}

const PARTS = [
  "<urlset>",
  "</urlset>",
  "<sitemapindex><sitemap>",
  "<url>",
  "</url>",
  "<loc>",
  "</loc>",
  "https://a.test/ä?a=1&b=2",
  "<lastmod>2026-01-01</lastmod>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "-->",
  "<?xml version='1.0' encoding='utf-16'?>",
  "<!DOCTYPE x [",
  "]>",
  "&amp;",
  "&",
  "<",
  '"',
  "\u0000",
  "\ufeff",
  " \r\n",
  "<rss><channel><item><link>",
  "<link href='/a'/>",
];

const document = fc.array(fc.oneof(fc.constantFrom(...PARTS), fc.string()), { maxLength: 40 });

test("whatever comes, reading ends with records or a Failure, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(document, fc.integer({ min: 1, max: 50 }), async (parts, length) => {
      const bytes = new TextEncoder().encode(parts.join(""));
      expect(await read(bytes, length)).toEqual(await read(bytes, bytes.length || 1));
    }),
    { numRuns: 500 },
  );
});

test("any bytes at all end the same way", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
      await read(bytes, 700);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["utf-16le", [0xff, 0xfe], "<a>水車</a>"],
  ["shift_jis", [], "<?xml version='1.0' encoding='shift_jis'?><a>\u6c34</a>"],
  ["gb18030", [], "<?xml version='1.0' encoding='gb18030'?><a>\u6c34</a>"],
])("%s is decoded in pieces of one byte as in one", async (encoding, mark, text) => {
  const encoded: Readonly<Record<string, Uint8Array>> = {
    "utf-16le": new Uint8Array(Buffer.from(text, "utf16le")),
    // U+6C34 in the two.
    shift_jis: new Uint8Array(Buffer.from(text.replace("\u6c34", "\u0090\u0085"), "latin1")),
    gb18030: new Uint8Array(Buffer.from(text.replace("\u6c34", "\u00cb\u00ae"), "latin1")),
  };
  const bytes = Buffer.concat([Buffer.from(mark), encoded[encoding] ?? Buffer.alloc(0)]);
  const pieces: string[] = [];
  for await (const piece of decodeStream(cut(bytes, 1), null)) pieces.push(piece);
  expect(pieces.join("").replace("\ufeff", "")).toBe(text);
});
