import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sniffPageType } from "../../../src/fetching/charset/content-type.ts";
import {
  formatIpAddress,
  networkHolds,
  parseIpAddress,
  parseIpNetwork,
} from "../../../src/fetching/egress/policy.ts";
import { DESKTOP_BROWSERS } from "../../../src/fetching/http/request-headers.ts";
import {
  backOffDelayMs,
  createEgress,
  displayUrl,
  parseEgressPolicy,
  productUserAgent,
  randomUserAgent,
  retryAfterMsOf,
} from "../../../src/fetching/index.ts";
import {
  type CookieChange,
  createCookieSession,
  type StoredCookie,
} from "../../../src/fetching/session/cookies.ts";
import { failureOf } from "../../support/test-fetcher.ts";

describe("Retry-After", () => {
  test.each([
    ["0", 0],
    ["120", 120_000],
    [" 5 ", 5000],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Thursday, 01-Jan-26 00:01:00 GMT", 60_000],
    ["Thu Jan  1 00:01:00 2026", 60_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["-5", null],
    ["2.5", null],
    ["soon", null],
    ["2026-01-01T00:01:00Z", null],
    ["99999999999", null],
    ["", null],
    [undefined, null],
  ])("%p is %p ms", (value, expected) => {
    expect(retryAfterMsOf({ "retry-after": value, date: "Thu, 01 Jan 2026 00:00:00 GMT" })).toBe(expected);
  });

  test("counts from this machine's time where the answer has no date", () => {
    const value = new Date(Date.now() + 60_000).toUTCString();
    expect(retryAfterMsOf({ "retry-after": value })).toBeWithin(50_000, 60_001);
  });
});

describe("back-off", () => {
  test("is spread over 1, 2, 4, 8 … s and never exceeds 60 s", () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 30].map((failed) => backOffDelayMs(failed, () => 1));
    expect(most).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(backOffDelayMs(5, () => 0)).toBe(0);
    expect(backOffDelayMs(3, () => 0.5)).toBe(2000);
  });
});

describe("user agents", () => {
  test("the product's names its version, and its home page when there is one", () => {
    const text = (homePage: string | null) => productUserAgent({ version: "1.2.3", homePage });
    expect(text("https://example.org/about")).toBe("article-extractor/1.2.3 (+https://example.org/about)");
    expect(text(null)).toBe("article-extractor/1.2.3");
  });

  test("a random one is from the list, even for the extreme random numbers", () => {
    expect(randomUserAgent(() => 0)).toBe(DESKTOP_BROWSERS[0]!);
    expect(randomUserAgent(() => 1)).toBe(DESKTOP_BROWSERS.at(-1)!);
    const seen = new Set(Array.from({ length: 1000 }, (_, n) => randomUserAgent(() => n / 1000)));
    expect(seen.size).toBe(DESKTOP_BROWSERS.length);
    for (const text of seen) expect(text).toMatch(/^Mozilla\/5\.0 \((Windows NT|Macintosh|X11)/);
  });
});

describe("IP addresses", () => {
  test("formatted addresses are read back, in both versions", () => {
    const value = (bits: number) => fc.bigInt(0n, (1n << BigInt(bits)) - 1n);
    const address = fc.oneof(
      value(32).map((number) => ({ version: 4 as const, value: number })),
      value(128).map((number) => ({ version: 6 as const, value: number })),
    );
    fc.assert(
      fc.property(address, (given) => {
        expect(parseIpAddress(formatIpAddress(given))).toEqual(given);
      }),
    );
  });

  test("the runtime's spelling of an IPv6 address is read as the same address", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const url = URL.parse(`http://[${text}]/`);
        fc.pre(url !== null);
        expect(parseIpAddress(url?.hostname ?? "")).toEqual(parseIpAddress(text));
      }),
    );
  });

  test.each([
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "256.1.1.1",
    "0x7f.0.0.1",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "::1%eth0",
    "12345::",
    "::1.2.3",
    "1.2.3.4::",
    "",
  ])("%j is no address", (text) => {
    expect(parseIpAddress(text)).toBeNull();
  });

  test.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["0.0.0.0/0", "8.8.8.8", true],
    ["0.0.0.0/0", "::1", false],
    ["::/0", "::1", true],
    ["fd00::/8", "fdff::1", true],
    ["1.2.3.4", "1.2.3.4", true],
    ["1.2.3.4", "1.2.3.5", false],
  ])("%s holds %s: %p", (network, address, expected) => {
    expect(networkHolds(parseIpNetwork(network)!, parseIpAddress(address)!)).toBe(expected);
  });
});

describe("the resolver's answers", () => {
  const counting = (ttlMs: number, now: () => number) => {
    let asked = 0;
    const egress = createEgress({
      policy: parseEgressPolicy("auto"),
      resolverTtlMs: ttlMs,
      now,
      resolve: async (host) => {
        asked++;
        await Bun.sleep(5);
        if (host === "fails.test") throw Object.assign(new Error(), { code: "EAI_AGAIN" });
        return ["93.184.215.14"];
      },
    });
    const admit = (host: string, signal?: AbortSignal) =>
      egress.admit(new URL(`http://${host}/`), { kind: "remote_request" }, signal);
    return { admit, asked: () => asked };
  };

  test("are kept for their time, and overlapping requests share one lookup", async () => {
    let now = 0;
    const { admit, asked } = counting(1000, () => now);
    await Promise.all([admit("a.test"), admit("a.test"), admit("A.test.")]);
    now = 999;
    await admit("a.test");
    expect(asked()).toBe(1);
    now = 1000;
    await admit("a.test");
    expect(asked()).toBe(2);
  });

  test("are not kept when there were none", async () => {
    const { admit, asked } = counting(1000, () => 0);
    expect((await failureOf(admit("fails.test")))?.code).toBe("network");
    expect((await failureOf(admit("fails.test")))?.code).toBe("network");
    expect(asked()).toBe(2);
  });

  test("are not awaited once the caller is gone", async () => {
    const { admit } = counting(0, () => 0);
    await expect(admit("a.test", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });
});

describe("cookies", () => {
  const cookie: StoredCookie = {
    name: "a",
    value: "1",
    domain: ".example.org",
    path: "/",
    expires: 4_000_000_000,
    httpOnly: true,
    secure: true,
    sameSite: "Lax",
  };

  test("a stored session comes back as it was", () => {
    const hostOnly = { ...cookie, name: "b", domain: "www.example.org", expires: -1, secure: false };
    expect(createCookieSession([cookie, hostOnly]).list()).toEqual([cookie, hostOnly]);
  });

  test("are sent where their domain, path and scheme say", () => {
    const session = createCookieSession([cookie, { ...cookie, name: "deep", path: "/x" }]);
    const sent = (url: string) => session.headerFor(new URL(url));
    expect(sent("https://example.org/")).toBe("a=1");
    expect(sent("https://sub.example.org/x/y")).toBe("deep=1; a=1");
    expect(sent("http://example.org/")).toBeNull();
    expect(sent("https://notexample.org/")).toBeNull();
  });

  test("a name has one value: a given header's, until the site sets or removes the cookie", () => {
    const session = createCookieSession([cookie]);
    const url = new URL("https://example.org/in/");
    const sent = (at = url) => session.headerFor(at, "a=given; lang=en;b=2");
    expect(sent()).toBe("a=given; lang=en; b=2");
    session.store(url, ["a=new; Path=/", "b=deep; Path=/other", "lang=; Max-Age=0"]);
    expect(sent()).toBe("b=2; a=new");
    expect(session.headerFor(new URL("https://example.org/other/"), "b=2")).toBe("b=deep; a=new");
    expect(sent(new URL("https://elsewhere.test/"))).toBe("a=given; lang=en; b=2");
  });

  test.each([
    "a=1; Domain=org",
    "a=1; Domain=other.test",
    "a=1; Domain=.co.uk",
    `a=${"x".repeat(5000)}`,
    "",
    ";;",
  ])("%j from a site is not kept", (header) => {
    const session = createCookieSession();
    session.store(new URL("https://www.example.org/"), [header.slice(0, 6000)]);
    expect(session.list().filter((kept) => kept.name === "a")).toEqual([]);
  });

  test("whatever a site sends, from whatever host, storing it does no harm", () => {
    const hosts = ["a.test", "127.0.0.1", "[::1]", "localhost", "co.uk", "xn--nxasmq6b.test", "a_b.test"];
    const header = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.stringMatching(/^[a-z]{0,3}=[a-z;= ]{0,20}; ?(?:Domain|Path|Expires|Max-Age)=[a-z0-9./-]{0,20}$/),
    );
    fc.assert(
      fc.property(fc.constantFrom(...hosts), fc.array(header, { maxLength: 3 }), (host, headers) => {
        const session = createCookieSession();
        const url = new URL(`https://${host}/`);
        session.store(url, headers);
        expect(session.headerFor(url) ?? "").not.toMatch(/[\r\n\0]/);
        session.list();
      }),
    );
  });

  test("a site that keeps setting new cookies evicts only its own oldest ones", () => {
    const changes: CookieChange[] = [];
    const session = createCookieSession([cookie], (change) => changes.push(change));
    const greedy = new URL("https://shop.test/");
    for (let n = 0; n < 200; n++)
      session.store(new URL(`https://s${n % 7}.shop.test/`), [`c${n}=1; Domain=shop.test`]);
    const names = session
      .headerFor(greedy)
      ?.split("; ")
      .map((pair) => pair.split("=")[0]);
    expect(names?.length).toBe(180);
    expect(names).toContain("c199");
    expect(names).not.toContain("c19");
    expect(session.headerFor(new URL("https://example.org/"))).toBe("a=1");
    // The owner of the session learns what was dropped.
    expect(changes.filter((change) => change.cookie === null).length).toBe(20);
  });

  test("a cookie that is set again counts as new, and a removed one makes room", () => {
    const session = createCookieSession();
    const url = new URL("https://shop.test/");
    const fill = (from: number, to: number): void => {
      for (let n = from; n < to; n++) session.store(url, [`c${n}=1`]);
    };
    fill(0, 180);
    session.store(url, ["c0=2"]);
    session.store(url, ["c5=; Max-Age=0"]);
    fill(180, 182);
    expect(session.headerFor(url)).toContain("c0=2");
    expect(session.headerFor(url)).not.toContain("c1=1");
    expect(session.headerFor(url)).toContain("c2=1");
  });

  test("the cookies of thousands of sites stop at a limit", () => {
    const session = createCookieSession();
    for (let n = 0; n < 100; n++)
      session.store(
        new URL(`https://s${n}.test/`),
        Array.from({ length: 50 }, (_, m) => `c${m}=1`),
      );
    expect(session.list().length).toBe(3000);
    expect(session.headerFor(new URL("https://s0.test/"))).toBeNull();
    expect(session.headerFor(new URL("https://s99.test/"))).toContain("c49=1");
  });
});

describe("guessed types", () => {
  test.each([
    ["<!DOCTYPE html><p>", "text/html"],
    ["  \n<HTML>", "text/html"],
    ["<!-- a -->", "text/html"],
    ["just text", "text/plain"],
    ["# Markdown", "text/plain"],
    ["<pre>", "text/plain"],
    ["%PDF-1.7", null],
    ["\u0089PNG\r\n\u001a\n\u0000", null],
    ["\u001f\u008b\u0008\u0000", null],
    ["<?xml version='1.0'?><rss/>", null],
    ["<?xml version='1.0'?><!DOCTYPE html><html xmlns='x'>", "application/xhtml+xml"],
    ["", "text/plain"],
    ['<img src="gate.png" alt="The gate">', "text/html"],
    ["<svg><title>Gate</title></svg>", "text/html"],
    ["<ul><li>Gate</li></ul>", "text/html"],
    ["<h2>Gates</h2>", "text/html"],
    ["<imgs of gates>", "text/plain"],
    ["<john@gates.test> wrote:", "text/plain"],
  ])("%j is %p", (text, expected) => {
    expect(sniffPageType(new Uint8Array(Buffer.from(text, "latin1")))).toBe(expected);
  });

  test.each([
    ["<html xmlns='x'>", "application/xhtml+xml"],
    [
      "<?xml version='1.0'?>\n<?xml-stylesheet href='a'?><!-- c --><!DOCTYPE html PUBLIC 'x'><html>",
      "application/xhtml+xml",
    ],
    ["<rss><item><html>", null],
    ["<?xml version='1.0'?><feed><html>", null],
  ])("as XML, %j is %p", (text, expected) => {
    const type = { essence: "text/xml", charset: null };
    expect(sniffPageType(new Uint8Array(Buffer.from(text)), type)).toBe(expected);
  });
});

describe("URLs in messages", () => {
  test("show no credentials and no more than 200 characters", () => {
    expect(displayUrl("https://user:s3cret@a.test/x?y=1")).toBe("https://a.test/x?y=1");
    expect(displayUrl(`https://a.test/${"x".repeat(500)}`).length).toBe(201);
    expect(displayUrl("user:s3cret@nothing")).not.toContain("s3cret");
  });
});
