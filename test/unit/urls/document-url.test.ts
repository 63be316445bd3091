import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DocsUrl, parseDocsUrl } from "../../../src/urls/document-url.ts";
import { docsUrl, parseDocumentUrl } from "../../../src/urls/index.ts";

describe("docsUrl", () => {
  test.each([
    ["guide/start.md", "docs://handbook/guide/start.md"],
    ["a b/c#d?e%.md", "docs://handbook/a%20b/c%23d%3Fe%25.md"],
    ["漢字.md", "docs://handbook/%E6%BC%A2%E5%AD%97.md"],
    ["half \ud800 pair.md", "docs://handbook/half%20%EF%BF%BD%20pair.md"],
  ])("makes the address of %j", (path, address) => {
    expect(docsUrl("handbook", path)).toBe(address as DocsUrl);
  });

  test("makes addresses that parseDocsUrl returns unchanged", () => {
    fc.assert(
      fc.property(codename, fc.array(segment, { minLength: 1, maxLength: 5 }), (name, segments) => {
        const address = docsUrl(name, segments.join("/"));
        expect(parseDocsUrl(address)).toBe(address);
        expect(parseDocumentUrl(address)).toBe(address);
      }),
      { numRuns: 2000 },
    );
  });

  test("makes different addresses of different paths", () => {
    fc.assert(
      fc.property(segment, segment, (one, other) => {
        fc.pre(one.toWellFormed() !== other.toWellFormed());
        expect(docsUrl("handbook", one)).not.toBe(docsUrl("handbook", other));
      }),
    );
  });
});

describe("parseDocsUrl", () => {
  test.each([
    ["blanks around it", " docs://handbook/a.md\n", "docs://handbook/a.md"],
    ["a fragment", "docs://handbook/a.md#part/x", "docs://handbook/a.md"],
    ["a path that is not encoded", "docs://handbook/a b/ä.md", "docs://handbook/a%20b/%C3%A4.md"],
    ["needless and lower-case escapes", "docs://handbook/%61%c3%a4.md", "docs://handbook/a%C3%A4.md"],
    ["a hidden file", "docs://handbook/.github/a.md", "docs://handbook/.github/a.md"],
    ["three dots", "docs://handbook/.../a", "docs://handbook/.../a"],
    ["dots that are encoded twice", "docs://handbook/%252e%252e/a", "docs://handbook/%252e%252e/a"],
    ["a backslash in a name", "docs://handbook/a%5Cb", "docs://handbook/a%5Cb"],
  ])("makes the canonical form of %s", (_, text, canonical) => {
    expect(parseDocsUrl(text)).toBe(canonical as DocsUrl);
  });

  test.each([
    ["no path", "docs://handbook/"],
    ["no slash", "docs://handbook"],
    ["only a fragment", "docs://handbook/#part"],
    ["a codename of one letter", "docs://h/a"],
    ["a codename in capitals", "docs://Handbook/a"],
    ["a codename that begins with a digit", "docs://1book/a"],
    ["a codename of 65 characters", `docs://${"h".repeat(65)}/a`],
    ["another scheme", "doc://handbook/a"],
    ["a parent segment", "docs://handbook/a/../../etc/passwd"],
    ["a final parent segment", "docs://handbook/a/.."],
    ["an encoded parent segment", "docs://handbook/%2e%2E/etc/passwd"],
    ["a half-encoded parent segment", "docs://handbook/.%2e/etc/passwd"],
    ["a parent segment behind a backslash", "docs://handbook/a%5C..%5C..%5Cx"],
    ["a parent segment before a raw backslash", "docs://handbook/..\\x"],
    ["a dot segment", "docs://handbook/./a"],
    ["an empty segment", "docs://handbook/a//b"],
    ["a leading slash in the path", "docs://handbook//etc/passwd"],
    ["an encoded slash", "docs://handbook/..%2Fetc%2Fpasswd"],
    ["a NUL", "docs://handbook/a%00.md"],
    ["bytes that are no UTF-8", "docs://handbook/%FF"],
    ["a lone percent sign", "docs://handbook/100%"],
    ["a line break", "docs://handbook/a\nb"],
    ["more than 16 384 characters", `docs://handbook/${"a".repeat(16_384)}`],
  ])("refuses %s", (_, text) => {
    expect(parseDocsUrl(text)).toBeNull();
  });

  test("is idempotent, and its path never leaves the root", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const once = parseDocsUrl(`docs://handbook/${path}`);
        if (once === null) return;
        expect(parseDocsUrl(once)).toBe(once);
        const segments = once.slice("docs://handbook/".length).split("/").map(decodeURIComponent);
        for (const part of segments.flatMap((one) => one.split(/[/\\]/))) expect(part).not.toBe("..");
      }),
      { numRuns: 3000 },
    );
  });
});

describe("parseDocumentUrl", () => {
  test("accepts addresses of documents and of pages", () => {
    expect(parseDocumentUrl("docs://handbook/a.md#b")).toBe("docs://handbook/a.md" as DocsUrl);
    expect(String(parseDocumentUrl("HTTPS://h.test#b"))).toBe("https://h.test/");
  });

  test.each(["", "a.md", "file:///a.md", "docs:///a.md", "docs://handbook/../a"])("refuses %j", (text) => {
    expect(parseDocumentUrl(text)).toBeNull();
  });
});

const codename = fc.stringMatching(/^[a-z][a-z0-9_-]{1,63}$/);
const segment = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1 }),
    fc.constantFrom("a b", "#", "?", "%", "%2e", "...", "'()*!~"),
  )
  .filter((text) => !/[/\\\0]/.test(text) && text !== "." && text !== "..");
const anyPath = fc
  .array(fc.constantFrom(..."a./\\%#? ", "..", "%2e", "%2F", "%5C", "%00", "%25", "ä"), { maxLength: 12 })
  .map((parts) => parts.join(""));
