import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { decodeWords } from "../../../src/cli/index.ts";
import { decodePath, hasRawBytes, pathBytes } from "../../../src/cli/words.ts";

const lossy = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  // Where UTF-8 begins and breaks off.
  fc
    .array(
      fc.constantFrom(
        0x41,
        0x80,
        0xbf,
        0xc0,
        0xc3,
        0xe0,
        0xa0,
        0x9f,
        0xed,
        0xef,
        0xbb,
        0xf0,
        0x90,
        0xf4,
        0x8f,
        0xff,
      ),
      { maxLength: 8 },
    )
    .map((bytes) => Uint8Array.from(bytes)),
);

describe("a path", () => {
  test("comes back byte for byte, whatever it is", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(Buffer.from(pathBytes(decodePath(bytes)))).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  test("is its own text where it is UTF-8, and has raw bytes where it is none", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const isText = Buffer.from(lossy(bytes)).equals(Buffer.from(bytes));
        const path = decodePath(bytes);
        expect(hasRawBytes(path)).toBe(!isText);
        if (isText) expect([path, pathBytes(path)]).toEqual([lossy(bytes), lossy(bytes)]);
      }),
      { numRuns: 2000 },
    );
  });

  test("of two that the runtime shows alike stays two", () => {
    expect(decodePath(Uint8Array.of(0xe9))).not.toBe(decodePath(Uint8Array.of(0xe8)));
  });
});

describe("the words of the command line", () => {
  const line = (words: readonly Uint8Array[]) =>
    Buffer.concat(words.flatMap((word) => [word, Uint8Array.of(0)]));
  const word = fc.uint8Array({ maxLength: 6 }).map((bytes) => bytes.map((byte) => byte || 1));

  test("are those of the system, with all their bytes", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const argv = words.map(lossy);
        const all = line([Buffer.from("/bin/program"), ...words]);
        expect(decodeWords(argv, () => all)).toEqual(words.map(decodePath));
      }),
    );
  });

  test("are the runtime's where the system shows none, or others, and where no byte is lost", () => {
    const argv = ["a", "b\ufffd"];
    expect(decodeWords(argv, () => null)).toEqual(argv);
    expect(decodeWords(argv, () => line([Buffer.from("x"), Buffer.from("b\ufffd")]))).toEqual(argv);
    expect(decodeWords(argv, () => Buffer.alloc(0))).toEqual(argv);
    const unread = (): never => {
      throw new Error("there is nothing to read again");
    };
    expect(decodeWords(["a", "é"], unread)).toEqual(["a", "é"]);
  });
});
