import { describe, expect, test } from "bun:test";
import zlib from "node:zlib";
import type { FetchedStream, StreamPurpose } from "../../../src/fetching/types.ts";
import { head, reply, startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { failureOf, pageUrl, type TestFetcherOptions, testFetcher } from "../../support/test-fetcher.ts";
import { untilTrue } from "../../support/until.ts";

const SITEMAP = `<urlset>${"<url><loc>https://a.test/</loc></url>".repeat(100)}</urlset>`;
let closedEarly = 0;

const site = forAllTests(
  await startFaultySite({
    routes: {
      "/sitemap.xml": ({ socket }) =>
        reply(socket, { body: SITEMAP, headers: { "content-type": "text/xml" } }),
      "/sitemap.xml.gz": ({ socket }) =>
        reply(socket, { body: zlib.gzipSync(SITEMAP), headers: { "content-type": "application/gzip" } }),
      "/twice.xml.gz": ({ socket }) =>
        reply(socket, {
          body: zlib.gzipSync(zlib.gzipSync(SITEMAP)),
          headers: { "content-encoding": "gzip" },
        }),
      "/rules": ({ socket }) => reply(socket, { body: "Allow: /x\n".repeat(20_000) }),
      "/plain-gzip": ({ socket }) =>
        reply(socket, { body: "Allow: /x\n".repeat(20_000), headers: { "content-encoding": "gzip" } }),
      "/endless": ({ socket }) => {
        socket.on("close", () => closedEarly++);
        socket.write(head(200, { "content-type": "text/xml", "transfer-encoding": "chunked" }));
        const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
        const write = (): void => {
          while (!socket.destroyed && socket.write(piece)) {}
        };
        socket.on("drain", write);
        write();
      },
      "/stalls": ({ socket }) =>
        void socket.write(`${head(200, { "content-type": "text/xml", "content-length": "1000" })}<urlset>`),
    },
  }),
);

const open = (
  path: string,
  purpose: StreamPurpose,
  options: TestFetcherOptions = {},
): Promise<FetchedStream> => testFetcher(options).fetchStream(pageUrl(`${site.origin}${path}`), { purpose });
const textOf = (stream: FetchedStream): Promise<string> => new Response(stream.body).text();

describe("a stream", () => {
  test.each(["/sitemap.xml", "/sitemap.xml.gz", "/twice.xml.gz"])(
    "%s gives the sitemap's bytes",
    async (path) => {
      expect(await textOf(await open(path, "sitemap"))).toBe(SITEMAP);
    },
  );

  test("returns any type and any status as an answer", async () => {
    expect((await open("/type?value=image/png", "sitemap")).contentType).toBe("image/png");
    const missing = await open("/nothing", "feed");
    expect(missing.status).toBe(404);
    await missing.body.cancel();
  });

  test("is retried and redirected like a page", async () => {
    const stream = await open("/redirect?to=/flaky?status=503", "feed");
    expect(stream.status).toBe(200);
    expect(stream.finalUrl).toEndWith("/flaky?status=503");
    await stream.body.cancel();
  });

  test("a sitemap over its limit fails with too_large", async () => {
    const stream = await open("/endless", "sitemap", { limits: { sitemapBytes: 1_000_000 } });
    const failure = await failureOf(textOf(stream));
    expect(failure?.code).toBe("too_large");
    expect(failure?.message).toContain("1000000 bytes");
  });

  test("a robots.txt over its limit is cut after its last whole line there", async () => {
    const stream = await open("/rules", "robots", { limits: { robotsBytes: 100_005 } });
    const text = await textOf(stream);
    expect([text.length, text.endsWith("Allow: /x\n")]).toEqual([100_000, true]);
  });

  test("a robots.txt that says gzip and is none is read as it is", async () => {
    expect((await textOf(await open("/plain-gzip", "robots"))).length).toBe(200_000);
  });

  describe.each([
    ["robots", { "content-encoding": "gzip" }],
    ["sitemap", { "content-encoding": "gzip" }],
    ["sitemap", { "content-type": "application/gzip" }],
  ] as const)("%s with %j", (purpose, headers) => {
    const zipped = zlib.gzipSync(SITEMAP);
    const named = Buffer.from(zipped);
    named[3] = 8;
    const read = async (body: Uint8Array): Promise<string> => {
      await using own = await startFaultySite({
        routes: { "/z": ({ socket }) => reply(socket, { headers, body }) },
      });
      const stream = await testFetcher().fetchStream(pageUrl(`${own.origin}/z`), { purpose });
      return await textOf(stream);
    };

    test.each([
      ["a gzip body without its trailer", zipped.subarray(0, -8), 1],
      ["one with half its trailer", zipped.subarray(0, -3), 1],
      ["one with text after it", Buffer.concat([zipped, Buffer.from("<!-- cached -->")]), 1],
      ["one with zeros after it", Buffer.concat([zipped, Buffer.alloc(600)]), 1],
      ["two members, the last without its trailer", Buffer.concat([zipped, zipped.subarray(0, -8)]), 2],
      [
        "one with a file's name",
        Buffer.concat([named.subarray(0, 10), Buffer.from("sitemap.xml\0"), zipped.subarray(10)]),
        1,
      ],
      ["a body that is none", Buffer.from(SITEMAP), 1],
    ])("reads %s", async (_, body, times) => {
      expect(await read(body)).toBe(SITEMAP.repeat(times));
    });

    const damaged = Buffer.from(zipped);
    damaged[zipped.length - 8]! ^= 1;
    test.each([
      ["that is cut off", zipped.subarray(0, -20)],
      ["that ends in its header", zipped.subarray(0, 7)],
      ["with a wrong checksum", damaged],
    ])("fails on a gzip body %s", async (_, body) => {
      expect((await failureOf(read(body)))?.code).toBe("network");
    });
  });

  test.each(["gzip", "br", "zstd"])(
    "a %s bomb of 400 MB stops at the limit, in little memory",
    async (coding) => {
      const fetchBomb = async () =>
        failureOf(
          textOf(await open(`/bomb/${coding}?mb=400`, "sitemap", { limits: { sitemapBytes: 5_000_000 } })),
        );
      await fetchBomb();
      Bun.gc(true);
      const before = process.memoryUsage().rss;
      expect((await fetchBomb())?.code).toBe("too_large");
      expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000);
    },
  );

  test("a body that stalls ends at the limit of a request", async () => {
    const stream = await open("/stalls", "sitemap", { limits: { requestTimeoutMs: 300 } });
    expect((await failureOf(textOf(stream)))?.code).toBe("timeout");
  });

  test("a body that breaks off is network, on the URL that answered", async () => {
    const failure = await failureOf(textOf(await open("/truncated", "sitemap")));
    expect(failure?.code).toBe("network");
    expect(failure?.message).toContain("/truncated");
  });

  test("can be cancelled by its caller while it is read", async () => {
    const controller = new AbortController();
    const url = pageUrl(`${site.origin}/stalls`);
    const stream = await testFetcher().fetchStream(url, { purpose: "feed", signal: controller.signal });
    const reading = failureOf(textOf(stream));
    setTimeout(() => controller.abort(), 30);
    expect((await reading)?.code).toBe("cancelled");
  });

  test.each([0, 1])("cancelled after %d pieces closes the connection", async (pieces) => {
    const before = closedEarly;
    const stream = await open("/endless", "sitemap");
    const reader = stream.body.getReader();
    for (let read = 0; read < pieces; read++) await reader.read();
    await reader.cancel();
    await untilTrue(() => closedEarly > before);
    expect(closedEarly).toBe(before + 1);
  });
});
