import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { binaryBody } from "../../../src/fetching/charset/content-type.ts";
import { type FaultySite, type Route, reply, startFaultySite } from "../../support/faulty-site.ts";
import { failureOf, pageUrl, testFetcher } from "../../support/test-fetcher.ts";

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
const noise = deflateRawSync(Buffer.from(Array.from({ length: 6000 }, (_, index) => (index * index) % 251)));
const startingWith = (start: string): Buffer => Buffer.concat([bytes(start), noise]);

const FILES: Readonly<Record<string, Uint8Array>> = {
  "PDF of text alone": bytes("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n"),
  "PDF after line breaks": bytes("\r\n\n%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
  PostScript: bytes("%!PS-Adobe-3.0\n%%Pages: 1\n"),
  PNG: startingWith("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
  JPEG: startingWith("\xff\xd8\xff\xe0\0\x10JFIF\0"),
  GIF: startingWith("GIF89a\x01\0\x01\0\x80\0\0"),
  WebP: startingWith("RIFF\x10\0\0\0WEBPVP8 "),
  ZIP: startingWith("PK\x03\x04\x14\0\0\0\x08\0"),
  "empty ZIP": bytes("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
  gzip: gzipSync("words ".repeat(100)),
  zstd: zstdCompressSync("words ".repeat(100)),
  "an old Word file": startingWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
  MP4: startingWith("\0\0\0\x20ftypisom"),
  MP3: startingWith("ID3\x04\0\0\0\0"),
  program: startingWith("\x7fELF\x02\x01\x01\0"),
  SQLite: startingWith("SQLite format 3\0"),
  "compressed bytes without a name": noise,
};
const TEXTS: Readonly<Record<string, Uint8Array>> = {
  empty: bytes(""),
  HTML: bytes("<!doctype html><p>Words"),
  "words about GIF89a": bytes("GIF89a is a format, PK\\x03\\x04 begins another, BM a third."),
  "a stray control character": bytes("<p>a\x08b"),
  "few control characters": bytes(`<p>\0\0\0\0${"words and words ".repeat(20)}`),
  "UTF-16": Buffer.from("<!doctype html><p>Words", "utf16le"),
  "UTF-16 with a mark": bytes("\xfe\xff\0<\0p\0>\0a"),
  "windows-1251": bytes(`<p>${"\xcc\xe5\xeb\xfc\xed\xe8\xf6\xe0 ".repeat(20)}`),
  "ISO-2022-JP": bytes("<p>\x1b$B$3$l$O\x1b(B</p>"),
  "a form feed and tabs": bytes("\f\tWords\r\n"),
};

describe("what a body is", () => {
  test.each(Object.entries(FILES))("%s is no text", (_, body) => expect(binaryBody(body)).not.toBeNull());
  test.each(Object.entries(TEXTS))("%s may be text", (_, body) => expect(binaryBody(body)).toBeNull());
  test("text of any script may be text", () => {
    const text = fc.string({ unit: "grapheme-composite" }).map((words) => words.replace(/\p{Cc}/gu, " "));
    fc.assert(fc.property(text, (words) => binaryBody(new TextEncoder().encode(`<p>${words}`)) === null));
  });
});

describe("a body that is not what its type says", () => {
  const types = ["text/html", "application/xhtml+xml", "text/plain; charset=utf-8", "text/markdown"];
  let site: FaultySite;
  beforeAll(async () => {
    const routes = Object.values(FILES).map((body, index): [string, Route] => [
      `/${index}`,
      ({ socket, url }) =>
        reply(socket, {
          status: Number(url.searchParams.get("status") ?? 200),
          body,
          headers: { "content-type": url.searchParams.get("type") ?? "text/html" },
        }),
    ]);
    site = await startFaultySite({ routes: Object.fromEntries(routes) });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.each(Object.keys(FILES).map((name, index) => [name, index] as const))(
    "%s is unsupported_content, of an answer with a status",
    async (_, index) => {
      const type = types[index % types.length]!;
      await using fetcher = testFetcher({ limits: { tries: 1 } });
      const url = pageUrl(`${site.origin}/${index}?type=${encodeURIComponent(type)}`);
      const failure = await failureOf(fetcher.fetch(url));
      expect([failure?.code, failure?.targetStatus]).toEqual(["unsupported_content", 200]);
      expect(failure?.message).toEndWith(`, though its type says ${type.split(";")[0]}`);
    },
  );

  test("is still an answer when the status is an error", async () => {
    await using fetcher = testFetcher({ limits: { tries: 1 } });
    const page = await fetcher.fetch(pageUrl(`${site.origin}/0?status=404`));
    expect([page.status, page.html]).toEqual([404, ""]);
  });
});
