import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import zlib from "node:zlib";
import {
  createSitemapReader,
  DEFAULT_SITEMAP_LIMITS,
  parseSitemapSource,
} from "../../../src/crawler/index.ts";
import { sitemapsOfRobots } from "../../../src/crawler/sitemap/open.ts";
import { readSitemaps } from "../../../src/crawler/sitemap/read-sitemaps.ts";
import { parseLastModified } from "../../../src/crawler/sitemap/xml.ts";
import { parseRobots } from "../../../src/fetching/robots/robots.ts";
import { page as crawlPage, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlSite, openTestApp } from "../../support/crawling.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { serveLocal } from "../../support/local.ts";
import { readAll, readServed, serveSitemaps } from "../../support/sitemaps.ts";
import { failureOf, pageUrl, testFetcher } from "../../support/test-fetcher.ts";

const page = (loc: string): string => `<urlset><url><loc>${loc}</loc></url></urlset>`;
const index = (...locs: string[]): string =>
  `<sitemapindex>${locs.map((loc) => `<sitemap><loc>${loc}</loc></sitemap>`).join("")}</sitemapindex>`;

const directory = await mkdtemp(join(tmpdir(), "sitemaps-"));
afterAll(() => rm(directory, { recursive: true }));

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

describe("reading sitemaps", () => {
  test("keeps lastmod, in UTC", async () => {
    const { pages } = await readServed(
      `<urlset><url><lastmod>2026-05-20T10:00:00+02:00</lastmod><loc>https://a.test/1</loc></url>
       <url><loc>https://a.test/2</loc><lastmod>yesterday</lastmod></url></urlset>`,
    );
    expect(pages.map(({ lastModified }) => lastModified)).toEqual(["2026-05-20T08:00:00.000Z", null]);
  });

  test("resolves relative locations against where the sitemap was found", async () => {
    const { urls, origin } = await readServed(
      `<urlset>${["/a", "b", "//c.test/"].map((loc) => `<url><loc>${loc}</loc></url>`).join("")}</urlset>`,
    );
    expect(urls).toEqual([`${origin}/a`, `${origin}/b`, "http://c.test/"]);
  });

  test("reads RSS 2.0, RSS 1.0 and Atom", async () => {
    const rss = `<rss version="2.0"><channel><link>https://a.test/channel</link><item><title>T</title>
      <atom:link href="https://a.test/no"/><link>https://a.test/1</link><pubDate>Wed, 20 May 2026 10:00:00 GMT</pubDate></item></channel></rss>`;
    const rdf = `<rdf:RDF><channel><link>https://a.test/channel</link></channel><item><link>https://a.test/1</link><dc:date>2026-05-20T10:00:00Z</dc:date></item></rdf:RDF>`;
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.test/feed"/><entry><link rel="edit" href="https://a.test/edit"/>
      <link href="https://a.test/1"/><updated>2026-05-20T10:00:00Z</updated></entry></feed>`;
    for (const body of [rss, rdf, atom]) {
      expect((await readServed(body)).pages as unknown).toEqual([
        { url: "https://a.test/1", lastModified: "2026-05-20T10:00:00.000Z" },
      ]);
    }
  });

  test("takes the permalink of an RSS item that has no link, and Atom's xml:base", async () => {
    const rss = `<rss version="2.0"><channel>
      <item><guid>https://a.test/1</guid><link> </link></item><item><guid isPermaLink="true"> https://a.test/2 </guid></item>
      <item><guid isPermaLink="false">https://a.test/no</guid></item><item><guid>urn:uuid:1</guid></item>
      <item><guid>https://a.test/?p=3</guid><link>https://a.test/3</link></item></channel></rss>`;
    expect((await readServed(rss)).urls).toEqual([
      "https://a.test/1",
      "https://a.test/2",
      "https://a.test/3",
    ]);
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.test/blog/">
      <entry><link href="1"/></entry><entry xml:base="2026/"><link href="2"/></entry>
      <entry><link xml:base="/c/" href="3"/></entry></feed>`;
    const based = ["https://a.test/blog/1", "https://a.test/blog/2026/2", "https://a.test/c/3"];
    expect((await readServed(atom)).urls).toEqual(based);
    const { urls, origin } = await readServed(atom.replace("https://a.test", ""));
    expect(urls.slice(0, 1)).toEqual([`${origin}/blog/1`]);
  });

  test("follows indexes in order and reports each sitemap", async () => {
    await using site = serveSitemaps({
      "/index.xml": index("a.xml", "{origin}/b.xml.gz", "javascript:alert(1)"),
      "/a.xml": page("/a"),
      "/b.xml.gz": { body: new Uint8Array(zlib.gzipSync(page("/b"))), type: "application/gzip" },
    });
    const { urls, events } = await readAll([`${site.origin}/index.xml`]);
    expect(urls).toEqual([`${site.origin}/a`, `${site.origin}/b`]);
    expect(events as unknown).toEqual([
      { kind: "read", sitemap: `${site.origin}/index.xml`, pageCount: 0, sitemapCount: 2, invalidCount: 1 },
      { kind: "read", sitemap: `${site.origin}/a.xml`, pageCount: 1, sitemapCount: 0, invalidCount: 0 },
      { kind: "read", sitemap: `${site.origin}/b.xml.gz`, pageCount: 1, sitemapCount: 0, invalidCount: 0 },
    ]);
  });

  test("a broken sitemap is reported and the others go on", async () => {
    await using site = serveSitemaps({
      "/index.xml": index("/missing.xml", "/page.xml", "/b.xml"),
      "/page.xml": "<html><body>Sign in</body></html>",
      "/b.xml": page("/b"),
    });
    const { urls, events } = await readAll(["http://127.0.0.1:1/s.xml", `${site.origin}/index.xml`]);
    expect(urls).toEqual([`${site.origin}/b`]);
    const failures = events.flatMap((event) => (event.kind === "failed" ? event.failure.code : []));
    expect(failures.sort()).toEqual(["http_status", "network", "unsupported_content"]);
  });

  test("indexes that name each other, or themselves, are read once", async () => {
    await using site = serveSitemaps({
      "/a.xml": index("/a.xml", "/b.xml", "/b.xml#again", "/b.xml?utm_source=x"),
      "/b.xml": index("/a.xml", "/c.xml"),
      "/c.xml": page("/c"),
    });
    const { urls } = await readAll([`${site.origin}/a.xml`, `${site.origin}/a.xml`]);
    expect(urls).toEqual([`${site.origin}/c`]);
    expect([...site.requests]).toEqual(["/a.xml", "/b.xml", "/c.xml"]);
  });

  test("an index of indexes without end ends at the depth limit", async () => {
    await using site = serveSitemaps({ "/i": index("{origin}/i?n=1") });
    await using endless = serveSitemaps(
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`/i?n=${n}`, index(`{origin}/i?n=${n + 1}`)])),
    );
    const { events } = await readAll([`${endless.origin}/i?n=0`]);
    expect(endless.requests.length).toBe(6);
    const last = events.at(-1);
    expect(last?.kind === "failed" && last.failure.message).toContain("more than 5 indexes deep");
    expect((await readAll([`${site.origin}/i`])).events.length).toBe(2);
  });

  test("more sitemaps than the limit are counted, once", async () => {
    await using site = serveSitemaps({
      "/index.xml": index(...Array.from({ length: 30 }, (_, n) => `/s${n}.xml`)),
    });
    const { events } = await readAll([`${site.origin}/index.xml`], { limits: { sitemaps: 10 } });
    expect(site.requests.length).toBe(10);
    const last = events.at(-1);
    expect(last?.kind === "failed" && last.failure.message).toBe(
      "21 sitemaps are not read: the limit is 10 sitemaps",
    );
  });

  test("an index of 50 000 sitemaps that are hardly worth it ends within 500 requests, and says so", async () => {
    const one = `<urlset><url><loc>https://a.test/</loc></url></urlset>`;
    const same = Array.from({ length: 20 }, (_, n) => `<url><loc>https://a.test/${n}</loc></url>`);
    for (const child of ["", one, "not found", `<urlset>${same.join("")}</urlset>`]) {
      using site = serveLocal((request) => {
        const { url } = request;
        if (!url.endsWith("/index.xml")) return new Response(child);
        const places = Array.from({ length: 50_000 }, (_, n) => `<sitemap><loc>/s${n}.xml</loc></sitemap>`);
        return new Response(`<sitemapindex>${places.join("")}</sitemapindex>`);
      });
      const { events } = await readAll([`${site.url}index.xml`]);
      const said = events.flatMap((event) => (event.kind === "failed" ? event.failure.message : []));
      expect(
        said.filter((message) =>
          /^95\d\d sitemaps are not read: the 4\d\d before lead to \d+ pages only$/.test(message),
        ),
      ).toHaveLength(1);
      expect(events.filter(({ kind }) => kind === "read" || kind === "failed").length).toBeLessThan(500);
    }
  }, 60_000);

  test("an index of 700 sitemaps with ten pages each is read to its end", async () => {
    using site = serveLocal((request) => {
      const { url } = request;
      const list = (name: string, n: number, path: string) =>
        Array.from({ length: n }, (_, at) => `<${name}><loc>${path}${at}</loc></${name}>`).join("");
      return new Response(
        url.endsWith("/index.xml")
          ? `<sitemapindex>${list("sitemap", 700, "/s")}</sitemapindex>`
          : `<urlset>${list("url", 10, `${url}/p`)}</urlset>`,
      );
    });
    const { events } = await readAll([`${site.url}index.xml`]);
    expect(events.flatMap((event) => (event.kind === "failed" ? event : []))).toEqual([]);
    expect(events.filter(({ kind }) => kind === "read").length).toBe(701);
  }, 60_000);

  test("an endless sitemap ends at its limit, and what was read stays", async () => {
    const piece = `<url><loc>https://a.test/</loc></url>${" ".repeat(60_000)}`;
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    await using site = await startFaultySite({
      routes: {
        "/endless.xml": ({ socket }) => {
          socket.write(
            "HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ntransfer-encoding: chunked\r\n\r\n8\r\n<urlset>\r\n",
          );
          const write = (): void => {
            while (!socket.destroyed && socket.write(chunk)) {}
          };
          socket.on("drain", write);
          write();
        },
      },
    });
    const { urls, events } = await readAll([`${site.origin}/endless.xml`], {
      fetcher: { limits: { sitemapBytes: 1_000_000 } },
    });
    expect(urls.length).toBeGreaterThanOrEqual(5);
    expect(events).toMatchObject([{ kind: "failed", failure: { code: "too_large" } }]);
  });

  test("a sitemap that drips ends at its deadline", async () => {
    await using site = await startFaultySite();
    const { events } = await readAll([`${site.origin}/slow-body?ms=20&pieces=500`], {
      limits: { deadlineMs: 300 },
    });
    expect(events).toMatchObject([{ kind: "failed", failure: { code: "timeout" } }]);
  });

  test("a connection that breaks off is a failure of that sitemap", async () => {
    await using site = await startFaultySite();
    for (const path of ["/reset", "/truncated", "/truncated-gzip"]) {
      const { events } = await readAll([site.origin + path]);
      expect(events).toMatchObject([{ kind: "failed", failure: { code: "network" } }]);
    }
  });

  test("is called off by its signal", async () => {
    const controller = new AbortController();
    await using site = serveSitemaps({ "/a.xml": page("/a"), "/b.xml": page("/b") });
    const reading = async (): Promise<void> => {
      const sources = ["a", "b"].map((n) => parseSitemapSource(`${site.origin}/${n}.xml`, "/"));
      const events = readSitemaps(
        sources.filter((source) => source !== null),
        { fetcher: testFetcher(), limits: DEFAULT_SITEMAP_LIMITS, fetch: { signal: controller.signal } },
      );
      for await (const _ of events) controller.abort();
    };
    expect((await failureOf(reading()))?.code).toBe("cancelled");
  });

  test("waits before each request as it is told", async () => {
    await using site = serveSitemaps({ "/index.xml": index("/a.xml"), "/a.xml": page("/a") });
    const asked: string[] = [];
    await readAll([`${site.origin}/index.xml`], {
      fetch: { beforeRequest: async (url) => void asked.push(url.pathname) },
    });
    expect(asked).toEqual(["/index.xml", "/a.xml"]);
  });

  test("credentials go to the sitemap and its origin's, and show in no event", async () => {
    const seen: (string | null)[] = [];
    const answer = (request: Request): Response => {
      seen.push(request.headers.get("authorization"));
      return new Response(
        new URL(request.url).pathname === "/i.xml"
          ? index("/a.xml", `${other.url.origin}/b.xml`)
          : page("/a"),
      );
    };
    const other = serveLocal(answer);
    const site = serveLocal(answer);
    const { events } = await readAll([`http://user:s3cret@127.0.0.1:${site.port}/i.xml`], {
      authorizations: new Map([[site.url.origin, "Basic dXNlcjpzM2NyZXQ="]]),
    });
    await Promise.all([site.stop(true), other.stop(true)]);
    expect(seen.map((header) => header !== null)).toEqual([true, true, false]);
    expect(JSON.stringify(events)).not.toContain("s3cret");
  });
});

test("a crawl's reader takes URLs and paths, and fails what is neither", async () => {
  await using site = serveSitemaps({ "/a.xml": page("/a") });
  const read = createSitemapReader({ fetcher: testFetcher(), limits: DEFAULT_SITEMAP_LIMITS });
  const written = [
    "javascript:alert(1)",
    `${site.origin}/a.xml`,
    await file("b.xml", page("https://a.test/b")),
  ];
  const news = read(written, {
    signal: new AbortController().signal,
    beforeRequest: async () => {},
    authorizations: new Map(),
  });
  const kinds: string[] = [];
  for await (const event of news) kinds.push(event.kind === "failed" ? event.failure.code : event.kind);
  expect(kinds).toEqual(["invalid_url", "pages", "read", "pages", "read"]);
});

describe("a local sitemap", () => {
  test("is read by path and by file: URL, packed or not", async () => {
    const plain = await file("plain.xml", page("https://a.test/1"));
    const packed = await file("packed.bin", zlib.gzipSync(page("https://a.test/2")));
    expect((await readAll([plain, `file://${packed}`])).urls).toEqual([
      "https://a.test/1",
      "https://a.test/2",
    ]);
  });

  test("may name files below itself and the web, and no other file", async () => {
    await using site = serveSitemaps({ "/a.xml": page("/a") });
    await file("below.xml", page("https://a.test/below"));
    const locs = [
      "below.xml",
      "../outside.xml",
      "/etc/passwd",
      "file:///etc/passwd",
      "%2e%2e/outside.xml",
      `file://${directory}/below.xml`,
      `${site.origin}/a.xml`,
    ];
    const { urls, events } = await readAll([await file("index.xml", index(...locs))]);
    expect(urls).toEqual(["https://a.test/below", `${site.origin}/a`]);
    expect(events[0]).toMatchObject({ kind: "read", invalidCount: 4 });
  });

  test("is no way from the web to files", async () => {
    const below = await file("secret.xml", page("https://a.test/secret"));
    expect((await readServed(index(below, `file://${below}`))).urls).toEqual([]);
  });

  test("with relative locations has none that can be followed", async () => {
    const { urls, events } = await readAll([await file("relative.xml", page("/a"))]);
    expect(urls).toEqual([]);
    expect(events).toMatchObject([{ kind: "read", invalidCount: 1 }]);
  });

  test.each([
    ["missing", "there is no such file", "unreadable_input"],
    ["", "is a directory", "unreadable_input"],
    ["cut.gz", "the gzip data is cut off", "unreadable_input"],
    ["damaged.gz", "the gzip data is damaged", "unreadable_input"],
    ["bomb.gz", "over the limit of 1000000 bytes", "too_large"],
  ])("%s fails: %s", async (name, message, code) => {
    await file("cut.gz", zlib.gzipSync(page("https://a.test/")).subarray(0, 40));
    await file("damaged.gz", Buffer.concat([zlib.gzipSync("").subarray(0, 10), Buffer.from("not deflate")]));
    await file("bomb.gz", zlib.gzipSync(" ".repeat(2_000_000)));
    const { events } = await readAll([join(directory, name)], { limits: { fileBytes: 1_000_000 } });
    const [event] = events;
    if (event?.kind !== "failed") throw new Error(JSON.stringify(event));
    expect(event.failure.message).toContain(message);
    expect(event.failure.code as string).toBe(code);
  });
});

test.each([
  ["https://u:p@a.test/s.xml?utm_source=x", { kind: "url", url: "https://a.test/s.xml" }],
  ["sitemap.xml", { kind: "file", path: "/work/sitemap.xml" }],
  ["/a/b.xml", { kind: "file", path: "/a/b.xml" }],
  ["file:///a/b%20c.xml", { kind: "file", path: "/a/b c.xml" }],
  ["file://host/a.xml", null],
  ["javascript:alert(1)", null],
  ["ftp://a.test/s.xml", null],
  ["https://", null],
  [" ", null],
])("the source %s is understood", (written, source) => {
  expect(parseSitemapSource(written, "/work") as unknown).toEqual(source);
});

test("robots.txt names sitemaps of the web, each once, and no path of this machine", () => {
  const rules = parseRobots(
    "Sitemap: https://a.test/1.xml\nsitemap:https://a.test/1.xml\nSitemap: /etc/passwd\nSitemap: file:///etc/passwd\nSitemap: https://b.test/3.xml\n" +
      "Sitemap: maps/4.xml\nSitemap: www.c.test/5.xml\nSitemap: //d.test/6.xml\nSitemap: 127.0.0.1:81/7.xml\n",
  );
  expect(sitemapsOfRobots(rules, pageUrl("http://127.0.0.1:81/docs/")) as readonly string[]).toEqual([
    "https://a.test/1.xml",
    "http://127.0.0.1:81/etc/passwd",
    "https://b.test/3.xml",
    "http://127.0.0.1:81/docs/maps/4.xml",
    "http://www.c.test/5.xml",
    "http://d.test/6.xml",
    "http://127.0.0.1:81/7.xml",
  ]);
});

test.each([
  ["2026", "2026-01-01T00:00:00.000Z"],
  ["2026-05", "2026-05-01T00:00:00.000Z"],
  ["2026-05-20T10:00", "2026-05-20T10:00:00.000Z"],
  ["2026-05-20 10:00:00.5-05:00", "2026-05-20T15:00:00.500Z"],
  ["Wed, 20 May 2026 10:00:00 +0200", "2026-05-20T08:00:00.000Z"],
  ["20 May 2026 10:00", "2026-05-20T10:00:00.000Z"],
  ["2026-13-40", null],
  ["20/05/2026", null],
  ["", null],
  ["x".repeat(1_000_000), null],
])("the date %s is read", (written, date) => {
  expect(parseLastModified(written)).toBe(date);
});

test("a million pages take no more memory than a hundred thousand", async () => {
  const sitemap = (n: number): string => {
    const lines = Array.from(
      { length: 50_000 },
      (_, i) => `<url><loc>https://a.test/${n}/${i}</loc></url>\n`,
    );
    return `<urlset>${lines.join("")}</urlset>`;
  };
  const server = serveLocal((request) => {
    const { url } = request;
    const { pathname } = new URL(url);
    const names = Array.from({ length: 20 }, (_, n) => `/${n}`);
    return new Response(pathname === "/index" ? index(...names) : sitemap(Number(pathname.slice(1))));
  });
  const source = parseSitemapSource(`${server.url.origin}/index`, "/");
  let pages = 0;
  let early = 0;
  let peak = 0;
  for await (const event of readSitemaps(source ? [source] : [], {
    fetcher: testFetcher(),
    limits: DEFAULT_SITEMAP_LIMITS,
  })) {
    if (event.kind !== "pages") Bun.gc(true);
    else pages += event.pages.length;
    const memory = process.memoryUsage().rss;
    if (pages <= 100_000) early = Math.max(early, memory);
    peak = Math.max(peak, memory);
  }
  await server.stop(true);
  expect(pages).toBe(1_000_000);
  // Garbage grows on a busy machine; nine hundred thousand pages that are kept take more.
  expect(peak - early).toBeLessThan(70_000_000);
}, 600_000);

test("the sitemaps of the host that a seed redirects to are found", async () => {
  await using app = await openTestApp();
  await using moved = serveCrawlSite({
    "/": crawlPage("Home"),
    "/robots.txt": () => new Response("Sitemap: /maps/a.xml"),
    "/maps/a.xml": () => new Response(page("/only-there"), { headers: { "content-type": "text/xml" } }),
    "/only-there": crawlPage("Only there"),
  });
  await using site = serveCrawlSite({ "/": () => redirect(`${moved.origin}/`) });
  await crawlSite(app, site, { discoversSitemaps: true });
  expect(moved.count("/only-there")).toBe(1);
});
