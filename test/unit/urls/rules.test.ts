import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileUrlRules, type PageUrl, parsePageUrl, parseUrlPrefix } from "../../../src/urls/index.ts";

const url = (text: string): PageUrl => parsePageUrl(text) as PageUrl; // literals that are URLs

describe("parseUrlPrefix", () => {
  test.each([
    ["ends with the host", "https://h.test", "https://h.test/"],
    ["ends within the host", "https://exam", "https://exam/"],
    ["ends with a port", "https://h.test:8443", "https://h.test:8443/"],
    ["ends with the default port", "https://h.test:443", "https://h.test/"],
    ["ends with the port's colon", "https://h.test:", "https://h.test/"],
    ["goes from host to query", "https://h.test?a", "https://h.test/?a"],
    ["has capitals in the host", " HTTPS://H.Test/Docs ", "https://h.test/Docs"],
    ["ends within a segment", "https://h.test/docs/v", "https://h.test/docs/v"],
    ["ends with a question mark", "https://h.test/search?", "https://h.test/search?"],
    ["ends within a query", "https://h.test/?page=", "https://h.test/?page="],
    ["ends within an escape", "https://h.test/%C", "https://h.test/%C"],
    ["is not encoded", "https://h.test/ä b", "https://h.test/%C3%A4%20b"],
    ["has dot segments", "https://h.test/a/../b", "https://h.test/b"],
    ["has a fragment", "https://h.test/a#part", "https://h.test/a"],
    ["has credentials", "https://user:secret@h.test/a", "https://h.test/a"],
    ["has credentials only in appearance", "https://h.test@evil.test", "https://evil.test/"],
    ["has tracking parameters", "https://h.test/a?utm_source=x&b=1", "https://h.test/a?b=1"],
    ["has only tracking parameters", "https://h.test/a?utm_source=x", "https://h.test/a"],
    ["ends within what may yet be another parameter", "https://h.test/a?gclid", "https://h.test/a?gclid"],
  ])("completes and canonicalises one that %s", (_, text, prefix) => {
    expect(parseUrlPrefix(text)).toBe(prefix);
  });

  test.each(["", "h.test", "/docs", "ftp://h.test/", "https://", "javascript:alert(1)", "x".repeat(9000)])(
    "refuses %j",
    (text) => {
      expect(parseUrlPrefix(text)).toBeNull();
    },
  );

  test("refuses a prefix longer than any URL", () => {
    expect(parseUrlPrefix(`https://h.test/${"x".repeat(8192)}`)).toBeNull();
  });

  test("is idempotent", () => {
    fc.assert(
      fc.property(anyUrl, (text) => {
        const prefix = parseUrlPrefix(text) ?? "";
        expect(parseUrlPrefix(prefix)).toBe(prefix);
      }),
    );
  });

  test("matches every URL that it was cut from, and no other origin", () => {
    fc.assert(
      fc.property(anyUrl, fc.nat(), (address, length) => {
        const cut = address.slice(0, new URL(address).origin.length + (length % 30));
        const prefix = parseUrlPrefix(cut) ?? "";
        expect(address.startsWith(prefix)).toBe(true);
        expect(new URL(prefix).origin).toBe(new URL(address).origin);
      }),
      { numRuns: 2000 },
    );
  });

  test("that is only the beginning of a host does not match the host", () => {
    fc.assert(
      fc.property(fc.domain(), fc.nat(), (host, length) => {
        const prefix = parseUrlPrefix(`https://${host.slice(0, length % host.length)}`);
        if (prefix !== null) expect(`https://${host}/`.startsWith(prefix)).toBe(false);
      }),
    );
  });
});

describe("compileUrlRules", () => {
  const origins = new Set(["https://h.test"]);
  const none: readonly string[] = [];

  test("admits every URL without rules and origins", () => {
    expect(
      compileUrlRules({ allowPrefixes: none, denyPrefixes: none })(url("http://x.test/"), null),
    ).toBeNull();
  });

  test("keeps to the given origins without allow prefixes", () => {
    const refusal = compileUrlRules({ allowPrefixes: none, denyPrefixes: none });
    expect(refusal(url("https://h.test/a"), origins)).toBeNull();
    expect(refusal(url("http://h.test/a"), origins)).toBe("foreign_origin");
    expect(refusal(url("https://h.test:8443/a"), origins)).toBe("foreign_origin");
    expect(refusal(url("https://h.test.evil.test/"), origins)).toBe("foreign_origin");
    expect(refusal(url("https://h.test/a"), new Set())).toBe("foreign_origin");
  });

  test("admits URLs that start with any allow prefix, whatever their origin", () => {
    const refusal = compileUrlRules({
      allowPrefixes: ["https://h.test/docs/", "https://other.test/"],
      denyPrefixes: none,
    });
    expect(refusal(url("https://h.test/docs/a"), origins)).toBeNull();
    expect(refusal(url("https://other.test/x"), origins)).toBeNull();
    expect(refusal(url("https://h.test/blog"), origins)).toBe("not_allowed");
    expect(refusal(url("https://h.test/docs"), origins)).toBe("not_allowed");
  });

  test("refuses URLs that start with a deny prefix, allowed or not", () => {
    const denyPrefixes = ["https://h.test/docs/old"];
    const allowed = compileUrlRules({ allowPrefixes: ["https://h.test/docs/"], denyPrefixes });
    expect(allowed(url("https://h.test/docs/old/a"), origins)).toBe("denied");
    expect(allowed(url("https://h.test/docs/older"), origins)).toBe("denied");
    expect(allowed(url("https://h.test/docs/new"), origins)).toBeNull();
    const open = compileUrlRules({ allowPrefixes: none, denyPrefixes });
    expect(open(url("https://h.test/docs/old"), origins)).toBe("denied");
  });

  test("checks allow before deny, and deny before origin", () => {
    const denyPrefixes = ["https://x.test/"];
    const allowing = compileUrlRules({ allowPrefixes: ["https://h.test/"], denyPrefixes });
    expect(allowing(url("https://x.test/"), origins)).toBe("not_allowed");
    const open = compileUrlRules({ allowPrefixes: none, denyPrefixes });
    expect(open(url("https://x.test/"), origins)).toBe("denied");
  });

  test("does not read a completed prefix as the start of a longer host", () => {
    const prefix = parseUrlPrefix("https://example.test") ?? "";
    const refusal = compileUrlRules({ allowPrefixes: [prefix], denyPrefixes: none });
    expect(refusal(url("https://example.test/a"), null)).toBeNull();
    expect(refusal(url("https://example.test.evil.test/"), null)).toBe("not_allowed");
    expect(refusal(url("https://example.test:8443/"), null)).toBe("not_allowed");
  });
});

const tail = fc
  .array(fc.constantFrom(..."aB/.?&=%~+", "..", "%C3%A4", "gclidx=1", "utm_", "//"), { maxLength: 12 })
  .map((parts) => parts.join(""));
const anyUrl = fc
  .tuple(fc.constantFrom("https://h.test", "http://h.test:8080", "https://[::1]"), tail)
  .map(([origin, path]) => parsePageUrl(`${origin}/${path}`))
  .filter((address) => address !== null);
