import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type PageUrl, parsePageUrl, resolveHref, splitCredentials } from "../../../src/urls/index.ts";

const base = parsePageUrl("https://h.test/docs/start?x=1") as PageUrl; // a literal that is a URL

describe("parsePageUrl", () => {
  test.each([
    ["scheme and host in capitals", "HTTPS://H.Test/A", "https://h.test/A"],
    ["a default port", "https://h.test:443/", "https://h.test/"],
    ["the default port of http", "http://h.test:80/", "http://h.test/"],
    ["another port", "https://h.test:80/", "https://h.test:80/"],
    ["no path", "https://h.test", "https://h.test/"],
    ["a fragment", "https://h.test/a#part", "https://h.test/a"],
    ["an empty fragment", "https://h.test/a#", "https://h.test/a"],
    ["an empty query", "https://h.test/a?", "https://h.test/a"],
    ["an empty query before a fragment", "https://h.test/a?#part", "https://h.test/a"],
    ["credentials", "https://user:secret@h.test/a", "https://h.test/a"],
    ["dot segments", "https://h.test/a/./b/../c", "https://h.test/a/c"],
    ["encoded dot segments", "https://h.test/a/%2e%2E/c", "https://h.test/c"],
    ["backslashes", "https:\\\\h.test\\a\\b", "https://h.test/a/b"],
    ["blanks around it", " \n https://h.test/a\t ", "https://h.test/a"],
    ["line breaks within it", "https://h.test/a\nb\tc", "https://h.test/abc"],
    ["a host outside ASCII", "https://MÜNCHEN.test/ä", "https://xn--mnchen-3ya.test/%C3%A4"],
    ["a decimal address", "http://2130706433/", "http://127.0.0.1/"],
    ["an IPv6 address", "http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"],
    ["a trailing slash, which the site may need", "https://h.test/a/", "https://h.test/a/"],
    ["the order of the query", "https://h.test/?b=2&a=1&b=1", "https://h.test/?b=2&a=1&b=1"],
    [
      "escapes as the site writes them",
      "https://h.test/%7Ea/%41?q=a+b%20c",
      "https://h.test/%7Ea/%41?q=a+b%20c",
    ],
    ["empty parameters", "https://h.test/?&a&&b=", "https://h.test/?&a&&b="],
  ])("makes the canonical form of %s", (_, text, canonical) => {
    expect(parsePageUrl(text)).toBe(canonical as PageUrl);
  });

  test.each([
    "",
    "   ",
    "h.test/a",
    "/a",
    "//h.test/a",
    "https://",
    "https:///",
    "ftp://h.test/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "mailto:a@h.test",
    "docs://handbook/a",
    "https://h.test:99999/",
    "https://h test/",
    "https://[::1/",
    "https://256.256.256.256/",
    "https://a%00b/",
  ])("refuses %j", (text) => {
    expect(parsePageUrl(text)).toBeNull();
  });

  test.each([
    ["next", "https://h.test/docs/next"],
    ["../up", "https://h.test/up"],
    ["/root", "https://h.test/root"],
    ["//other.test/a", "https://other.test/a"],
    ["?y=2", "https://h.test/docs/start?y=2"],
    ["#part", "https://h.test/docs/start?x=1"],
    ["", "https://h.test/docs/start?x=1"],
    ["http://other.test", "http://other.test/"],
    ["mailto:a@h.test", null],
  ])("resolves %j against the base", (text, canonical) => {
    expect(parsePageUrl(text, base)).toBe(canonical as PageUrl | null);
  });

  test("accepts up to 8192 characters, before and after parsing", () => {
    const start = "https://h.test/";
    const longest = start + "x".repeat(8192 - start.length);
    expect(parsePageUrl(longest)).toBe(longest as PageUrl);
    expect(parsePageUrl(`${longest}x`)).toBeNull();
    expect(parsePageUrl(`${start}${"ä".repeat(2000)}`)).toBeNull();
    expect(parsePageUrl("x".repeat(8192), base)).toBeNull();
  });

  test("is idempotent", () => {
    fc.assert(
      fc.property(anyUrlText, (text) => {
        const once = parsePageUrl(text);
        if (once !== null) expect(parsePageUrl(once)).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });

  test("gives variants of one URL one form", () => {
    fc.assert(
      fc.property(
        canonicalUrl,
        fc.array(variation, { minLength: 1, maxLength: 4 }),
        (canonical, variations) => {
          const variant = variations.reduce((text, vary) => vary(text), canonical as string);
          expect(parsePageUrl(variant)).toBe(canonical);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("never lets a fragment, credentials or another scheme through", () => {
    fc.assert(
      fc.property(anyUrlText, (text) => {
        const canonical = parsePageUrl(text);
        if (canonical !== null) expect(canonical).toMatch(/^https?:\/\/[^/?#@]+\/[^#]*$/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("tracking parameters", () => {
  test.each([
    ["?utm_source=x", ""],
    ["?utm_source=x&utm_medium=y&gclid=z", ""],
    ["?a=1&utm_source=x&b=2", "?a=1&b=2"],
    ["?utm_source=x&a=1", "?a=1"],
    ["?UTM_Source=x&FBCLID=y&a=1", "?a=1"],
    ["?utm%5Fsource=x&%66bclid=y&a=1", "?a=1"],
    ["?fbclid&a", "?a"],
    ["?msclkid=1&mc_eid=2&_hsenc=3&yclid=4", ""],
    ["?utm_source=x#part", ""],
    ["??a=1&utm_source=x", "??a=1"],
    ["?utm_source=x&?a=1", "??a=1"],
  ])("turns %j into %j", (query, kept) => {
    expect(parsePageUrl(`https://h.test/a${query}`)).toBe(`https://h.test/a${kept}` as PageUrl);
  });

  test.each(["?utm=1", "?my_utm_source=1", "?gclid2=1", "?ref=utm_source=x", "?source=fbclid", "?utm_%=1"])(
    "keeps %j",
    (query) => {
      expect(parsePageUrl(`https://h.test/a${query}`)).toBe(`https://h.test/a${query}` as PageUrl);
    },
  );

  test("makes no difference wherever it stands in any query", () => {
    fc.assert(
      fc.property(canonicalUrl, trackingPair, fc.nat(), (canonical, pair, position) => {
        const [path = "", query] = canonical.split(/\?(.*)/s);
        const pairs = query === undefined ? [] : query.split("&");
        const at = position % (pairs.length + 1);
        const longer = [...pairs.slice(0, at), pair, ...pairs.slice(at)].join("&");
        expect(parsePageUrl(`${path}?${longer}`)).toBe(canonical);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("resolveHref", () => {
  test.each([
    ["../a?utm_source=x#part", "https://h.test/a?utm_source=x#part"],
    ["#part", "https://h.test/docs/start?x=1#part"],
    ["mailto:a@h.test", "mailto:a@h.test"],
    ["tel:+123", "tel:+123"],
    ["ftp://h.test/a", "ftp://h.test/a"],
    ["javascript:alert(1)", null],
    ["JavaScript:alert(1)", null],
    [" java\nscript:alert(1)", null],
    ["\u0001javascript:alert(1)", null],
    ["vbscript:x", null],
    ["data:text/html,x", null],
    ["file:///etc/passwd", null],
    ["blob:https://h.test/1", null],
    ["https://h test/", null],
  ])("makes %j %j", (href, absolute) => {
    expect(resolveHref(href, base)).toBe(absolute);
  });

  test("needs an absolute reference when there is no base", () => {
    expect(resolveHref("/a", null)).toBeNull();
    expect(resolveHref("https://h.test/a#part", null)).toBe("https://h.test/a#part");
  });

  test("refuses a reference of more than 8192 characters", () => {
    expect(resolveHref("x".repeat(8193), base)).toBeNull();
  });
});

describe("splitCredentials", () => {
  test("leaves a URL without credentials unchanged", () => {
    expect(splitCredentials(" https://h.test/a#part ")).toEqual({
      url: "https://h.test/a#part",
      authorization: null,
    });
  });

  test.each([
    ["https://user:secret@h.test/a", "user:secret"],
    ["https://user@h.test/a", "user:"],
    ["https://:secret@h.test/a", ":secret"],
    ["https://us%40er:p%3Ass%2F@h.test/a", "us@er:p:ss/"],
    ["https://jos%C3%A9:%E2%82%AC@h.test/a", "josé:€"],
    ["https://user:100%@h.test/a", "user:100%"],
  ])("takes the credentials of %j out of the URL", (text, pair) => {
    expect(splitCredentials(text)).toEqual({
      url: "https://h.test/a",
      authorization: `Basic ${Buffer.from(pair).toString("base64")}`,
    });
  });

  test("refuses everything except http and https URLs", () => {
    expect(splitCredentials("ftp://user:secret@h.test/")).toBeNull();
    expect(splitCredentials("h.test")).toBeNull();
  });
});

const piece = fc.constantFrom(
  ..."aA1/.?&=#%@:;+~ \\|'\"<^`{ä漢🙂",
  "..",
  "%2e",
  "%2F",
  "%zz",
  "%C3%A4",
  "utm_source=x",
  "gclid",
  "\n",
  "\ud800",
);
const pieces = fc.array(piece, { maxLength: 15 }).map((parts) => parts.join(""));
const origin = fc.constantFrom(
  "https://h.test",
  "HTTP://H.TEST:80",
  "https://u:p@h.test:8443",
  "http://[::1]",
  "https://MÜNCHEN.test",
  "http://0x7f.1",
  "https://h.test.",
);
const anyUrlText = fc.oneof(
  fc.tuple(origin, pieces).map((parts) => parts.join("/")),
  fc.tuple(origin, pieces).map((parts) => parts.join("")),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
);
const canonicalUrl = anyUrlText.map((text) => parsePageUrl(text)).filter((url) => url !== null);

const trackingPair = fc.constantFrom(
  ..."utm_source=a UTM_ID=1 fbclid=x%20y gclid utm%5fterm= s_cid=1".split(" "),
);

// Each writes a canonical URL in another way.
const variation: fc.Arbitrary<(text: string) => string> = fc.constantFrom(
  (text) => ` ${text}\n`,
  (text) => text.replace(/#.*|$/s, "#part"),
  (text) => text.replace(/^https?:\/\/[^/]+/, (start) => start.toUpperCase()),
  (text) => text.replace(/^(https?:\/\/)([^/@]+)\//i, "$1user:secret@$2/"),
  (text) => text.replace(/^(https?:\/\/[^/]+)\//i, "$1/./"),
  (text) => text.replace(/^(https?:\/\/[^/]+)\//i, "$1/x/../"),
  (text) => text.replace(/^(https:\/\/[^/:]+)\//i, "$1:443/"),
  (text) => text.replace(/^https?:\/\//i, (start) => start.replaceAll("/", "\\")),
);
