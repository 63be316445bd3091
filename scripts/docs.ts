/**
 * Builds the documentation as a site: `sh scripts/bun scripts/docs.ts` writes `docs/` to dist/docs. With `--base /path/` the
 * page for unknown addresses finds the site below that path, and with `--out DIR` it is written elsewhere.
 */
import { rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { parseArgs } from "node:util";
import { escapeAttribute, escapeHtml } from "../src/base/text.ts";
import type { Section } from "./docs/page.ts";
import { type DocsPage, htmlPath, readPages, textOf } from "./docs/pages.ts";

const ROOT = join(import.meta.dir, "..");
const NAME = "article-extractor";
const STYLES = ["src/server/web/page/base.css", "src/server/web/page/prose.css", "scripts/docs/page.css"];
const NOT_FOUND = `<main id="main"><h1>There is no page at this address</h1>
<p>It may have been renamed. The search above looks through all pages, and the name above leads to their list.</p></main>`;

/** Nothing is loaded from elsewhere, nothing runs in a page, and nothing is sent. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

/**
 * Writes the documentation as a site of plain files, which works from any folder of a server and from the disk. Beside each
 * page is its Markdown. `base` is the root's path on the server and ends in `/`; only the page for unknown addresses needs it.
 */
export async function writeSite(pages: readonly DocsPage[], directory: string, base: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  // A classic script, because browsers load no modules from the disk.
  const entrypoints = [join(ROOT, "scripts/docs/page.ts")];
  const script = await Bun.build({ entrypoints, target: "browser", format: "iife", minify: true });
  const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
  const files: Record<string, string> = {
    "404.html": shell({ title: "Not found", description: "", prefix: base, body: NOT_FOUND }),
    "llms.txt": llmsText(pages),
    "assets/icon.svg": await read("src/server/web/page/icon.svg"),
    "assets/docs.css": (await Promise.all(STYLES.map(read))).join("\n"),
    "assets/docs.js": await script.outputs[0]!.text(), // a build that fails throws
    // A script, because a page from the disk may not fetch files.
    "assets/sections.js": `globalThis.docsSections = ${JSON.stringify(pages.flatMap(sectionsOf))};\n`,
  };
  for (const page of pages) {
    files[htmlPath(page.path)] = pageHtml(page, pages);
    files[page.path] = page.markdown;
  }
  for (const [path, text] of Object.entries(files)) await Bun.write(join(directory, path), text);
}

/** The text below each heading of a page. */
const sectionsOf = ({ path, title, html, headings }: DocsPage): readonly Section[] =>
  html.split(/(?=<h[1-6] id=")/).map((part, at) => ({
    id: at === 0 ? htmlPath(path) : `${htmlPath(path)}#${headings[at]?.anchor}`,
    title,
    heading: at === 0 ? "" : (headings[at]?.text ?? ""),
    text: textOf(part.replace(/^<h.*/, "")).replace(/\s+/g, " ").trim(),
  }));

/** The list of pages for language models, in the form of llms.txt: titles, addresses of Markdown, descriptions. */
function llmsText([index, ...others]: readonly DocsPage[]): string {
  const lists = [...Map.groupBy(others, ({ group }) => group)].map(([group, members]) => {
    const lines = members.map(({ title, path, description }) => `- [${title}](${path}): ${description}`);
    return `## ${group}\n\n${lines.join("\n")}\n`;
  });
  return `# ${NAME}\n\n> ${index?.description ?? ""}\n\n${lists.join("\n")}`;
}

function pageHtml(page: DocsPage, pages: readonly DocsPage[]): string {
  const to = (path: string): string => posix.relative(posix.dirname(page.path), path);
  const entry = (one: DocsPage): string => {
    const current = one === page ? ' aria-current="page"' : "";
    return `<li><a href="${to(htmlPath(one.path))}"${current}>${escapeHtml(one.title)}</a></li>`;
  };
  const groups = [...Map.groupBy(pages, ({ group }) => group)].map(
    ([group, members]) => `<h2>${escapeHtml(group)}</h2><ul>${members.map(entry).join("\n")}</ul>`,
  );
  return shell({
    title: page.title,
    description: page.description.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", ""),
    prefix: to("x").slice(0, -1),
    body: `<div class="columns">
<nav class="contents" id="contents" aria-label="Pages">${groups.join("\n").replace("<h2></h2>", "")}</nav>
<main id="main" tabindex="-1">
<article class="prose">
${page.html}</article>
<p><a rel="alternate" type="text/markdown" href="${posix.basename(page.path)}">This page as Markdown</a></p>
</main>
</div>`,
  });
}

/** @param prefix the way to the site's root: empty, or ending in `/` */
function shell(page: Readonly<Record<"title" | "description" | "prefix" | "body", string>>): string {
  const { title, description, prefix, body } = page;
  return `<!doctype html>
<html lang="en" data-root="${prefix}">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – ${NAME}</title>
<meta name="description" content="${escapeAttribute(description)}">
<link rel="icon" href="${prefix}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${prefix}assets/docs.css">
<script defer src="${prefix}assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="top">
<a href="${prefix}index.html">${NAME}</a>
<search hidden>
<label class="hush" for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" aria-keyshortcuts="/" aria-controls="hits">
</search>
<div id="hits" role="status"></div>
</header>
${body}
</body>
</html>
`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { base: { type: "string" }, out: { type: "string" } } });
  const { base = "/", out: directory = join(ROOT, "dist/docs") } = values;
  const { repository = null } = await Bun.file(join(ROOT, "project.json")).json();
  const pages = await readPages(join(ROOT, "docs"), repository);
  await writeSite(pages, directory, `${base.replace(/\/+$/, "")}/`);
  console.log(`${pages.length} pages in ${directory}`);
}
