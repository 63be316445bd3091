import { afterEach, describe, expect, test } from "bun:test";
import net from "node:net";
import { createLog } from "../../../src/base/log.ts";
import {
  type ChooseProxy,
  chooseProxy,
  createEgress,
  isTransient,
  openPinningProxy,
  type PinningProxy,
  parseEgressPolicy,
} from "../../../src/fetching/index.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { startForwardProxy } from "../../support/forward-proxy.ts";
import { LOCAL_ADDRESSES } from "../../support/hostile-addresses.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { NO_PROXY } from "../../support/test-fetcher.ts";
import { untilTrue } from "../../support/until.ts";

const certificate = await makeCertificate("good.test");
const proxies: PinningProxy[] = [];
const lines: string[] = [];
const answer = (request: { target: string }, socket: net.Socket): void => {
  const body = `you asked for ${request.target}`;
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
};
const plain = forAllTests(await startRawServer({ answer }));
const secure = forAllTests(await startRawServer({ answer, tls: certificate }));
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy[Symbol.asyncDispose]();
});

type Options = {
  caller?: "cli" | "remote_request";
  policy?: string;
  choose?: ChooseProxy;
  answers?: (host: string) => readonly string[];
};

async function open({
  caller = "cli",
  policy = "auto",
  choose = NO_PROXY,
  answers,
}: Options = {}): Promise<PinningProxy> {
  const proxy = await openPinningProxy({
    egress: createEgress({
      policy: parseEgressPolicy(policy),
      resolve: async (host) => answers?.(host) ?? ["127.0.0.1"],
      resolverTtlMs: 0,
    }),
    caller: { kind: caller },
    chooseProxy: choose,
    log: createLog({ level: "debug", format: "json", write: (line) => lines.push(line) }),
    connectTimeoutMs: 2000,
    idleTimeoutMs: 10_000,
  });
  proxies.push(proxy);
  return proxy;
}

const authorizationOf = (proxy: PinningProxy): string =>
  `Basic ${btoa(`${proxy.username}:${proxy.password}`)}`;

/** Sends a request like a browser, which leaves everything to the proxy. */
const through = (
  proxy: PinningProxy,
  url: string,
  authorization = authorizationOf(proxy),
): Promise<Response> =>
  fetch(url, {
    proxy: { url: proxy.url, headers: { "proxy-authorization": authorization } },
    tls: { ca: certificate.cert },
    redirect: "manual",
  });

/** Sends these bytes and returns everything that comes back until the proxy closes. */
function exchange(proxy: PinningProxy, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = net.connect(Number(new URL(proxy.url).port), "127.0.0.1", () => socket.write(text));
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(received));
  return promise;
}

describe("what is allowed", () => {
  test("goes over http in the form that servers expect", async () => {
    const proxy = await open();
    const response = await through(proxy, `http://any.test:${plain.port}/a?b=1`);
    expect(await response.text()).toBe("you asked for /a?b=1");
    const headers: Readonly<Record<string, string>> = plain.requests.at(-1)?.headers ?? {};
    expect(headers.host).toBe(`any.test:${plain.port}`);
    expect(Object.keys(headers).filter((name) => name.startsWith("proxy"))).toEqual([]);
  });

  test("goes over https through a tunnel, the certificate being the site's", async () => {
    const proxy = await open();
    expect(await (await through(proxy, `https://good.test:${secure.port}/s`)).text()).toBe(
      "you asked for /s",
    );
    expect(await through(proxy, `https://other.test:${secure.port}/`).catch(() => "refused")).toBe("refused");
  });

  test("goes to the checked address, although the name resolves differently a moment later", async () => {
    let asked = 0;
    const proxy = await open({ answers: () => (asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.9"]) });
    expect((await through(proxy, `http://rebind.test:${plain.port}/`)).status).toBe(200);
    expect(asked).toBe(1);
  });

  test("tries the next address of a name when the first does not answer", async () => {
    const proxy = await open({ answers: () => ["127.0.0.9", "127.0.0.1"] });
    expect((await through(proxy, `http://two.test:${plain.port}/`)).status).toBe(200);
  });

  test("carries a body of the length it says", async () => {
    const proxy = await open();
    await fetch(`http://any.test:${plain.port}/post`, {
      method: "POST",
      body: "x".repeat(100_000),
      proxy: { url: proxy.url, headers: { "proxy-authorization": authorizationOf(proxy) } },
    });
    expect(plain.requests.at(-1)?.body).toHaveLength(100_000);
  });
});

describe("what is refused", () => {
  test.each(LOCAL_ADDRESSES)("a caller from elsewhere does not reach %s", async (address) => {
    const proxy = await open({ caller: "remote_request" });
    const before = plain.requests.length;
    const target = address.replace("PORT", String(plain.port));
    const authority = target
      .slice("http://".length)
      .replace(/^[^@]*@/, "")
      .replace(/\/.*$/, "");
    const credentials = `Proxy-Authorization: ${authorizationOf(proxy)}\r\n\r\n`;
    const request = await exchange(proxy, `GET ${target} HTTP/1.1\r\nHost: x\r\n${credentials}`);
    const tunnel = await exchange(
      proxy,
      `CONNECT ${/:\d+$/.test(authority) ? authority : `${authority}:80`} HTTP/1.1\r\n${credentials}`,
    );
    for (const answer of [request, tunnel]) expect(answer).toMatch(/^HTTP\/1\.1 (?:400|403|502) /);
    expect(plain.requests).toHaveLength(before);
  });

  test("includes names that resolve to inner addresses, and the refusal is kept", async () => {
    const proxy = await open({ caller: "remote_request" });
    const target = `http://inner.test:${plain.port}/`;
    expect((await through(proxy, target)).status).toBe(403);
    expect(proxy.failureFor(target)?.code).toBe("egress_refused");
  });

  test("is reported for the page, although its icon was refused last", async () => {
    const proxy = await open({ caller: "remote_request" });
    const page = `http://inner.test:${plain.port}/report`;
    await through(proxy, page);
    await through(proxy, `http://inner.test:${plain.port}/favicon.ico`);
    expect(proxy.failureFor(page)?.message).toStartWith(`the egress policy refuses ${page}: `);
  });

  test("is reported for the proxy when the policy refuses the proxy", async () => {
    const choose = chooseProxy({
      explicit: "http://169.254.169.254:80",
      explicitSource: "caller",
      bypass: [],
      environment: { http: null, https: null, bypass: [] },
    });
    const proxy = await open({ choose });
    const page = `http://any.test:${plain.port}/report`;
    await through(proxy, page);
    expect(proxy.failureFor(page)?.message).toContain("refuses http://169.254.169.254");
  });

  test.each([
    ["", "no"],
    ["Basic x", "wrong"],
    [`Basic ${btoa("egress:")}`, "empty"],
  ])("is a client with credentials %p", async (authorization) => {
    const proxy = await open();
    const before = plain.requests.length;
    const header = authorization === "" ? "" : `Proxy-Authorization: ${authorization}\r\n`;
    const answer = await exchange(proxy, `GET http://a.test:${plain.port}/ HTTP/1.1\r\n${header}\r\n`);
    expect(answer).toStartWith("HTTP/1.1 407 ");
    expect(plain.requests).toHaveLength(before);
  });

  test.each([
    "GET / HTTP/1.1",
    "GET https://good.test/ HTTP/1.1",
    "GET file:///etc/passwd HTTP/1.1",
    "GET gopher://a.test/ HTTP/1.1",
    "CONNECT a.test HTTP/1.1",
    "CONNECT a.test:80:80 HTTP/1.1",
    "CONNECT user@a.test:80 HTTP/1.1",
    "CONNECT a.test:99999 HTTP/1.1",
    "CONNECT a.test/x:80 HTTP/1.1",
    "get http://a.test/ HTTP/1.1",
    "GET http://a.test/ HTTP/2",
    "GET http://a.test/",
    "GET http://a.test/ HTTP/1.1\r\nbad header",
    "GET http://a.test/ HTTP/1.1\r\n folded: x",
    "POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked",
    "POST http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
    "POST http://a.test/ HTTP/1.1\r\nContent-Length: -1",
    "",
  ])("is the head %p", async (head) => {
    const proxy = await open();
    const answer = await exchange(proxy, `${head}\r\nProxy-Authorization: ${authorizationOf(proxy)}\r\n\r\n`);
    expect(answer).toStartWith("HTTP/1.1 400 ");
  });

  test("includes a second request on a connection, which may be for another host", async () => {
    const proxy = await open();
    const before = plain.requests.length;
    const one = (path: string): string =>
      `GET http://a.test:${plain.port}${path} HTTP/1.1\r\nHost: a\r\nProxy-Authorization: ${authorizationOf(proxy)}\r\n\r\n`;
    await exchange(proxy, one("/1") + one("/2"));
    expect(plain.requests.slice(before).map(({ target }) => target)).not.toContain("/2");
  });

  test("includes an endless head", async () => {
    const proxy = await open();
    expect(await exchange(proxy, `GET http://a.test/ HTTP/1.1\r\nx: ${"y".repeat(100_000)}`)).toBe("");
  });
});

describe("behind the caller's own proxy", () => {
  const via = (port: number, credentials: string): ChooseProxy =>
    chooseProxy({
      explicit: `http://${credentials}@127.0.0.1:${port}`,
      explicitSource: "caller",
      bypass: [],
      environment: { http: null, https: null, bypass: [] },
    });

  test("requests and tunnels go through it, with its credentials, and it resolves the names", async () => {
    const hosts = { "good.test:443": `127.0.0.1:${secure.port}`, "plain.test": `127.0.0.1:${plain.port}` };
    await using upstream = await startForwardProxy({ credentials: "user:s3cret", hosts });
    const proxy = await open({ choose: via(upstream.port, "user:s3cret"), answers: () => [] });
    expect(await (await through(proxy, "http://plain.test/p")).text()).toContain("/p");
    expect(await (await through(proxy, "https://good.test/q")).text()).toBe("you asked for /q");
    const asked = await upstream.requests();
    expect(asked.map(({ line }) => line)).toEqual([
      "GET http://plain.test/p HTTP/1.1",
      "CONNECT good.test:443 HTTP/1.1",
    ]);
    expect(asked.every(({ head }) => !head.includes(proxy.password))).toBe(true);
    expect(lines.join("")).not.toContain("s3cret");
  });

  test("its refusal is a failure of the connection", async () => {
    await using upstream = await startForwardProxy({ credentials: "user:right", hosts: {} });
    const proxy = await open({ choose: via(upstream.port, "user:wrong") });
    expect(await through(proxy, "https://good.test/").catch(() => "no connection")).toBe("no connection");
    expect(proxy.failureFor("https://good.test/page")?.message).toBe(
      `GET https://good.test/page through the proxy 127.0.0.1:${upstream.port}: the proxy asks for other credentials (PROXY_407)`,
    );
  });

  test("a proxy that cannot be reached is named, and a host that it cannot reach is worth another try", async () => {
    const gone = await open({ choose: via(1, "user:s3cret") });
    await through(gone, `http://plain.test/p`);
    expect(gone.failureFor("http://plain.test/p")?.message).toBe(
      "GET http://plain.test/p through the proxy 127.0.0.1:1: the connection was refused (ECONNREFUSED)",
    );
    await using upstream = await startForwardProxy({
      credentials: null,
      hosts: { "good.test:443": "127.0.0.1:1" },
    });
    const proxy = await open({ choose: via(upstream.port, "user:s3cret") });
    await through(proxy, "https://good.test/").catch(() => {});
    const failure = proxy.failureFor("https://good.test/");
    expect(failure?.message).toBe(
      `GET https://good.test/ through the proxy 127.0.0.1:${upstream.port}: the proxy could not reach the host (PROXY_502)`,
    );
    expect(isTransient(failure)).toBe(true);
  });
});

test("closing ends every tunnel and frees the port", async () => {
  const proxy = await open();
  const before = plain.requests.length;
  const tunnel = exchange(
    proxy,
    `CONNECT a.test:${plain.port} HTTP/1.1\r\nProxy-Authorization: ${authorizationOf(proxy)}\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
  );
  await untilTrue(() => plain.requests.length > before);
  await proxy[Symbol.asyncDispose]();
  expect(await tunnel).toStartWith("HTTP/1.1 200 ");
  expect(await fetch(proxy.url).catch(() => "closed")).toBe("closed");
});
