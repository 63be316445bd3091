import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { createLog } from "../../../src/base/log.ts";
import {
  chooseProxy,
  type HttpFetcher,
  parseProxyBypass,
  readProxyEnvironment,
} from "../../../src/fetching/index.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { type FaultySite, startFaultySite } from "../../support/faulty-site.ts";
import { type ForwardProxy, startForwardProxy } from "../../support/forward-proxy.ts";
import { failureOf, pageUrl, tableResolver, testFetcher } from "../../support/test-fetcher.ts";

const NOTHING = { http: null, https: null, bypass: [] };

const chosen = (url: string, options: Partial<Parameters<typeof chooseProxy>[0]>): string | null =>
  chooseProxy({ explicit: null, explicitSource: "caller", bypass: [], environment: NOTHING, ...options })(
    new URL(url),
  )?.url ?? null;

describe("the environment", () => {
  test("all eight variables are read and deleted, and no other", () => {
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
    const env: Record<string, string | undefined> = { PATH: "/bin" };
    for (const name of names) {
      env[name] = "upper.test:1";
      env[name.toLowerCase()] = "lower.test:2";
    }
    const read = readProxyEnvironment(env);
    expect(env).toEqual({ PATH: "/bin" });
    expect(read.http?.url).toBe("http://lower.test:2");
    expect(read.bypass).toEqual(["lower.test:2"]);
  });

  test("the scheme of the target chooses the variable, and ALL_PROXY fills the gap", () => {
    const environment = readProxyEnvironment({ HTTPS_PROXY: "secure.test:1", ALL_PROXY: "any.test:2" });
    expect(chosen("https://a.test/", { environment })).toBe("http://secure.test:1");
    expect(chosen("http://a.test/", { environment })).toBe("http://any.test:2");
  });

  test("an explicit proxy overrides the environment's, and NO_PROXY does not affect it", () => {
    const environment = readProxyEnvironment({ HTTP_PROXY: "env.test:1", NO_PROXY: "*" });
    expect(chosen("http://a.test/", { environment })).toBeNull();
    expect(chosen("http://a.test/", { environment, explicit: "own.test:3" })).toBe("http://own.test:3");
    expect(chosen("http://a.test/", { environment, explicit: "own.test:3", bypass: ["a.test"] })).toBeNull();
  });

  test.each(["socks5://127.0.0.1:1080", "http://", "::::"])("HTTPS_PROXY=%s is invalid_settings", (value) => {
    try {
      readProxyEnvironment({ HTTPS_PROXY: value });
      throw new Error("it was taken");
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
      expect(error).toMatchObject({ code: "invalid_settings" });
      expect(String(error)).toContain("HTTPS_PROXY");
    }
  });

  test.each([
    ["socks5://user:secret@127.0.0.1:1080", "SOCKS5"],
    ["socks5h://127.0.0.1", "SOCKS5"],
    ["SOCKS4A://127.0.0.1", "SOCKS4"],
    ["socks://127.0.0.1", "SOCKS"],
  ])("a SOCKS proxy is refused by its name: %s", (value, kind) => {
    const why = `${kind} proxies are not supported; HTTP and HTTPS proxies are taken (http://[user:password@]host[:port])`;
    expect(() => readProxyEnvironment({ ALL_PROXY: value })).toThrow(`ALL_PROXY: ${why}`);
    expect(() => chosen("http://a.test/", { explicit: value })).toThrow(`proxy: ${why}`);
  });

  test("a host may be called socks5", () => {
    expect(chosen("http://a.test/", { explicit: "socks5:1080" })).toBe("http://socks5:1080");
  });

  test("all wrong variables are reported together, each once", () => {
    const read = (): unknown =>
      readProxyEnvironment({ HTTP_PROXY: "http://", ALL_PROXY: "socks5://a.test:1" });
    expect(read).toThrow(/^HTTP_PROXY: .*\nALL_PROXY: .*$/);
    expect(() => readProxyEnvironment({ ALL_PROXY: "http://" })).toThrow(/^ALL_PROXY: [^\n]*$/);
  });

  test("credentials are kept apart from the address", () => {
    const environment = readProxyEnvironment({ HTTP_PROXY: "http://us%40er:p%3Ass@proxy.test:3128" });
    expect(environment.http).toEqual({
      url: "http://proxy.test:3128",
      authorization: `Basic ${btoa("us@er:p:ss")}`,
      source: "operator",
    });
  });
});

describe("a direct connection", () => {
  test("stays direct although the process's environment names a proxy", async () => {
    await using site = await startFaultySite();
    process.env.HTTP_PROXY = "http://127.0.0.1:9";
    try {
      expect((await testFetcher().fetch(pageUrl(`${site.origin}/page`))).status).toBe(200);
    } finally {
      delete process.env.HTTP_PROXY;
    }
  });
});

describe("NO_PROXY's grammar", () => {
  test.each([
    ["*", "http://anything.test/", true],
    ["a.test", "http://a.test/", true],
    ["a.test", "http://A.TEST./", true],
    ["a.test", "http://b.a.test/", false],
    ["a.test", "http://nota.test/", false],
    [".a.test", "http://b.a.test/", true],
    [".a.test", "http://c.b.a.test/", true],
    [".a.test", "http://nota.test/", false],
    [".a.test", "http://a.test/", false],
    ["*.a.test", "http://b.a.test/", true],
    ["b\u00fccher.test", "http://b\u00fccher.test/", true],
    ["xn--bcher-kva.test", "http://B\u00dcCHER.test/", true],
    ["*.b\u00fccher.test", "http://a.b\u00fccher.test/", true],
    [".B\u00dcCHER.test:80", "http://a.b\u00fccher.test/", true],
    ["b\u00fccher.test", "http://bucher.test/", false],
    ["a.test:8080", "http://a.test:8080/", true],
    ["a.test:8080", "http://a.test/", false],
    ["a.test:443", "https://a.test/", true],
    ["a.test:80", "http://a.test/", true],
    ["10.0.0.0/8", "http://10.1.2.3/", true],
    ["10.0.0.0/8", "http://11.1.2.3/", false],
    ["10.0.0.0/8", "http://[::ffff:10.1.2.3]/", true],
    ["192.168.1.1", "http://192.168.1.1/", true],
    ["fd00::/8", "http://[fd12::1]/", true],
    ["[::1]:3000", "http://[::1]:3000/", true],
    ["::1", "http://[::1]/", true],
    ["", "http://a.test/", false],
    ["http://a.test", "http://a.test/", false],
    ["10.0.0.0/99", "http://10.0.0.1/", false],
  ])("%j and %s: bypassed is %p", (entry, url, isBypassed) => {
    const proxy = chosen(url, { explicit: "proxy.test:1", bypass: parseProxyBypass(entry) });
    expect(proxy === null).toBe(isBypassed);
  });

  test("entries are separated by commas and spaces", () => {
    expect(parseProxyBypass(" a.test,b.test  c.test,, ")).toEqual(["a.test", "b.test", "c.test"]);
  });
});

const good = await makeCertificate("good.test");

describe("through a real proxy", () => {
  let site: FaultySite;
  let secure: FaultySite;
  let proxy: ForwardProxy;
  beforeAll(async () => {
    site = await startFaultySite();
    secure = await startFaultySite({ tls: good });
    const hosts = {
      "plain.test": `127.0.0.1:${site.port}`,
      "good.test": `127.0.0.1:${secure.port}`,
      "good.test:80": `127.0.0.1:${secure.port}`,
      "other.test:80": `127.0.0.1:${secure.port}`,
      "good.test:444": `127.0.0.1:${secure.port}`,
      "other.test:444": `127.0.0.1:${secure.port}`,
    };
    proxy = await startForwardProxy({ credentials: "user:p@ss", hosts });
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
    await secure[Symbol.asyncDispose]();
  });

  const lines: string[] = [];
  const through = (credentials: string, host = "127.0.0.1"): HttpFetcher =>
    testFetcher({
      resolve: tableResolver({ "proxy.test": ["127.0.0.1"] }),
      extraCertificates: [good.cert],
      log: createLog({ level: "debug", format: "json", write: (line) => lines.push(line) }),
      limits: { tries: 2 },
      chooseProxy: chooseProxy({
        explicit: `http://${credentials}@${host}:${proxy.port}`,
        explicitSource: "caller",
        bypass: [],
        environment: NOTHING,
      }),
    });

  test("http goes in absolute form, with the name left to the proxy", async () => {
    const page = await through("user:p%40ss").fetch(pageUrl("http://plain.test/echo"));
    expect(page.status).toBe(200);
    expect(page.html).not.toContain("roxy-");
    expect((await proxy.requests()).at(-1)?.line).toBe("GET http://plain.test/echo HTTP/1.1");
  });

  test("https goes through a tunnel, and the certificate is the site's", async () => {
    expect((await through("user:p%40ss").fetch(pageUrl("https://good.test:444/page"))).status).toBe(200);
    expect((await proxy.requests()).at(-1)?.line).toBe("CONNECT good.test:444 HTTP/1.1");
    const failure = await failureOf(through("user:p%40ss").fetch(pageUrl("https://other.test:444/page")));
    expect(failure?.message).toContain("another name");
  });

  test("the proxy's credentials never reach the site", async () => {
    await through("user:p%40ss").fetch(pageUrl("https://good.test:444/echo"));
    const headers = [...site.requests, ...secure.requests].flatMap((request) => Object.keys(request.headers));
    expect(headers).not.toContain("proxy-authorization");
  });

  test("credentials in a redirect's URL are not sent through the proxy", async () => {
    const to = encodeURIComponent("http://evil:pw@plain.test/echo?userinfo");
    const page = await through("user:p%40ss").fetch(pageUrl(`http://plain.test/redirect?to=${to}`));
    expect(page.finalUrl).toBe(pageUrl("http://plain.test/echo?userinfo"));
    expect((await proxy.requests()).at(-1)?.head).not.toMatch(/evil|^authorization/im);
  });

  test("a proxy with a name is reached at its checked address", async () => {
    const page = await through("user:p%40ss", "proxy.test").fetch(pageUrl("http://plain.test/page"));
    expect(page.status).toBe(200);
  });

  test.each(["http://plain.test/", "https://good.test:444/"])(
    "wrong credentials for %s are network, and stay unsaid in messages and logs",
    async (url) => {
      const failure = await failureOf(through("user:wr0ngpass").fetch(pageUrl(url)));
      expect(failure?.code).toBe("network");
      expect(failure?.message).toContain("proxy");
      for (const text of [failure?.message, ...lines])
        expect(text).not.toMatch(/wr0ngpass|p@ss|p%40ss|Basic/);
    },
  );

  test.each(["http://plain.test/page", "https://good.test:444/page"])(
    "a proxy that refuses connections is what the message about %s names",
    async (url) => {
      const fetcher = testFetcher({
        resolve: tableResolver({ "proxy.test": ["127.0.0.1"] }),
        limits: { tries: 1 },
        chooseProxy: chooseProxy({
          explicit: "http://user:s3cret@proxy.test:1",
          explicitSource: "caller",
          bypass: [],
          environment: NOTHING,
        }),
      });
      const failure = await failureOf(fetcher.fetch(pageUrl(url)));
      expect(failure?.message).toStartWith(
        `GET ${url} through the proxy proxy.test:1: the connection was refused`,
      );
    },
  );

  test("a proxy whose name has no address is what the message names", async () => {
    const explicit = "http://user:s3cret@foo";
    const options = { explicit, explicitSource: "caller", bypass: [], environment: NOTHING } as const;
    const fetcher = testFetcher({
      resolve: tableResolver({}),
      limits: { tries: 1 },
      chooseProxy: chooseProxy(options),
    });
    const failure = await failureOf(fetcher.fetch(pageUrl("http://plain.test/page")));
    expect(failure?.message).toMatch(/^the proxy http:\/\/foo: could not resolve foo: /);
  });

  test("the resolved proxy is logged once, without credentials", async () => {
    lines.length = 0;
    const fetcher = through("user:p%40ss");
    await fetcher.fetch(pageUrl("http://plain.test/page"));
    await fetcher.fetch(pageUrl("http://plain.test/page"));
    const logged = lines.map((line) => JSON.parse(line)).filter((line) => line.message === "proxy resolved");
    expect(logged.map((line) => line.proxy)).toEqual([`http://127.0.0.1:${proxy.port}`]);
  });
});
