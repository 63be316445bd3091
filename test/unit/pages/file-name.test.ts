import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fileNameKey, pageFileName } from "../../../src/pages/catalog.ts";
import { type DocumentUrl, docsUrl, parseDocumentUrl } from "../../../src/urls/index.ts";

const url = (text: string): DocumentUrl => {
  const parsed = parseDocumentUrl(text);
  if (!parsed) throw new Error(`the test's own URL is wrong: ${text}`);
  return parsed;
};
const free = (): boolean => false;
const nameOf = (text: string): string => pageFileName(url(text), free);

describe("pageFileName", () => {
  test.each([
    ["https://h.test/", "h.test.md"],
    ["https://h.test/a/b", "h.test__a__b.md"],
    ["https://h.test/a/b/", "h.test__a__b__.md"],
    ["https://h.test/a.html", "h.test__a.html.md"],
    ["https://h.test:8443/a", "h.test_8443__a.md"],
    ["https://h.test/?p=1", "h.test_q_p=1.md"],
    ["https://h.test/a?p=1&q=x%20y", "h.test__a_q_p=1&q=x y.md"],
    ["https://h.test/caf%C3%A9/%E6%BC%A2%E5%AD%97", "h.test__café__漢字.md"],
    ["https://h.test/%F0%9F%99%82", "h.test__🙂.md"],
    ["https://h.test/my%20page", "h.test__my page.md"],
    ["https://h.test/a//b", "h.test__a____b.md"],
    ["https://h.test/a/_b", "h.test__a___b.md"],
    ["https://h.test/snake_case", "h.test__snake_case.md"],
    ["https://m\u00fcnchen.test/", "xn--mnchen-3ya.test.md"],
    ["http://[2001:db8::1]:8080/a", "[2001_db8__1]_8080__a.md"],
    ["docs://handbook/guide/start.md", "handbook__guide__start.md.md"],
  ])("names %s %s", (address, name) => {
    expect(nameOf(address)).toBe(name);
  });

  test.each([
    ["an encoded slash", "https://h.test/a%2Fb", "h.test__a%2Fb.md"],
    ["an encoded backslash", "https://h.test/a%5Cb", "h.test__a%5Cb.md"],
    ["an encoded control character", "https://h.test/a%0Ab", "h.test__a%0Ab.md"],
    ["an encoded percent sign", "https://h.test/100%25", "h.test__100%25.md"],
    ["a right-to-left override", "https://h.test/a%E2%80%AEb", "h.test__a%E2%80%AEb.md"],
    ["a zero-width space", "https://h.test/a%E2%80%8Bb", "h.test__a%E2%80%8Bb.md"],
    ["a no-break space", "https://h.test/a%C2%A0b", "h.test__a%C2%A0b.md"],
    ["bytes that are no UTF-8", "https://h.test/a%FF%C3b", "h.test__a%FF%C3b.md"],
    ["a lone percent sign", "https://h.test/100%", "h.test__100%.md"],
  ])("keeps %s as it is written", (_, address, name) => {
    expect(nameOf(address)).toBe(name);
  });

  test.each([
    ["a literal separator", "https://h.test/a__b", "h.test__a__b-"],
    ["a segment that ends in an underscore", "https://h.test/a_/b", "h.test__a___b-"],
    ["a literal query mark", "https://h.test/a_q_b", "h.test__a_q_b-"],
    ["a host that reads as one with a port", "https://h_8080/", "h_8080-"],
    ["a host that reads as a host and a path", "https://h__a/", "h__a-"],
    ["a colon in the path", "https://h.test/Talk:Page", "h.test__Talk_Page-"],
    ["characters that Windows refuses", "https://h.test/a|b*c", "h.test__a_b_c-"],
    ["a slash in the query", "https://h.test/?u=a/b", "h.test_q_u=a_b-"],
    ["a device name of Windows", "https://con/", "_con-"],
    ["a device name with an extension", "https://nul.example/x", "_nul.example__x-"],
    ["a leading dot", "https://.h.test/", "_h.test-"],
    ["a leading dash", "https://-h.test/", "_h.test-"],
    ["a trailing dot", "https://h.test/a.", "h.test__a_-"],
    ["a trailing space", "https://h.test/a%20", "h.test__a_-"],
    ["two dots in a row", "https://h.test/a..b", "h.test__a_b-"],
  ])("adds a hash for %s", (_, address, start) => {
    const name = nameOf(address);
    expect(name.startsWith(start)).toBe(true);
    expect(name.slice(start.length)).toMatch(/^[0-9a-f]{10}\.md$/);
  });

  test("adds the same hash each time when the plain name is taken", () => {
    const taken = (name: string): boolean => name === "h.test__a.md";
    const name = pageFileName(url("https://h.test/a"), taken);
    expect(name).toMatch(/^h\.test__a-[0-9a-f]{10}\.md$/);
    expect(pageFileName(url("https://h.test/a"), taken)).toBe(name);
    expect(pageFileName(url("http://h.test/a"), taken)).not.toBe(name);
  });

  test("lengthens the hash when the hashed name is taken too", () => {
    const taken = (name: string): boolean => name.length < "h.test__a-0123456789.md".length + 1;
    expect(pageFileName(url("https://h.test/a"), taken)).toMatch(/^h\.test__a-[0-9a-f]{20}\.md$/);
  });

  test("says so when every name is taken", () => {
    expect(() => pageFileName(url("https://h.test/a"), () => true)).toThrow("is taken by another file");
  });

  test("keeps a name of exactly 240 bytes and shortens one of 241", () => {
    const path = "x".repeat(240 - "h.test__.md".length);
    expect(nameOf(`https://h.test/${path}`)).toBe(`h.test__${path}.md`);
    const longer = nameOf(`https://h.test/${path}x`);
    expect(longer).toMatch(/x-[0-9a-f]{10}\.md$/);
    expect(Buffer.byteLength(longer)).toBe(240);
  });

  test("cuts a long name between characters, not within one", () => {
    for (const padding of ["", "a", "ab", "abc"]) {
      const name = nameOf(`https://h.test/${padding}${encodeURIComponent("🙂".repeat(100))}`);
      expect(name).not.toContain("\ufffd");
      expect(name).toMatch(/🙂-[0-9a-f]{10}\.md$/u);
      expect(Buffer.byteLength(name)).toBeGreaterThan(236);
    }
  });
});

describe("pageFileName, for any URL", () => {
  test("makes a name of at most 240 bytes that every system accepts", () => {
    fc.assert(
      fc.property(anyUrl, (address) => {
        const name = pageFileName(address, free);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(240);
        expect(problemOf(name)).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  test("never gives two URLs one name, even where case and Unicode forms are folded", () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyUrl, { minLength: 2, maxLength: 20 }), (addresses) => {
        const keys = new Set<string>();
        for (const address of addresses) {
          keys.add(fileNameKey(pageFileName(address, (name) => keys.has(fileNameKey(name)))));
        }
        expect(keys.size).toBe(addresses.length);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("fileNameKey", () => {
  test.each([
    ["case", "README.md", "readme.md"],
    ["composed and decomposed letters", "caf\u00e9", "cafe\u0301"],
    ["sharp s and its capitals", "stra\u00dfe", "STRASSE"],
    ["the three sigmas", "\u03c3\u03c2", "\u03a3\u03a3"],
    ["variation selectors", "\u2764\ufe0f", "\u2764"],
    ["the Kelvin sign", "\u212a", "k"],
  ])("does not tell %s apart", (_, one, other) => {
    expect(fileNameKey(one)).toBe(fileNameKey(other));
  });

  test("tells different letters apart", () => {
    expect(fileNameKey("a.md")).not.toBe(fileNameKey("b.md"));
    expect(fileNameKey("e.md")).not.toBe(fileNameKey("\u00e9.md"));
  });
});

// Names are made of few characters, so that they often collide; the traps are over-represented.
const trickyText = fc
  .array(
    fc.constantFrom(
      ..."aAb_-.~ /:?&=|*%",
      "__",
      "_q_",
      "..",
      "%20",
      "%2e",
      "%2F",
      "%c3%a9",
      "%00",
      "é",
      "e\u0301",
      "ß",
      "ss",
      "漢",
      "🙂",
      "\u202e",
      "con",
      "NUL",
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

const host = fc.constantFrom("h", "H.test", "con", "h_80", "h:80", "h:8080", "-h", ".h", "[::1]", "aux.test");
const webUrl = fc
  .tuple(
    fc.constantFrom("http", "https"),
    host,
    fc.oneof(trickyText, fc.string({ unit: "binary", maxLength: 400 })),
  )
  .map(([scheme, name, path]) => parseDocumentUrl(`${scheme}://${name}/${path}`));
const documentUrl = trickyText.map((path) => parseDocumentUrl(docsUrl("handbook", path)));
const anyUrl = fc.oneof(webUrl, documentUrl).filter((address) => address !== null);

// These are the rules of Windows, macOS, Linux and of shells that read a leading dash as an option.
function problemOf(name: string): string | null {
  if (!name.endsWith(".md") || name === ".md") return "extension";
  if (/[/\\:*?"<>|]/.test(name)) return "forbidden character";
  if (/\p{C}/u.test(name)) return "invisible character";
  if (/^[.\- ~]/.test(name)) return "leading character";
  if (/\.\./.test(name)) return "two dots";
  if (/[. ]\.md$/.test(name)) return "trailing character";
  if (/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name)) return "device name";
  return null;
}
