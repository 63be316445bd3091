import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { shownPath } from "../../../src/server/middleware/observe.ts";

/** Escapes a text as a whole, slashes and colons too, so many times. */
const escaped = (text: string, times: number): string =>
  times === 0 ? text : escaped(encodeURIComponent(text), times - 1);

describe("a path in the log", () => {
  test.each([
    ["/", "/"],
    ["/crawl/7/events", "/crawl/7/events"],
    ["/https://medium.com/@name/post", "/https://medium.com/@name/post"],
    ["/https://h/caf%C3%A9", "/https://h/caf%C3%A9"],
    ["/http:%252F%252Fuser:pw%2540host/", "/http://…@host/"],
    ["/http:/user:pw@host/", "/…@host/"],
    ["/https%3A%2F%2Fh%2Fp%3Ftoken%3Dpw", "/https://h/p…"],
    ["/https://h/p%3Ftoken=pw", "/https://h/p…"],
    ["/https://h/p%2523token=pw", "/https://h/p…"],
    [`/https://${"u".repeat(600)}:pw@host/`, "/https://…@host/"],
  ])("%s is shown as %s", (path, shown) => {
    expect(shownPath(path)).toBe(shown);
  });

  test("holds neither password nor query, however often they are escaped", () => {
    const secret = fc.stringMatching(/^[a-z]{0,5}[@:/?#%]{0,2}sEcReT[a-z]{0,5}$/);
    fc.assert(
      fc.property(secret, secret, fc.integer({ min: 0, max: 12 }), (password, token, times) => {
        const url = `https://user:${encodeURIComponent(password)}@host.example/page?token=${token}`;
        expect(shownPath(`/${escaped(url, times)}`)).not.toContain("sEcReT");
      }),
    );
  });
});
