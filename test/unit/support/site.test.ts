import { expect, test } from "bun:test";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveSite } from "../../support/site.ts";

const site = forAllTests(await serveSite());
const textOf = async (path: string): Promise<string> => await (await fetch(site.origin + path)).text();

/** Every address that the page links to and every one that it loads, made absolute. */
async function readAddresses(response: Response): Promise<{ links: string[]; loaded: string[] }> {
  const links: string[] = [];
  const loaded: string[] = [];
  const add = (list: string[], value: string | null | undefined) => {
    if (value && !value.startsWith("data:")) list.push(new URL(value, response.url).href.replace(/#.*$/, ""));
  };
  await new HTMLRewriter()
    .on("a[href], link[rel=canonical]", { element: (one) => add(links, one.getAttribute("href")) })
    .on("link[href]:not([rel=canonical])", { element: (one) => add(loaded, one.getAttribute("href")) })
    .on("img, script[src], source, iframe, video, audio", {
      element: (one) => {
        for (const name of ["src", "data-src"]) add(loaded, one.getAttribute(name));
        for (const name of ["srcset", "data-srcset"])
          for (const candidate of one.getAttribute(name)?.split(",") ?? [])
            add(loaded, candidate.trim().split(/\s+/)[0]);
      },
    })
    .transform(response)
    .text();
  return { links, loaded };
}

test("the website of tests and of the demo has no broken link, and loads nothing from elsewhere", async () => {
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
  expect(loaded.size).toBeGreaterThan(5);
  for (const address of loaded)
    if (!address.startsWith(`${site.origin}/`) || (await fetch(address)).status !== 200) broken.push(address);
  expect(broken).toEqual([]);
  const sitemap = await textOf("/sitemap.xml");
  const locations = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map((match) => match[1] ?? "");
  expect(locations.length).toBeGreaterThanOrEqual(14);
  expect(locations.filter((location) => !pages.has(location))).toEqual([]);
});

test("its robots.txt names the origin that was asked, and unknown addresses get its error page", async () => {
  expect(await textOf("/robots.txt")).toContain(`Sitemap: ${site.origin}/sitemap.xml`);
  const response = await fetch(`${site.origin}/no/such/page`);
  expect(response.status).toBe(404);
  expect(await response.text()).toContain("<h1>This page has gone out with the tide</h1>");
});
