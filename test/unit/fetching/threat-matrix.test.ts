import { afterAll, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import {
  chooseProxy,
  createEgress,
  createRobotsCache,
  DEFAULT_ROBOTS_TIMES,
  type EgressCaller,
  type HttpFetcher,
  parseEgressPolicy,
} from "../../../src/fetching/index.ts";
import type { PageUrl } from "../../../src/urls/index.ts";
import { admitUnder, CLI, REMOTE, sourceOf } from "../../support/egress-cases.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import {
  FORBIDDEN_ADDRESSES,
  HOSTILE_DNS,
  INNER_NAMES,
  LOCAL_ADDRESSES,
} from "../../support/hostile-addresses.ts";
import { failureOf, pageUrl, tableResolver, testFetcher } from "../../support/test-fetcher.ts";

// Every row is a way in which a service of this kind has been, or could be, tricked into its inner network.
// The canary is a real server on loopback that stands for what must not be reached; it counts its visitors.

/** The one local host that the list policy of the redirect rows allows. */
const canary = forAllTests(await startFaultySite());
const doorway = forAllTests(await startFaultySite());
afterAll(async () => {
  // One row shows that the canary can be reached at all; nobody else may have got through.
  expect(canary.requests.filter((request) => !request.target.includes("/page?allowed"))).toEqual([]);
});

/** Inserts the canary's port, so that a row without its check really arrives somewhere. */
const port = (text: string): string => text.replaceAll("PORT", String(canary.port));

const remoteFetcher = (): HttpFetcher =>
  testFetcher({ caller: REMOTE, resolve: tableResolver(HOSTILE_DNS), limits: { deadlineMs: 20_000 } });

describe("schemes: a URL that is neither http nor https", () => {
  test.each([
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "data:text/html,<p>own</p>",
    "ftp://127.0.0.1/",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/stats",
    "s3://bucket/key",
    "blob:http://127.0.0.1/x",
    "javascript:alert(1)",
    "ws://127.0.0.1/",
    "jar:http://127.0.0.1!/",
    "unix:/var/run/docker.sock",
    "about:blank",
  ])("%s is egress_refused, for the command line too", async (url) => {
    // A caller could only do this by a wrong type assertion, and the fetcher does not rely on the type.
    const claimed = url as PageUrl;
    expect((await failureOf(testFetcher({ caller: CLI }).fetch(claimed)))?.code).toBe("egress_refused");
    expect((await failureOf(remoteFetcher().fetch(claimed)))?.code).toBe("egress_refused");
  });
});

describe("address forms: a request from elsewhere to this machine or an inner network", () => {
  test.each(LOCAL_ADDRESSES)("%s is egress_refused, by the policy alone", async (text) => {
    const url = port(text);
    expect((await failureOf(remoteFetcher().fetch(pageUrl(url))))?.code).toBe("egress_refused");
    // Where the policy allows local addresses, the same address passes; so the row fails without the check.
    expect((await admitUnder("open", REMOTE, url)).addresses.length).toBeGreaterThan(0);
    expect((await failureOf(admitUnder("public", CLI, url)))?.code).toBe("egress_refused");
  });
});

describe("link-local, metadata and multicast: refused under every policy and to every caller", () => {
  test.each(FORBIDDEN_ADDRESSES)("%s is egress_refused", async (url) => {
    expect((await failureOf(remoteFetcher().fetch(pageUrl(url))))?.code).toBe("egress_refused");
    for (const caller of [CLI, REMOTE, { kind: "operator" } as const, sourceOf(new URL(url).hostname)]) {
      for (const policy of ["auto", "open", "public", `${"0.0.0.0/0"} ::/0`])
        expect((await failureOf(admitUnder(policy, caller, url)))?.code).toBe("egress_refused");
    }
  });
});

describe("URLs that are no URLs", () => {
  test.each([
    "http://[::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
    "http:///x",
  ])("%s is not parsed, or refused", async (text) => {
    const url = URL.parse(text);
    if (url) expect((await failureOf(admitUnder("auto", REMOTE, url.href)))?.code).toBe("egress_refused");
    else expect(url).toBeNull();
  });
});

describe("offline", () => {
  test.each([CLI, REMOTE, { kind: "operator" } as const])("nothing is admitted for %j", async (caller) => {
    const egress = createEgress({
      policy: { kind: "none" },
      resolve: tableResolver(HOSTILE_DNS),
      resolverTtlMs: 0,
    });
    for (const url of ["http://public.test/", "http://127.0.0.1/", "http://93.184.215.14/"]) {
      expect((await failureOf(egress.admit(new URL(url), caller)))?.code).toBe("egress_refused");
      expect(() => egress.admitThroughProxy(new URL(url), caller)).toThrow(Failure);
    }
  });
});

describe("DNS", () => {
  test.each([
    ["a name for loopback", "inner.test"],
    ["a name for loopback over IPv6", "inner6.test"],
    ["a name for a mapped address", "mapped.test"],
    ["a name for loopback behind NAT64", "nat64.test"],
    ["an answer that mixes public and loopback", "mixed.test"],
    ["an answer whose last address is private", "mixed-last.test"],
    ["a name for the metadata service", "meta.test"],
    ["an answer with a zone id", "zone.test"],
    ["a name for 0.0.0.0", "unspecified.test"],
    ["an address inside a name", "127.0.0.1.nip.test"],
  ])("%s is egress_refused", async (_, host) => {
    const failure = await failureOf(remoteFetcher().fetch(pageUrl(port(`http://${host}:PORT/`))));
    expect(failure?.code).toBe("egress_refused");
    // An outside caller must not learn the inner addresses.
    expect(failure?.message).not.toMatch(/10\.0\.0\.1|169\.254|fe80/);
  });

  test.each(INNER_NAMES)("%s is egress_refused by its name, directly and through a proxy", async (host) => {
    const url = `http://${host}/`;
    expect((await failureOf(admitUnder("auto", REMOTE, url)))?.code).toBe("egress_refused");
    const throughProxy = testFetcher({
      caller: REMOTE,
      chooseProxy: () => ({ url: port("http://127.0.0.1:PORT"), authorization: null, source: "operator" }),
    });
    expect((await failureOf(throughProxy.fetch(pageUrl(url))))?.code).toBe("egress_refused");
    expect((await admitUnder("open", REMOTE, url)).addresses.length).toBeGreaterThan(0);
  });

  test.each(["garbage.test", "empty.test", "unknown.test"])(
    "%s, without an address, is network",
    async (host) => {
      expect((await failureOf(remoteFetcher().fetch(pageUrl(`http://${host}/`))))?.code).toBe("network");
    },
  );

  test("a name that is public when checked and private a moment later is resolved once per request", async () => {
    let asked = 0;
    const egress = createEgress({
      policy: parseEgressPolicy("auto"),
      resolve: async () => (++asked % 2 === 1 ? ["93.184.215.14"] : ["127.0.0.1"]),
      resolverTtlMs: 0,
    });
    expect((await egress.admit(new URL("http://rebind.test/"), REMOTE)).addresses).toEqual(["93.184.215.14"]);
    expect(asked).toBe(1);
    // The next request asks the resolver again and is refused.
    expect((await failureOf(egress.admit(new URL("http://rebind.test/"), REMOTE)))?.code).toBe(
      "egress_refused",
    );
  });

  test("the connection goes to the checked address, whatever the name means elsewhere", async () => {
    // No resolver of this machine knows site.test, so a second lookup of the name would find nothing.
    const fetcher = testFetcher({ resolve: tableResolver(HOSTILE_DNS) });
    expect((await fetcher.fetch(pageUrl(port("http://site.test:PORT/page?allowed=pinned")))).status).toBe(
      200,
    );
  });

  test("a retry is checked again", async () => {
    let asked = 0;
    const fetcher = testFetcher({
      policy: "127.0.0.0/8",
      caller: REMOTE,
      resolve: async () => (++asked === 1 ? ["127.0.0.1"] : ["10.0.0.1"]),
    });
    const url = pageUrl(`http://site.test:${doorway.port}/flaky?status=500&times=9`);
    expect((await failureOf(fetcher.fetch(url)))?.code).toBe("egress_refused");
    expect(asked).toBe(2);
  });
});

describe("redirects: each hop is checked again", () => {
  const fetcher = (): HttpFetcher =>
    testFetcher({
      policy: "site.test",
      caller: REMOTE,
      resolve: tableResolver(HOSTILE_DNS),
      limits: { deadlineMs: 20_000 },
    });
  const via = (to: string): PageUrl =>
    pageUrl(`http://site.test:${doorway.port}/redirect?to=${encodeURIComponent(port(to))}`);

  test.each([
    "http://127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://localhost:PORT/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
    "//127.0.0.1:PORT/",
    "\\\\127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/../..//127.0.0.1:PORT",
    "http://inner.test:PORT/",
    "http://mixed.test:PORT/",
    "file:///etc/passwd",
    "data:text/html,<p>own</p>",
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
  ])("to %s is egress_refused", async (to) => {
    const failure = await failureOf(fetcher().fetch(via(to)));
    // A reference that the WHATWG parser reads as a path stays on the same host.
    if (failure === null) expect(new URL(port(to), doorway.origin).port).toBe(String(doorway.port));
    else expect(failure.code).toBe("egress_refused");
  });

  test.each([301, 302, 303, 307, 308])("with status %d are checked too", async (status) => {
    const url = pageUrl(
      `http://site.test:${doorway.port}/redirect?status=${status}&to=${encodeURIComponent(port("http://127.0.0.1:PORT/"))}`,
    );
    expect((await failureOf(fetcher().fetch(url)))?.code).toBe("egress_refused");
  });

  test("the second hop is checked like the first", async () => {
    const second = `/redirect?to=${encodeURIComponent(port("http://127.0.0.1:PORT/"))}`;
    expect((await failureOf(fetcher().fetch(via(second))))?.code).toBe("egress_refused");
  });

  test("a source in the configuration may be local, but not what it redirects to", async () => {
    const source = testFetcher({ caller: sourceOf("site.test"), resolve: tableResolver(HOSTILE_DNS) });
    expect((await source.fetch(pageUrl(`http://site.test:${doorway.port}/page`))).status).toBe(200);
    expect((await failureOf(source.fetch(via("http://inner.test:PORT/"))))?.code).toBe("egress_refused");
    expect((await failureOf(source.fetch(via("http://127.0.0.1:PORT/"))))?.code).toBe("egress_refused");
  });
});

describe("the proxy field", () => {
  const through = (proxy: string, caller: EgressCaller, policy = "auto"): HttpFetcher =>
    testFetcher({
      policy,
      caller,
      resolve: tableResolver(HOSTILE_DNS),
      limits: { deadlineMs: 20_000, tries: 1 },
      chooseProxy: chooseProxy({
        explicit: port(proxy),
        explicitSource: "caller",
        bypass: [],
        environment: { http: null, https: null, bypass: [] },
      }),
    });

  test.each([
    "http://127.0.0.1:PORT",
    "http://2130706433:PORT",
    "http://[::1]:PORT",
    "http://localhost:PORT",
    "http://inner.test:PORT",
    "http://mixed.test:PORT",
    "http://10.0.0.1:3128",
    "http://169.254.169.254:80",
    "127.0.0.1:PORT",
    "https://public.test:443",
  ])("%s in a request from elsewhere is egress_refused", async (proxy) => {
    const failure = await failureOf(through(proxy, REMOTE).fetch(pageUrl("http://public.test/")));
    expect(failure?.code).toBe("egress_refused");
  });

  test.each(["http://169.254.169.254/", "http://metadata.google.internal/", "http://[fd00:ec2::254]/"])(
    "%s is egress_refused through a proxy, too",
    async (url) => {
      const failure = await failureOf(through("http://127.0.0.1:PORT", CLI).fetch(pageUrl(url)));
      expect(failure?.code).toBe("egress_refused");
    },
  );

  test.each(["http://127.0.0.1/", "http://localhost/", "http://10.0.0.1/", "http://vault.internal/"])(
    "%s is egress_refused through the operator's proxy to a request from elsewhere",
    async (url) => {
      const fetcher = testFetcher({
        caller: REMOTE,
        chooseProxy: () => ({ url: port("http://127.0.0.1:PORT"), authorization: null, source: "operator" }),
      });
      expect((await failureOf(fetcher.fetch(pageUrl(url))))?.code).toBe("egress_refused");
    },
  );

  test.each(["socks5://127.0.0.1:1080", "file:///etc/passwd", "gopher://127.0.0.1:70", "http://"])(
    "%s is no proxy",
    (proxy) => {
      expect(() => through(proxy, CLI)).toThrow(Failure);
    },
  );
});

describe("robots.txt, sitemaps and feeds go through the same door", () => {
  test.each(["robots", "sitemap", "feed"] as const)("a %s on loopback is egress_refused", async (purpose) => {
    const work = remoteFetcher().fetchStream(pageUrl(port("http://127.0.0.1:PORT/x")), { purpose });
    expect((await failureOf(work))?.code).toBe("egress_refused");
  });

  test.each(["robots", "sitemap", "feed"] as const)(
    "a %s that redirects inwards is egress_refused",
    async (purpose) => {
      const fetcher = testFetcher({
        policy: "site.test",
        caller: REMOTE,
        resolve: tableResolver(HOSTILE_DNS),
      });
      const to = encodeURIComponent(port("http://127.0.0.1:PORT/"));
      const work = fetcher.fetchStream(pageUrl(`http://site.test:${doorway.port}/redirect?to=${to}`), {
        purpose,
      });
      expect((await failureOf(work))?.code).toBe("egress_refused");
    },
  );

  test("the robots cache does not treat a refusal as a closed site", async () => {
    const cache = createRobotsCache({ fetcher: remoteFetcher(), ...DEFAULT_ROBOTS_TIMES });
    expect((await failureOf(cache.rulesFor(port("http://127.0.0.1:PORT/x"))))?.code).toBe("egress_refused");
  });
});

describe("headers", () => {
  const code = (make: () => unknown): string => {
    try {
      make();
      return "none";
    } catch (error) {
      return error instanceof Failure ? error.code : "other";
    }
  };

  test.each([
    ["x-a", "b\r\nHost: evil.test"],
    ["x-a", "b\nX-Injected: 1"],
    ["x-a", "b\u0000"],
    ["x-a\r\nx-b", "c"],
    ["x a", "b"],
    ["", "b"],
    ["Host", "evil.test"],
    ["Content-Length", "5"],
    ["Transfer-Encoding", "chunked"],
    ["Connection", "upgrade"],
    ["Proxy-Authorization", "Basic x"],
  ])("header %j with value %j is invalid_usage", (name, value) => {
    expect(code(() => testFetcher({ headers: { [name]: value } }))).toBe("invalid_usage");
  });

  test.each(["a\r\nX-Injected: 1", "a\nb", "", "日本"])("user agent %j is invalid_usage", (userAgent) => {
    expect(code(() => testFetcher({ userAgent }))).toBe("invalid_usage");
  });

  test("an Authorization with a line break is invalid_usage, and the message does not contain its value", async () => {
    const authorization = "Bearer s3cret\r\nX-Injected: 1";
    const failure = await failureOf(
      testFetcher().fetch(pageUrl(`${doorway.origin}/page`), { authorization }),
    );
    expect(failure?.code).toBe("invalid_usage");
    expect(failure?.message).not.toContain("s3cret");
  });

  test("a line break in a URL's path does not split the request", async () => {
    const claimed = `${doorway.origin}/page?a\r\nX-Injected:%0d%0a1` as PageUrl;
    await testFetcher().fetch(claimed);
    expect(Object.keys(doorway.requests.at(-1)?.headers ?? {})).not.toContain("x-injected");
  });
});
