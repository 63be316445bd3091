import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveSite } from "../../support/site.ts";

const site = forAllTests(await serveSite());

/** Every address that the page links to and every one that it loads, made absolute. */
async function readAddresses(response: Response): Promise<{ links: string[]; loaded: string[] }> {
  const links: string[] = [];
  const loaded: string[] = [];
  const add = (list: string[], value: string | null) => {
    if (value !== null && !value.startsWith("data:"))
      list.push(new URL(value, response.url).href.replace(/#.*$/, ""));
  };
  const candidates = (value: string | null) => (value ?? "").split(",").filter((part) => part.trim() !== "");
  await new HTMLRewriter()
    .on("a[href]", { element: (element) => add(links, element.getAttribute("href")) })
    .on("link[href]", {
      element: (element) =>
        add(element.getAttribute("rel") === "canonical" ? links : loaded, element.getAttribute("href")),
    })
    .on("img, script[src], source, iframe, video, audio", {
      element: (element) => {
        for (const name of ["src", "data-src"]) add(loaded, element.getAttribute(name));
        for (const name of ["srcset", "data-srcset"]) {
          for (const candidate of candidates(element.getAttribute(name)))
            add(loaded, candidate.trim().split(/\s+/)[0] ?? null);
        }
      },
    })
    .transform(response)
    .text();
  return { links, loaded };
}

/** Follows every link of the site from its home page on. */
async function walkSite(): Promise<{ pages: Set<string>; loaded: Set<string>; broken: string[] }> {
  const pages = new Set([`${site.origin}/`]);
  const loaded = new Set<string>();
  const broken: string[] = [];
  for (const page of pages) {
    const response = await fetch(page);
    if (response.status !== 200) broken.push(page);
    const addresses = await readAddresses(response);
    for (const link of addresses.links) if (link.startsWith(site.origin)) pages.add(link);
    for (const address of addresses.loaded) loaded.add(address);
  }
  return { pages, loaded, broken };
}

describe("the website that tests and the demo read", () => {
  test("has no broken link, and every page of its sitemap is reached from the home page", async () => {
    const { pages, broken } = await walkSite();
    expect(broken).toEqual([]);
    const sitemap = await (await fetch(`${site.origin}/sitemap.xml`)).text();
    const locations = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map((match) => match[1] ?? "");
    expect(locations.length).toBeGreaterThanOrEqual(14);
    expect(locations.filter((location) => !pages.has(location))).toEqual([]);
  });

  test("loads everything from its own host, and all of it exists", async () => {
    const { loaded } = await walkSite();
    expect(loaded.size).toBeGreaterThan(5);
    for (const address of loaded) {
      expect(address).toStartWith(`${site.origin}/`);
      expect((await fetch(address)).status).toBe(200);
    }
  });

  test("names the served origin in robots.txt and in the sitemap", async () => {
    const robots = await (await fetch(`${site.origin}/robots.txt`)).text();
    expect(robots).toContain(`Sitemap: ${site.origin}/sitemap.xml`);
    const sitemap = await (await fetch(`${site.origin}/sitemap.xml`)).text();
    expect(sitemap).toContain(`<loc>${site.origin}/news/</loc>`);
    expect(robots + sitemap).not.toContain("{origin}");
  });

  test.each([
    ["/", "text/html; charset=utf-8"],
    ["/docs/", "text/html; charset=utf-8"],
    ["/ja/suisha.html", "text/html; charset=utf-8"],
    ["/robots.txt", "text/plain; charset=utf-8"],
    ["/sitemap.xml", "application/xml; charset=utf-8"],
    ["/assets/site.css", "text/css; charset=utf-8"],
    ["/assets/logo.svg", "image/svg+xml"],
    ["/assets/mill-32.png", "image/png"],
  ])("serves %s as %s", async (path, contentType) => {
    const response = await fetch(site.origin + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(contentType);
  });

  test("answers an unknown address with the error page and status 404", async () => {
    const response = await fetch(`${site.origin}/no/such/page`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("<h1>This page has gone out with the tide</h1>");
  });

  test("redirects a directory without its slash", async () => {
    const response = await fetch(`${site.origin}/docs`, { redirect: "manual" });
    expect(response.status).toBe(301);
    expect(response.headers.get("location")).toBe("/docs/");
  });

  test("answers HEAD without a body and refuses other methods", async () => {
    const head = await fetch(`${site.origin}/about.html`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(`${site.origin}/about.html`, { method: "POST" })).status).toBe(405);
  });

  test.each([
    "/../support/site.ts",
    "/..%2fsupport%2fsite.ts",
    "/%2e%2e/support/site.ts",
    "/assets/..%5c..%5csupport",
    "/%00",
  ])("does not leave its directory for %s", async (path) => {
    expect(await statusOfRawRequest(path)).toBe(404);
  });

  test("remembers the requests in their order", async () => {
    await using own = await serveSite();
    await fetch(`${own.origin}/about.html?from=test`);
    await fetch(`${own.origin}/docs/`);
    expect(own.requests).toEqual(["/about.html?from=test", "/docs/"]);
  });

  test("closes its port when disposed", async () => {
    const own = await serveSite();
    await own[Symbol.asyncDispose]();
    await expect(fetch(own.origin)).rejects.toThrow();
  });
});

/** Sends the path as it stands; fetch would tidy it first. */
function statusOfRawRequest(path: string): Promise<number> {
  const { hostname, port } = new URL(site.origin);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1])));
  });
}
