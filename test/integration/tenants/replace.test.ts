import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { readDeployment } from "../../../src/settings/index.ts";
import type { TenantSettings } from "../../../src/tenants/index.ts";
import { folderTenant } from "../../support/deployment.ts";
import { serveLocal } from "../../support/local.ts";
import { openRegistry, type TestRegistry, writeTree } from "../../support/search-server.ts";
import { indexIn } from "../../support/state-place.ts";
import { until, untilTrue } from "../../support/until.ts";

const SEARCH = { size: 10, wordMatch: false, timeoutMs: 30_000 };
const infrastructure = { allow_index_builds: true, crawler_browser_first: false };
const settingsOf = (tenants: readonly object[]): readonly TenantSettings[] =>
  readDeployment(JSON.stringify({ infrastructure, tenants }), { name: "d.json", directory: "/" }).tenants;

const docs = writeTree({ "a.md": "# Apples\n\nThey are red.\n" });
const folder = (codename: string, more: object = {}): object =>
  folderTenant(codename, { docs_root_dir: docs, ...more });

let registry: TestRegistry;
const open = (tenants: readonly object[]): TestRegistry => {
  registry = openRegistry({ infrastructure, tenants });
  return registry;
};
const replace = (...tenants: readonly object[]) => registry.replace(settingsOf(tenants));
const codenames = (): readonly string[] => registry.list().map(({ codename }) => codename);
const hitsOf = async (codename: string): Promise<number> =>
  (await registry.search(codename, "apples", SEARCH)).hits.length;
const isIdle = async (codename: string) => (await registry.status(codename)).state === "idle";
const documentsOf = async (codename: string) => (await registry.status(codename)).documentCount;
afterEach(() => registry[Symbol.asyncDispose]());

/** A website of three pages, the second of which waits for `release`. */
function openSlowSite() {
  const gate = Promise.withResolvers<void>();
  const requests: string[] = [];
  const cut: string[] = [];
  const page = (name: string): string =>
    `<html><head><title>${name}</title></head><body><main><h1>${name}</h1><p>${`Apples of ${name}. `.repeat(60)}</p></main></body></html>`;
  const server = serveLocal(async (request) => {
    const { pathname, origin } = new URL(request.url);
    requests.push(pathname);
    request.signal.addEventListener("abort", () => cut.push(pathname));
    if (pathname === "/sitemap.xml")
      return new Response(
        `<urlset>${["one", "two", "three"].map((name) => `<url><loc>${origin}/${name}</loc></url>`).join("")}</urlset>`,
        { headers: { "content-type": "application/xml" } },
      );
    if (!["/one", "/two", "/three"].includes(pathname)) return new Response("no", { status: 404 });
    if (pathname === "/two") await gate.promise;
    return new Response(page(pathname.slice(1)), { headers: { "content-type": "text/html" } });
  });
  return {
    requests,
    cut,
    release: gate.resolve,
    tenant: (codename: string, more: object = {}): object => ({
      source_type: "online",
      codename,
      docs_name: codename,
      docs_root_dir: join(mkdtempSync(join(tmpdir(), "web-")), "docs"),
      docs_sitemap_url: `${server.url.origin}/sitemap.xml`,
      ...more,
    }),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

describe("tenants that are replaced", () => {
  test("keep the open index of those that did not change", async () => {
    open([folder("first"), folder("second")]);
    for (const codename of codenames()) await registry.build(codename);
    expect([await hitsOf("first"), await hitsOf("second")]).toEqual([1, 1]);
    for (const codename of codenames()) rmSync(indexIn(registry.stateDirectory, codename));
    const changes = replace(
      folder("second", { description: "Another one" }),
      folder("first"),
      folder("third"),
    );
    expect(changes).toEqual({ added: ["third"], changed: ["second"], removed: [] });
    expect(codenames()).toEqual(["second", "first", "third"]);
    expect(await hitsOf("first")).toBe(1);
    await expect(hitsOf("second")).rejects.toThrow("no search index");
  });

  test("keep a sync of those that did not change, and are synced when they are new", async () => {
    await using site = openSlowSite();
    const web = site.tenant("web");
    open([web]).start();
    await untilTrue(() => site.requests.includes("/two"));
    replace(folder("beside"), web);
    await untilTrue(async () => (await documentsOf("beside")) === 1);
    replace(web);
    site.release();
    await untilTrue(async () => (await documentsOf("web")) === 3);
    expect(await hitsOf("web")).toBe(3);
    expect((await registry.status("web")).history.map(({ error }) => error)).toEqual([null]);
    expect(site.requests.filter((path) => path === "/two")).toHaveLength(1);
    expect(site.cut).toEqual([]);
  });

  test("end the sync of those that are removed, and leave what they have on the disk", async () => {
    await using site = openSlowSite();
    const web = site.tenant("web") as { readonly docs_root_dir: string };
    open([web, folder("beside")]).start();
    await untilTrue(() => site.requests.includes("/two"));
    expect(replace(folder("beside"))).toEqual({ added: [], changed: [], removed: ["web"] });
    await untilTrue(() => site.cut.includes("/two"));
    for (const ask of [() => hitsOf("web"), () => registry.status("web"), () => registry.requestSync("web")])
      await expect(ask()).rejects.toThrow("Tenant 'web' not found");
    expect(existsSync(join(web.docs_root_dir, ".article-extractor"))).toBe(true);
    expect(registry.lines.join("")).not.toContain("sync failed");
    site.release();
    replace(web);
    expect(
      await until(
        () => documentsOf("web"),
        (count) => count === 3,
      ),
    ).toBe(3);
  });

  test("are synced again when their documents come from elsewhere, and only then", async () => {
    await using site = openSlowSite();
    site.release();
    const web = site.tenant("web");
    open([web]).start();
    const pagesOf = (count: number) =>
      until(
        async () => [await documentsOf("web"), await isIdle("web")],
        (found) => `${found}` === `${count},true`,
      );
    await pagesOf(3);
    const before = site.requests.length;
    replace({ ...web, description: "The same pages", refresh_schedule: "0 3 1 1 *" });
    await pagesOf(3);
    expect((await registry.status("web")).history).toHaveLength(1);
    expect(site.requests).toHaveLength(before);
    const prefix = String((web as { docs_sitemap_url: string }).docs_sitemap_url).replace("sitemap.xml", "t");
    replace({ ...web, url_whitelist_prefixes: prefix });
    // The sitemap is read again, and a page that the settings exclude is removed at once.
    expect(await pagesOf(2)).toEqual([2, true]);
  });

  test("change many times while one is synced, and the last one is served", async () => {
    await using site = openSlowSite();
    const web = site.tenant("web");
    open([web]).start();
    await untilTrue(() => site.requests.includes("/two"));
    for (let number = 0; number < 20; number++) {
      if (number % 3 === 0) replace();
      replace({ ...web, max_crawl_pages: 10 + number });
    }
    site.release();
    expect(
      await until(
        () => documentsOf("web"),
        (count) => count === 3,
      ),
    ).toBe(3);
    await untilTrue(() => isIdle("web"));
    expect(registry.lines.join("")).not.toContain("sync failed");
  });

  test("are seen by those who may see only some of them", async () => {
    open([folder("first")]);
    const limited = registry.limitedTo(["second", "third"]);
    expect(limited.list()).toEqual([]);
    replace(folder("first"), folder("second"));
    expect(limited.list().map(({ codename }) => codename)).toEqual(["second"]);
    expect(limited.find("second").tenants.map(({ codename }) => codename)).toEqual(["second"]);
    await registry.build("second");
    expect((await limited.searchTogether(null, "apples", SEARCH)).hits).toHaveLength(1);
    expect(() => limited.describe("first")).toThrow("not found");
    replace(folder("third"));
    expect(() => limited.describe("second")).toThrow("not found");
  });
});

test("after any changes the tenants are those of the last one, and each is searched or unknown", async () => {
  const all = ["one", "two", "three", "four"];
  open(all.map((codename) => folder(codename)));
  for (const codename of all) await registry.build(codename);
  registry.start();
  const step = fc
    .shuffledSubarray(all)
    .chain((names) =>
      fc.tuple(...names.map((name) => fc.constantFrom("a", "b").map((text) => ({ name, text })))),
    );
  let present = new Map(all.map((name) => [name, ""]));
  await fc.assert(
    fc.asyncProperty(step, async (tenants) => {
      const next = new Map(tenants.map(({ name, text }) => [name, text]));
      const names = [...next.keys()];
      expect(replace(...tenants.map(({ name, text }) => folder(name, { description: text })))).toEqual({
        added: names.filter((name) => !present.has(name)),
        changed: names.filter((name) => present.has(name) && present.get(name) !== next.get(name)),
        removed: [...present.keys()].filter((name) => !next.has(name)),
      });
      present = next;
      expect(codenames()).toEqual(names);
      for (const name of all) {
        if (next.has(name)) expect(await hitsOf(name)).toBe(1);
        else await expect(hitsOf(name)).rejects.toThrow(`Tenant '${name}' not found`);
      }
      if (names.length > 0)
        expect((await registry.searchTogether(null, "apples", SEARCH)).hits).toHaveLength(names.length);
    }),
    { numRuns: 100 },
  );
});
