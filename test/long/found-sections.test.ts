import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveLocal } from "../support/local.ts";
import { openRegistry } from "../support/search-server.ts";

setDefaultTimeout(120_000);

/**
 * Where Debian's packages of documentation are unpacked. Each of those that are there is a site: git-doc, nodejs-doc,
 * bash-doc, sqlite3-doc, postgresql-doc-15, python3.11-doc.
 */
const ROOT = process.env.DOCUMENTATION_PACKAGES ?? "/";
const SITES = [
  ["git", "usr/share/doc/git-doc", "git.html"],
  ["node", "usr/share/doc/nodejs/api", "index.html"],
  ["bash", "usr/share/doc/bash", "bash.html"],
  ["sqlite", "usr/share/doc/sqlite3", "docs.html"],
  ["postgresql", "usr/share/doc/postgresql-doc-15/html", "sql-commands.html"],
  ["python", "usr/share/doc/python3.11/html", "contents.html"],
] as const;
const MOST_PAGES = 50;
const QUERIES = 60;
const WORDS = ["how to change an option", "list of files", "error", "environment variables", "connection"];

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"' } as const;
/** The letters and digits that a piece of HTML shows. */
const lettersOf = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (_, name) => ENTITIES[name as keyof typeof ENTITIES] ?? " ")
    .replace(/[^\p{L}\p{N}]/gu, "");

const headingsOf = (html: string) =>
  [...html.matchAll(/<h([1-6])\b[^>]*>(.*?)<\/h\1\s*>/gis)].map(({ 0: whole, 2: inner = "", index }) => {
    const before = html.slice(Math.max(0, index - 200), index);
    const isNamed =
      /\s(?:id|name)=/i.test(whole) || /<[^<>]*\s(?:id|name)=[^<>]*>(?:\s|&nbsp;|<[^<>]*>)*$/i.test(before);
    return { end: index + whole.length, text: lettersOf(inner), isNamed };
  });

/** What the page shows where the anchor leads to: the next heading; null for an anchor that the page has not. */
function headingAt(html: string, anchor: string): string | null {
  const written = RegExp.escape(anchor).replace(/&|\\x26/g, "&(?:amp;)?");
  const at = html.search(new RegExp(`<[^<>]*\\s(?:id|name)=(["']?)${written}\\1[\\s/>]`, "i"));
  return at < 0 ? null : (headingsOf(html).find(({ end }) => end > at)?.text ?? "");
}

const isLike = (shown: string, heading: string): boolean =>
  shown.startsWith(heading) || heading.startsWith(shown);

type Found = { readonly anchor: string | null; readonly headings: readonly string[] };

/** What is wrong with a hit's anchor; null where it leads to the section, or to one around a section without any id. */
function faultOf(html: string, { anchor, headings }: Found): string | null {
  const path = headings.map(lettersOf);
  const own = path.at(-1) ?? "";
  const shown = anchor === null ? "" : headingAt(html, decodeURIComponent(anchor));
  if (shown === null) return "no such id";
  if (anchor !== null && isLike(shown, own)) return null;
  const isNamed = headingsOf(html).some(({ text, isNamed }) => isNamed && text === own);
  if (isNamed) return "its heading has an id";
  return anchor === null || path.some((heading) => isLike(shown, heading)) ? null : `leads to ${shown}`;
}

describe.each(SITES)("the hits of %s", (name, path, start) => {
  const folder = join(ROOT, path);

  test.skipIf(!existsSync(join(folder, start)))("open at the sections that were found", async () => {
    const pages = new Map<string, string>();
    using site = serveLocal(async (request) => {
      const { pathname } = new URL(request.url);
      const file = Bun.file(join(folder, decodeURIComponent(pathname)));
      if (!(await file.exists())) return new Response("", { status: 404 });
      if (pathname.endsWith(".html")) pages.set(pathname, await file.text());
      return new Response(file);
    });
    const entry = new URL(start, site.url.origin).href;
    await using registry = openRegistry({
      infrastructure: { operation_mode: "online", crawler_browser_first: false, allow_index_builds: true },
      tenants: [
        {
          source_type: "online",
          codename: name,
          docs_name: name,
          docs_root_dir: mkdtempSync(join(tmpdir(), "sections-")),
          docs_entry_url: entry,
          enable_crawler: true,
          max_crawl_pages: MOST_PAGES,
          url_whitelist_prefixes: `${site.url.origin}/`,
        },
      ],
    });
    await registry.sync(name);
    const titles = [...pages.values()].flatMap((html) => headingsOf(html).slice(1));
    const step = Math.max(1, Math.floor(titles.length / QUERIES));
    const texts = titles.filter((_, at) => at % step === 0).map(({ text }) => text);
    const faults: string[] = [];
    let sections = 0;
    for (const query of [...texts, ...WORDS]) {
      const { hits } = await registry.search(name, query, { size: 5, wordMatch: false, timeoutMs: 30_000 });
      for (const { url, title, anchor, headings } of hits) {
        // What stands below the title is at the page's top.
        if (headings.length === 0 || headings.at(-1) === title) continue;
        sections++;
        const fault = faultOf(pages.get(new URL(url).pathname) ?? "", { anchor, headings });
        if (fault !== null) faults.push(`${url}#${anchor}, found for ${headings.at(-1)}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect(sections).toBeGreaterThan(50);
  });
});
