import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { meantUrl, parsePageUrl, withScheme } from "../../../src/urls/index.ts";

describe("withScheme", () => {
  test.each([
    ["localhost", "http"],
    ["localhost:3000/a", "http"],
    ["app.localhost/a", "http"],
    ["intranet/wiki", "http"],
    ["127.0.0.1:7101/a?b#c", "http"],
    ["10.0.0.1", "http"],
    ["[::1]:8080/", "http"],
    ["example.org:8080/a", "http"],
    ["example.org:80", "http"],
    ["example.org", "https"],
    ["example.org/a:8080", "https"],
    ["example.org?at=12:30", "https"],
    ["example.org:443", "https"],
    ["127.0.0.1:8443/", "https"],
    ["1.example.org", "https"],
    ["localhost.example.org", "https"],
  ])("completes %p with %s, as browsers do", (written, scheme) => {
    expect(withScheme(written)).toBe(`${scheme}://${written}`);
  });

  test("keeps what was written, and makes a page's address of each host", () => {
    fc.assert(
      fc.property(fc.webAuthority(), fc.webPath(), (authority, path) => {
        fc.pre(!authority.includes("@"));
        const whole = withScheme(`${authority}${path}`);
        expect(whole).toMatch(/^https?:\/\//);
        expect(whole.replace(/^https?:\/\//, "")).toBe(`${authority}${path}`);
        expect(parsePageUrl(whole)).not.toBeNull();
      }),
    );
  });
});

describe("meantUrl", () => {
  test.each([
    ["example.org/docs", "https://example.org/docs"],
    ["localhost:80/a", "http://localhost:80/a"],
    ["[::1]:3000", "http://[::1]:3000"],
    ["extract", null],
    ["crawll", null],
    ["", null],
    ["https://example.org", null],
    ["./page.html", null],
    ["page.html", null],
    ["example.org/page.html", "https://example.org/page.html"],
    ["two words", null],
  ])("takes %p for %p", (written, meant) => {
    expect(meantUrl(written)).toBe(meant);
  });
});
