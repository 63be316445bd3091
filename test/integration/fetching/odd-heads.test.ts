import { describe, expect, test } from "bun:test";
import type net from "node:net";
import { readTolerantly } from "../../../src/fetching/http/tolerant.ts";
import type { WireRoute } from "../../../src/fetching/http/wire.ts";
import { chooseProxy } from "../../../src/fetching/index.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { startForwardProxy } from "../../support/forward-proxy.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { failureOf, pageUrl, tableResolver, testFetcher } from "../../support/test-fetcher.ts";
import { untilTrue } from "../../support/until.ts";

const BODY = "<p>The page.</p>";
const WARNING = "PHP Warning: PHP Startup: Unable to load 'x.so'";
const LENGTH = `Content-Length: ${BODY.length}`;
const answerOf = (lines: readonly string[], body = BODY): string =>
  ["HTTP/1.1 200 OK", "Content-Type: text/html", ...lines, "", body].join("\r\n");

const HEADS: Readonly<Record<string, string>> = {
  "/space": answerOf([WARNING, LENGTH]),
  "/no-colon": answerOf(["X-Cache hit", LENGTH]),
  "/no-name": answerOf([": x", LENGTH]),
  "/folded": answerOf(["X-Policy: a;", "\tb", LENGTH]),
  "/control": answerOf(["X-Title: a\x01b", LENGTH]),
  "/nul": answerOf(["X-Title: a\0b", LENGTH]),
  "/space-before-colon": answerOf([`Content-Length : ${BODY.length}`]),
  "/no-length": answerOf([WARNING]),
  "/lf": answerOf([WARNING, LENGTH]).replaceAll("\r\n", "\n"),
  "/after-hints": `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${answerOf([WARNING, LENGTH])}`,
  "/chunked": answerOf(
    [WARNING, "Transfer-Encoding: chunked"],
    `3\r\n<p>\r\n${(BODY.length - 3).toString(16)};x=y\r\n${BODY.slice(3)}\r\n0\r\n\r\n`,
  ),
  "/moved": `HTTP/1.1 302 Found\r\n${WARNING}\r\nLocation: /space\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n`,
  "/two-lengths": answerOf([WARNING, "Content-Length: 3", LENGTH]),
  "/cut-off": answerOf([WARNING, "Content-Length: 99"]),
  "/cut-off-chunks": answerOf([WARNING, "Transfer-Encoding: chunked"], `99\r\n${BODY}`),
  "/large": answerOf([WARNING], "x".repeat(3_000_000)),
  "/endless": answerOf([WARNING, ...Array(20).fill(`X-Long: ${"x".repeat(15_000)}`)]),
  "/no-http": "220 mail.test ESMTP\r\nX Y\r\n\r\n",
};
const ENDING = ["/no-length", "/cut-off", "/cut-off-chunks", "/no-http"];
const closed: string[] = [];
const answer = ({ target }: { readonly target: string }, socket: net.Socket): void => {
  socket.write(Buffer.from(HEADS[target] ?? "", "latin1"));
  socket.once("close", () => closed.push(target));
  if (ENDING.includes(target)) socket.end();
};

const certificate = await makeCertificate("good.test");
const plain = forAllTests(await startRawServer({ answer }));
const secure = forAllTests(await startRawServer({ answer, tls: certificate }));
const at = (path: string) => pageUrl(`http://127.0.0.1:${plain.port}${path}`);

describe("an answer with header lines that the runtime refuses", () => {
  const paths = Object.keys(HEADS);
  test.each(paths.slice(0, paths.indexOf("/moved")))("%s is read as browsers read it", async (path) => {
    const page = await testFetcher().fetch(at(path));
    expect(page).toMatchObject({ status: 200, html: BODY, contentType: "text/html", tries: 1 });
  });

  test.each(["/two-lengths", "/cut-off", "/cut-off-chunks", "/endless", "/no-http"])(
    "%s is still no page",
    async (path) => expect((await failureOf(testFetcher().fetch(at(path))))?.code).toBe("network"),
  );

  test("keeps what its other lines say", async () => {
    expect((await testFetcher().fetch(at("/folded"))).headers["x-policy"]).toBe("a; b");
    const page = await testFetcher().fetch(at("/moved"));
    expect(page.finalUrl).toBe(at("/space"));
    expect(plain.requests.at(-1)?.headers).toMatchObject({ cookie: "a=1", connection: "close" });
  });

  test("is asked for once where the host is known for it, and never over a connection of before", async () => {
    const fetcher = testFetcher();
    await fetcher.fetch(at("/space"));
    const before = plain.requests.length;
    await fetcher.fetch(at("/space"));
    expect(plain.requests.length - before).toBe(1);
    expect(plain.requests.at(-1)?.connection).not.toBe(plain.requests.at(-2)?.connection);
  });

  test("of too many bytes closes the connection", async () => {
    const failure = await failureOf(testFetcher({ limits: { pageBytes: 100_000 } }).fetch(at("/large")));
    expect(failure?.code).toBe("too_large");
    await untilTrue(() => closed.includes("/large"));
  });

  test("to a POST is no reason to send it again", async () => {
    const before = plain.requests.length;
    expect((await failureOf(testFetcher().post(at("/space"), { json: {} })))?.code).toBe("network");
    expect(plain.requests.length - before).toBe(1);
  });
});

describe("the way there", () => {
  const hosts = { "good.test": `127.0.0.1:${plain.port}`, "good.test:443": `127.0.0.1:${secure.port}` };
  const through = (port: number) =>
    chooseProxy({
      explicit: `http://reader:s3cret@127.0.0.1:${port}`,
      explicitSource: "operator",
      bypass: [],
      environment: { http: null, https: null, bypass: [] },
    });

  test.each(["http", "https"])("leads through the proxy of %s with its credentials", async (scheme) => {
    await using proxy = await startForwardProxy({ credentials: "reader:s3cret", hosts });
    const fetcher = testFetcher({ chooseProxy: through(proxy.port), extraCertificates: [certificate.cert] });
    expect((await fetcher.fetch(pageUrl(`${scheme}://good.test/space`))).html).toBe(BODY);
    const requests = await proxy.requests();
    expect(requests.map(({ authorized }) => authorized)).toEqual([true, true]);
  });

  test("leads to an address over TLS", async () => {
    const numbered = await makeCertificate("127.0.0.1");
    await using site = await startRawServer({ answer, tls: numbered });
    const fetcher = testFetcher({ extraCertificates: [numbered.cert] });
    expect((await fetcher.fetch(pageUrl(`https://127.0.0.1:${site.port}/space`))).html).toBe(BODY);
  });

  test("leads to the checked address over TLS", async () => {
    const resolve = tableResolver({ "good.test": ["127.0.0.1"] });
    const fetcher = testFetcher({ resolve, extraCertificates: [certificate.cert] });
    expect((await fetcher.fetch(pageUrl(`https://good.test:${secure.port}/space`))).html).toBe(BODY);
  });

  // The runtime refused the answer of a server that it trusted; another may answer the second time.
  const malformed = Object.assign(new Error(), { code: "Malformed_HTTP_Response" });
  const ask = (route: WireRoute, trusted: readonly string[], host: string) =>
    readTolerantly(
      { request: () => Promise.reject(malformed), acceptEncoding: "", close: async () => {} },
      { extraCertificates: trusted, authorityPlaces: null },
    ).request({
      url: new URL(`https://${host}:${secure.port}/space`),
      headers: {},
      route,
      signal: AbortSignal.timeout(5000),
    });
  const direct = (host: string): WireRoute => ({ kind: "direct", host, address: "127.0.0.1" });

  test.each([
    ["good.test", [certificate.cert], 200],
    ["other.test", [certificate.cert], "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["127.0.0.1", [certificate.cert], "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["good.test", [], "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ])("to %s checks the certificate again, %#", async (host, trusted, outcome) => {
    const work = ask(direct(host), trusted, host).then(
      ({ status }) => status,
      (error) => error.code,
    );
    expect<unknown>(await work).toBe(outcome);
  });

  test.each([
    ["good.test", 200],
    ["other.test", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("through a tunnel to %s checks the certificate again", async (host, outcome) => {
    const to = `${host}:${secure.port}`;
    await using proxy = await startForwardProxy({
      credentials: null,
      hosts: { [to]: `127.0.0.1:${secure.port}` },
    });
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const route: WireRoute = { kind: "proxy", proxyUrl, proxyHost: "127.0.0.1", authorization: null };
    const work = ask(route, [certificate.cert], host).then(
      ({ status }) => status,
      (error) => error.code,
    );
    expect<unknown>(await work).toBe(outcome);
  });
});
