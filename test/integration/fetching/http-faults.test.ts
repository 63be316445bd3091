import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type HttpFetcher, systemClock } from "../../../src/fetching/index.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { reply, startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { failureOf, pageUrl, tableResolver, testFetcher } from "../../support/test-fetcher.ts";

const site = forAllTests(await startFaultySite());

const at = (path: string) => pageUrl(`${site.origin}${path}`);
const visitsOf = (path: string): number => site.requests.filter((request) => request.target === path).length;

describe("answers that break", () => {
  const fetcher = testFetcher();

  test.each([
    ["/reset?", 4],
    ["/truncated?", 4],
    ["/truncated-chunked?", 4],
    ["/truncated-gzip?", 4],
    ["/empty-answer?", 4],
    ["/not-http?", 1],
    ["/huge-headers?", 1],
  ])("%s fails with network after %d tries", async (path, tries) => {
    const failure = await failureOf(fetcher.fetch(at(path)));
    expect(failure?.code).toBe("network");
    expect(failure?.message).toContain(site.origin);
    const seen = site.requests.filter((request) => request.target === path.replace("?", ""));
    // When a kept connection closes without an answer, the runtime itself sends the request once more; what the runtime
    // cannot read is asked for once more by the tolerant reader.
    expect(seen.length).toBeWithin(tries, tries + (/empty-answer|not-http/.test(path) ? 2 : 1));
  });

  const zipped = gzipSync("<p>The page.</p>".repeat(50));
  test.each([
    ["without its trailer", zipped.subarray(0, -8), 800, 0],
    ["with half its trailer", zipped.subarray(0, -3), 800, 0],
    ["with text after it", Buffer.concat([zipped, Buffer.from("<!-- cached -->")]), 800, 0],
    [
      "of two members, the last without its trailer",
      Buffer.concat([zipped, zipped.subarray(0, -8)]),
      1600,
      0,
    ],
    ["that is none", Buffer.from("<p>The page.</p>".repeat(50)), 800, 1],
  ])("gzip %s is read as browsers read it", async (_, body, length, warnings) => {
    const headers = { "content-type": "text/html; charset=utf-8", "content-encoding": "gzip" };
    await using own = await startFaultySite({
      routes: { "/z": ({ socket }) => reply(socket, { headers, body }) },
    });
    const page = await fetcher.fetch(pageUrl(`${own.origin}/z`));
    expect([page.html.length, page.warnings.length]).toEqual([length, warnings]);
  });

  const damaged = Buffer.concat([zipped, Buffer.from("text")]);
  damaged[zipped.length - 8]! ^= 1;
  test.each([
    ["half a second member", Buffer.concat([zipped, zipped.subarray(0, -20)])],
    ["a wrong checksum", damaged],
  ])("gzip with %s is no page", async (_, body) => {
    const headers = { "content-type": "text/html", "content-encoding": "gzip" };
    await using own = await startFaultySite({
      routes: { "/z": ({ socket }) => reply(socket, { headers, body }) },
    });
    expect((await failureOf(fetcher.fetch(pageUrl(`${own.origin}/z`))))?.code).toBe("network");
  });

  test("a length that is too short cuts the body there", async () => {
    expect((await fetcher.fetch(at("/long-length"))).html).toBe("<p>m");
  });

  test("a body that drips ends at the request's limit", async () => {
    const hasty = testFetcher({ limits: { requestTimeoutMs: 1000 } });
    const failure = await failureOf(hasty.fetch(at("/slow-body?ms=100&pieces=100")));
    expect(failure?.code).toBe("timeout");
    expect(failure?.message).toContain("1000 ms");
  });

  test("a fetch never outlives its deadline, whatever the request may take", async () => {
    const failure = await failureOf(fetcher.fetch(at("/slow-body?ms=100&pieces=99"), { deadlineMs: 300 }));
    expect(failure?.code).toBe("timeout");
    expect(failure?.message).toContain("deadline of 300 ms");
  });

  test("the wait for a host slot counts against the deadline", async () => {
    const never = (_: URL, signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const work = fetcher.fetch(at("/page"), { deadlineMs: 200, beforeRequest: never });
    expect((await failureOf(work))?.code).toBe("timeout");
  });

  test("an aborted signal of the caller sends nothing", async () => {
    const failure = await failureOf(fetcher.fetch(at("/page?aborted"), { signal: AbortSignal.abort() }));
    expect(failure?.code).toBe("cancelled");
    expect(visitsOf("/page?aborted")).toBe(0);
  });
});

describe("sizes", () => {
  const fetcher = testFetcher({ limits: { pageBytes: 1_000_000 } });

  test.each(["gzip", "br", "zstd", "deflate"])("a %s bomb of 200 MB stops at the limit", async (coding) => {
    await failureOf(fetcher.fetch(at(`/bomb/${coding}?mb=200`))); // builds the bomb in this process
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    const failure = await failureOf(fetcher.fetch(at(`/bomb/${coding}?mb=200`)));
    expect(failure?.code).toBe("too_large");
    expect(failure?.message).toContain("1000000 bytes");
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  test("an endless body stops at the limit", async () => {
    expect((await failureOf(fetcher.fetch(at("/endless"))))?.code).toBe("too_large");
  });

  test("endless compressed bytes without contents stop at the limit", async () => {
    expect((await failureOf(fetcher.fetch(at("/endless-nothing"))))?.code).toBe("too_large");
    const stream = await fetcher.fetchStream(at("/endless-nothing"), { purpose: "robots" });
    expect((await failureOf(new Response(stream.body).text()))?.code).toBe("network");
  });

  test.each([
    ["an image", { headers: { "content-type": "image/png" }, body: "png" }],
    ["bytes without a type", { headers: { "content-type": "" }, body: "\0\0" }],
    ["a body over the limit", { body: "x".repeat(1_000_001) }],
  ])("an error status with %s is still an answer, with an empty text", async (_, answer) => {
    await using own = await startFaultySite({
      routes: { "/gone": ({ socket }) => reply(socket, { status: 410, ...answer }) },
    });
    expect(await fetcher.fetch(pageUrl(`${own.origin}/gone`))).toMatchObject({ status: 410, html: "" });
  });

  test.each(["gzip", "br", "zstd", "deflate", "deflate-raw"])(
    "a body in %s is decompressed",
    async (coding) => {
      expect((await fetcher.fetch(at(`/encoded/${coding}`))).html).toContain("A page of the site.");
    },
  );

  test("a body of exactly the limit passes and one byte more does not", async () => {
    expect((await fetcher.fetch(at("/bytes?n=1000000"))).bodyBytes).toBe(1_000_000);
    expect((await failureOf(fetcher.fetch(at("/bytes?n=1000001"))))?.code).toBe("too_large");
  });
});

describe("retries", () => {
  const waits: number[] = [];
  const waiting = (random: number): HttpFetcher =>
    testFetcher({ clock: { now: Date.now, random: () => random, sleep: async (ms) => void waits.push(ms) } });

  test.each([408, 425, 429, 500, 502, 503, 504])("status %d is tried again", async (status) => {
    const page = await waiting(0).fetch(at(`/flaky?status=${status}&times=2`));
    expect(page).toMatchObject({ status: 200, tries: 3 });
  });

  test.each([400, 401, 403, 404, 410])("status %d is the answer at once", async (status) => {
    expect(await waiting(0).fetch(at(`/status/${status}`))).toMatchObject({ status, tries: 1 });
  });

  test("waits at most 1, 2 and 4 s, and returns the last answer after four tries", async () => {
    waits.length = 0;
    const page = await waiting(0.999_999).fetch(at("/flaky?status=500&times=9&full"));
    expect(page).toMatchObject({ status: 500, tries: 4 });
    expect(waits).toEqual([999, 1999, 3999]);
  });

  test("obeys Retry-After in seconds", async () => {
    waits.length = 0;
    await waiting(0).fetch(at("/flaky?status=429&times=1&retry-after=7"));
    expect(waits).toEqual([7000]);
  });

  test("a wait does not count against the limit of a request", async () => {
    const fetcher = testFetcher({ clock: systemClock, limits: { requestTimeoutMs: 1900 } });
    const page = await fetcher.fetch(at("/flaky?status=503&times=1&retry-after=2&waited"));
    expect(page.status).toBe(200);
    expect(page.durationMs).toBeGreaterThanOrEqual(1990);
  });

  test("obeys Retry-After as a date", async () => {
    waits.length = 0;
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 9000).toUTCString();
    await waiting(0).fetch(at(`/flaky?status=503&times=1&retry-after=${encodeURIComponent(date)}`));
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeWithin(8000, 10_001);
  });

  test.each(["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])(
    "a Retry-After of %s is past the deadline and fails at once as rate_limited",
    async (value) => {
      waits.length = 0;
      const path = `/flaky?status=429&times=9&retry-after=${encodeURIComponent(value)}`;
      const failure = await failureOf(waiting(0).fetch(at(path)));
      expect(failure?.code).toBe("rate_limited");
      expect(waits).toEqual([]);
    },
  );

  test("a single try returns 429 to its caller, who schedules retries itself", async () => {
    const page = await waiting(0).fetch(at("/flaky?status=429&times=9&retry-after=3600"), { tries: 1 });
    expect(page.status).toBe(429);
    expect(page.headers["retry-after"]).toBe("3600");
  });

  test("waits for a host slot before each request, including retries and redirects", async () => {
    const asked: string[] = [];
    await waiting(0).fetch(at("/redirect?to=/flaky?status=500"), {
      beforeRequest: async (url) => void asked.push(url.pathname),
    });
    expect(asked).toEqual(["/redirect", "/flaky", "/redirect", "/flaky"]);
  });
});

describe("types", () => {
  const fetcher = testFetcher();

  test.each([
    ["text/html", "text/html"],
    ["TEXT/HTML; Charset=UTF-8", "text/html"],
    ["application/xhtml+xml", "application/xhtml+xml"],
    ["text/plain", "text/plain"],
    ["text/markdown", "text/markdown"],
    ["", "text/html"],
    ["application/octet-stream", "text/html"],
  ])("a body of type %p is read as %s", async (value, contentType) => {
    const page = await fetcher.fetch(at(`/type?value=${encodeURIComponent(value)}`));
    expect(page.contentType).toBe(contentType);
  });

  test.each(["application/pdf", "image/png", "application/json", "text/css", "video/mp4"])(
    "a body of type %s is unsupported_content, and the message names it",
    async (value) => {
      const failure = await failureOf(fetcher.fetch(at(`/type?value=${value}`)));
      expect(failure?.code).toBe("unsupported_content");
      expect(failure?.message).toContain(value);
    },
  );
});

describe("conditional requests, cookies and credentials", () => {
  test("validators are sent, and 304 is an answer without a body", async () => {
    const fetcher = testFetcher();
    const first = await fetcher.fetch(at("/versioned"));
    const { etag = null, "last-modified": lastModified = null } = first.headers;
    const second = await fetcher.fetch(at("/versioned"), { validators: { etag, lastModified } });
    expect(second).toMatchObject({ status: 304, html: "" });
    expect(site.requests.at(-1)?.headers["if-modified-since"]).toBe("Wed, 21 Oct 2015 07:28:00 GMT");
  });

  test("cookies go back to the site in the same session and in no other", async () => {
    const fetcher = testFetcher();
    const page = await fetcher.fetch(at("/cookies/set?name=token&value=abc"));
    expect(Object.keys(page.headers)).not.toContain("set-cookie");
    expect((await fetcher.fetch(at("/echo"))).html).toContain("token=abc");
    expect((await testFetcher().fetch(at("/echo"))).html).not.toContain("token=abc");
  });

  test("Basic authentication opens the page, and only where it is given", async () => {
    const fetcher = testFetcher();
    const authorization = `Basic ${btoa("reader:s3cret")}`;
    expect((await fetcher.fetch(at("/basic-auth"), { authorization })).status).toBe(200);
    expect((await fetcher.fetch(at("/basic-auth"))).status).toBe(401);
  });

  test("a redirect to another origin drops Authorization, Cookie and all headers that may be keys, for good", async () => {
    await using other = await startFaultySite({
      routes: {
        "/back": ({ socket }) =>
          reply(socket, { status: 302, headers: { location: `${site.origin}/echo?back` } }),
      },
    });
    const headers = { cookie: "own=1", "x-api-key": "k", "x-jwt": "j", "accept-language": "de" };
    const fetcher = testFetcher({ headers });
    const options = { authorization: "Bearer t0ken" };
    await fetcher.fetch(at("/echo?direct"), options);
    const direct = site.requests.at(-1)?.headers;
    expect(direct).toMatchObject({ ...headers, authorization: "Bearer t0ken" });
    await fetcher.fetch(at(`/redirect?to=${other.origin}/back`), options);
    for (const request of [other.requests.at(-1), site.requests.at(-1)]) {
      expect(request?.headers).toMatchObject({ "accept-language": "de" });
      for (const name of ["authorization", "cookie", "x-api-key", "x-jwt"])
        expect(Object.keys(request?.headers ?? {})).not.toContain(name);
    }
  });

  test("a redirect inside the origin keeps them", async () => {
    await testFetcher().fetch(at("/redirect?to=/echo?kept"), { authorization: "Bearer t0ken" });
    expect(site.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer t0ken" });
  });

  test("credentials in a redirect's URL are not sent", async () => {
    const to = encodeURIComponent(`http://evil:pw@127.0.0.1:${site.port}/echo?userinfo`);
    expect((await testFetcher().fetch(at(`/redirect?to=${to}`))).finalUrl).toBe(at("/echo?userinfo"));
    expect(Object.keys(site.requests.at(-1)?.headers ?? {})).not.toContain("authorization");
  });

  test("a Location in raw UTF-8 is followed", async () => {
    const page = await testFetcher().fetch(at(`/redirect?to=${encodeURIComponent("/echo?q=café")}`));
    expect(page.finalUrl).toContain("/echo?q=caf%C3%A9");
  });

  test("the fragment of a redirect is not sent", async () => {
    await testFetcher().fetch(at(`/redirect?to=${encodeURIComponent("/page?f#part")}`));
    expect(site.requests.at(-1)?.target).toBe("/page?f");
  });
});

describe("posting", () => {
  const json = { url: "https://example.org/é" };

  test("sends JSON with its credentials and returns the answer", async () => {
    const answer = await testFetcher().post(at("/echo?post"), { json, authorization: "Bearer t0ken" });
    expect(answer).toMatchObject({ status: 200, contentType: "text/html" });
    const request = site.requests.at(-1);
    expect(request).toMatchObject({ method: "POST" });
    expect(JSON.parse(Buffer.from(request?.body ?? "", "latin1").toString())).toEqual(json);
    expect(request?.headers).toMatchObject({
      authorization: "Bearer t0ken",
      "content-type": "application/json",
      accept: "application/json",
    });
  });

  test("is not redirected, so that neither text nor credentials go elsewhere", async () => {
    const work = testFetcher().post(at("/redirect?to=/echo?posted"), { json, authorization: "Bearer t0ken" });
    expect((await failureOf(work))?.code).toBe("network");
    expect(visitsOf("/echo?posted")).toBe(0);
  });

  test("has the limits, retries and egress of pages", async () => {
    const fetcher = testFetcher({ limits: { pageBytes: 1000 } });
    const hasty = testFetcher({ limits: { requestTimeoutMs: 300 } });
    const large = await failureOf(fetcher.post(at("/bytes?n=2000"), { json }));
    expect(large?.code).toBe("too_large");
    expect(large?.message).toStartWith("POST http");
    expect((await failureOf(hasty.post(at("/slow-headers?ms=60000"), { json })))?.code).toBe("timeout");
    expect((await fetcher.post(at("/flaky?status=503&posted"), { json })).status).toBe(200);
    const inner = pageUrl("http://169.254.169.254/");
    expect((await failureOf(fetcher.post(inner, { json })))?.code).toBe("egress_refused");
  });
});

describe("connections", () => {
  test("requests one after another share a connection", async () => {
    await using own = await startFaultySite();
    const fetcher = testFetcher();
    for (let n = 0; n < 5; n++) await fetcher.fetch(pageUrl(`${own.origin}/page?n=${n}`));
    expect(own.connections()).toBe(1);
  });

  test("another address of the host is tried when the first does not answer", async () => {
    await using own = await startFaultySite();
    const fetcher = testFetcher({ resolve: tableResolver({ "two.test": ["127.0.0.9", "127.0.0.1"] }) });
    const page = await fetcher.fetch(pageUrl(`http://two.test:${own.port}/page`));
    expect(page).toMatchObject({ status: 200, tries: 1 });
    expect(own.requests.at(-1)?.headers.host).toBe(`two.test:${own.port}`);
  });

  test("IPv6 addresses are connected to like others", async () => {
    await using own = await startRawServer({
      host: "::1",
      answer: (_, socket) => reply(socket, { body: "<p>six" }),
    });
    const fetcher = testFetcher({ resolve: tableResolver({ "six.test": ["::1"] }) });
    expect((await fetcher.fetch(pageUrl(`http://six.test:${own.port}/`))).html).toBe("<p>six");
    expect((await fetcher.fetch(pageUrl(`http://[::1]:${own.port}/`))).html).toBe("<p>six");
    expect(own.requests.map((request) => request.headers.host)).toEqual([
      `six.test:${own.port}`,
      `[::1]:${own.port}`,
    ]);
  });

  test("a name that does not exist is network, at once", async () => {
    const failure = await failureOf(testFetcher().fetch(pageUrl("http://nowhere.test/")));
    expect(failure?.code).toBe("network");
    expect(failure?.message).toContain("nowhere.test");
  });
});

const good = await makeCertificate("good.test");

describe("TLS", () => {
  const resolve = tableResolver({ "good.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] });

  test("the certificate is checked against the name, not the address of the connection", async () => {
    await using own = await startFaultySite({ tls: good });
    const fetcher = testFetcher({ resolve, extraCertificates: [good.cert] });
    expect((await fetcher.fetch(pageUrl(`https://good.test:${own.port}/page`))).status).toBe(200);
    for (let n = 0; n < 3; n++) await fetcher.fetch(pageUrl(`https://good.test:${own.port}/page?${n}`));
    expect(own.connections()).toBe(1);
  });

  test("a certificate for another name is refused, even on an open connection", async () => {
    await using own = await startFaultySite({ tls: good });
    const fetcher = testFetcher({ resolve, extraCertificates: [good.cert] });
    await fetcher.fetch(pageUrl(`https://good.test:${own.port}/page`));
    const failure = await failureOf(fetcher.fetch(pageUrl(`https://other.test:${own.port}/page`)));
    expect(failure?.code).toBe("network");
    expect(failure?.message).toContain("another name");
    expect(own.requests.filter((request) => request.headers.host?.startsWith("other")).length).toBe(0);
  });

  test("a certificate for an address is checked against the address", async () => {
    const own = await makeCertificate("127.0.0.1");
    await using site4 = await startFaultySite({ tls: own });
    await using named = await startFaultySite({ tls: good });
    const fetcher = testFetcher({ extraCertificates: [own.cert, good.cert] });
    expect((await fetcher.fetch(pageUrl(`${site4.origin}/page`))).status).toBe(200);
    expect((await failureOf(fetcher.fetch(pageUrl(`${named.origin}/page`))))?.message).toContain(
      "another name",
    );
  });

  test("the machine's authorities are trusted, and no request is sent before that", async () => {
    await using own = await startFaultySite({ tls: good });
    using place = temporaryDirectory();
    const file = join(place.path, "own.pem");
    await writeFile(file, `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${good.cert}`);
    const url = pageUrl(`https://good.test:${own.port}/page`);
    for (const places of [
      { file, directory: null },
      { file: null, directory: place.path },
    ]) {
      const pages = testFetcher({ resolve, authorityPlaces: places });
      const both = await Promise.all([pages.fetch(url), pages.fetch(url)]);
      expect(both.map(({ status, tries }) => [status, tries])).toEqual([
        [200, 1],
        [200, 1],
      ]);
    }
    expect(own.requests.length).toBe(4);
    expect((await failureOf(testFetcher({ resolve }).fetch(url)))?.code).toBe("network");
  });

  test("an untrusted certificate is refused without another try", async () => {
    await using own = await startFaultySite({ tls: good });
    const failure = await failureOf(
      testFetcher({ resolve }).fetch(pageUrl(`https://good.test:${own.port}/page`)),
    );
    expect(failure?.message).toContain("self-signed");
    expect(own.requests.length).toBe(0);
  });
});
