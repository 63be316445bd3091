import { expect, test } from "bun:test";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { folderTenant, openRegistry, writeTree } from "../support/search-server.ts";
import { serveSite } from "../support/site.ts";

/** Two documents, and in each folder the main part of what a generator has made of them. */
const FIXTURES = join(import.meta.dir, "../fixtures/anchors");
const DOCUMENTS = ["guide", "parts"] as const;

/** Sets of Markdown with the configuration by which their generator is known. */
const MARKDOWN = { mkdocs: "mkdocs.yml", vitepress: ".vitepress/config.ts", sphinx: "conf.py" } as const;

function writeSet(configuration: string): string {
  const folder = writeTree({ [configuration]: "" });
  for (const name of DOCUMENTS) cpSync(join(FIXTURES, `${name}.md`), join(folder, `${name}.md`));
  return folder;
}

const rendered = (generator: string, name: string): Promise<string> =>
  Bun.file(join(FIXTURES, generator, `${name}.html`)).text();

/** Serves what Sphinx has made. */
const manual = forAllTests(
  serveLocal(async (request) => {
    const { pathname } = new URL(request.url);
    const name = DOCUMENTS.find((one) => pathname === `/${one}.html`);
    const links = DOCUMENTS.map((one) => `<li><a href="/${one}.html">${one}</a></li>`).join("");
    const start = `<html><body><main><h1 id="start">Start</h1><ul>${links}</ul></main></body></html>`;
    const status = name === undefined && pathname !== "/" ? 404 : 200;
    const body = name === undefined ? start : await rendered("sphinx", name);
    return new Response(body, { status, headers: { "content-type": "text/html; charset=utf-8" } });
  }),
);

const site = forAllTests(await serveSite());
const crawled = { manual: `${manual.url.origin}/`, site: `${site.origin}/docs/` };
const registry = forAllTests(
  openRegistry({
    infrastructure: { operation_mode: "online", crawler_browser_first: false, allow_index_builds: true },
    tenants: [
      ...Object.entries(MARKDOWN).map(([codename, configuration]) =>
        folderTenant(codename, writeSet(configuration)),
      ),
      ...Object.entries(crawled).map(([codename, docs_entry_url]) => ({
        source_type: "online",
        codename,
        docs_name: codename,
        docs_root_dir: mkdtempSync(join(tmpdir(), "crawled-")),
        docs_entry_url,
        enable_crawler: true,
        url_whitelist_prefixes: docs_entry_url,
      })),
    ],
  }),
);
for (const codename of Object.keys(MARKDOWN)) await registry.build(codename);
for (const codename of Object.keys(crawled)) await registry.sync(codename);

const QUERIES = "weir, gate, usage, sensor level, water, eel ladder, old lady, trout May, ice".split(", ");
const SITE_QUERIES = ["install", "configuration", "forecast", "option", "station", "command", "quick start"];

test.each([...Object.keys(MARKDOWN), "manual", "site"])(
  "every anchor of the results of %s exists in its page",
  async (tenant) => {
    const anchors = new Set<string>();
    for (const query of tenant === "site" ? SITE_QUERIES : QUERIES) {
      const options = { size: 10, wordMatch: false, timeoutMs: 30_000 };
      const { hits } = await registry.search(tenant, query, options);
      for (const { url, anchor } of hits) {
        if (anchor === null) continue;
        anchors.add(`${url}#${anchor}`);
        const name = url.replace(/^.*\/|\.\w+$/g, "");
        const html = url.startsWith("docs:") ? await rendered(tenant, name) : await (await fetch(url)).text();
        expect(html).toMatch(new RegExp(`\\sid="${RegExp.escape(anchor)}"`));
      }
    }
    expect(anchors.size).toBeGreaterThan(tenant === "site" ? 5 : 7);
  },
);
