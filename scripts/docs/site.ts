import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { escapeAttribute, escapeHtml } from "../../src/base/text.ts";
import { type DocsPage, htmlPath, INDEX } from "./pages.ts";

const PAGE = join(import.meta.dir, "page");
const SHARED_PAGE = join(import.meta.dir, "../../src/server/web/page");

const SITE_NAME = "article-extractor";

/** Nothing is loaded from elsewhere, nothing runs in a page, and nothing is sent. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * Writes the documentation as a site of plain files, which works from any folder of a server and from the disk. Beside each
 * page is its Markdown.
 * @param base the path of the site's root on its server, ending in `/`; only the page for unknown addresses needs it
 */
export async function writeSite(
  pages: readonly DocsPage[],
  { directory, base }: { readonly directory: string; readonly base: string },
): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  };
  for (const [at, page] of pages.entries()) {
    const neighbours = { previous: pages[at - 1] ?? null, next: pages[at + 1] ?? null };
    await write(htmlPath(page.path), pageHtml(page, pages, neighbours));
    await write(page.path, page.markdown);
  }
  await write("404.html", notFoundHtml(base));
  await write("llms.txt", llmsText(pages));
  await write("assets/docs.css", await styles());
  await write("assets/icon.svg", await Bun.file(join(SHARED_PAGE, "icon.svg")).text());
  await write("assets/docs.js", await bundle("main.ts"));
  await write("assets/search.js", await bundle("engine.ts"));
  await write("assets/documents.js", documentsScript(pages));
}

async function styles(): Promise<string> {
  const files = [join(SHARED_PAGE, "base.css"), join(SHARED_PAGE, "prose.css"), join(PAGE, "docs.css")];
  return (await Promise.all(files.map((file) => Bun.file(file).text()))).join("\n");
}

/** A classic script, because browsers load no modules from the disk. */
async function bundle(entry: string): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(PAGE, entry)],
    target: "browser",
    format: "iife",
    minify: true,
    plugins: [withoutOtherStemmers],
    // Only equal hashes count, so any hash does where the runtime's are missing.
    define: { "Bun.hash.crc32": "hashOfText", "Bun.hash.xxHash32": "hashOfText" },
  });
  const [output] = result.outputs;
  if (!result.success || !output) throw new AggregateError(result.logs, `bundling ${entry} failed`);
  return output.text();
}

/** The pages are English, whose stemmer is our own; those of other languages are half of the script. */
const withoutOtherStemmers: Bun.BunPlugin = {
  name: "without the stemmers of other languages",
  setup(build) {
    build.onLoad({ filter: /@orama\/stemmers\/.*\.js$/ }, () => ({
      contents: "export const stemmer = (word) => word;",
      loader: "js",
    }));
  },
};

/**
 * What the search is over, as `engine.ts` reads it: a script, because a page from the disk may not fetch files.
 * The index is built of it in the browser when the search is first used.
 */
function documentsScript(pages: readonly DocsPage[]): string {
  const documents = pages.map(({ path, title, markdown }) => ({ path: htmlPath(path), title, markdown }));
  return `globalThis.docsDocuments = ${JSON.stringify(documents)};\n`;
}

/** The list of pages for language models, in the form of llms.txt: titles, addresses of Markdown, descriptions. */
function llmsText(pages: readonly DocsPage[]): string {
  const [index, ...others] = pages;
  const groups = Map.groupBy(others, ({ group }) => group);
  const lists = [...groups].map(([group, members]) => {
    const lines = members.map(({ title, path, description }) => `- [${title}](${path}): ${description}`);
    return `## ${group}\n\n${lines.join("\n")}\n`;
  });
  return `# ${SITE_NAME}\n\n> ${index?.description ?? ""}\n\n${lists.join("\n")}`;
}

type Neighbours = { readonly previous: DocsPage | null; readonly next: DocsPage | null };

function pageHtml(page: DocsPage, pages: readonly DocsPage[], { previous, next }: Neighbours): string {
  const from = posix.dirname(page.path);
  const to = (path: string): string => posix.relative(from, path);
  const title = page.path === INDEX ? `${page.title} – ${SITE_NAME}` : `${page.title} – ${SITE_NAME} docs`;
  const neighbour = (one: DocsPage | null, relation: "prev" | "next", label: string): string =>
    one === null
      ? ""
      : `<a rel="${relation}" href="${to(htmlPath(one.path))}"><span class="fine">${label}</span> ${escapeHtml(one.title)}</a>`;
  return shell({
    title,
    description: page.description,
    root: to("."),
    head: `<link rel="alternate" type="text/markdown" href="${to(page.path)}">`,
    body: `<div class="columns">
${navigation(page, pages, to)}
<main id="main" tabindex="-1">
<article class="prose">
${page.html}
</article>
<nav class="neighbours" aria-label="Previous and next page">${neighbour(previous, "prev", "Previous")}${neighbour(next, "next", "Next")}</nav>
<p class="fine"><a href="${to(page.path)}">This page as Markdown</a></p>
</main>
${outline(page)}
</div>`,
  });
}

function navigation(page: DocsPage, pages: readonly DocsPage[], to: (path: string) => string): string {
  const link = (one: DocsPage): string => {
    const current = one.path === page.path ? ' aria-current="page"' : "";
    return `<li><a href="${to(htmlPath(one.path))}"${current}>${escapeHtml(one.title)}</a></li>`;
  };
  const groups = [...Map.groupBy(pages, ({ group }) => group)].map(([group, members]) => {
    const heading = group === "" ? "" : `<h2>${escapeHtml(group)}</h2>`;
    return `${heading}<ul>${members.map(link).join("\n")}</ul>`;
  });
  return `<nav class="contents" id="contents" aria-label="Pages">${groups.join("\n")}</nav>`;
}

/** The headings of a page; one or two need no list. */
function outline({ headings }: DocsPage): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 3) return "";
  const items = shown.map(
    ({ level, text, anchor }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="outline" aria-labelledby="outline-title"><h2 id="outline-title">On this page</h2><ul>${items.join("\n")}</ul></nav>`;
}

const notFoundHtml = (base: string): string =>
  shell({
    title: `Not found – ${SITE_NAME} docs`,
    description: "There is no page at this address.",
    root: base.replace(/\/$/, ""),
    head: "",
    body: `<main id="main" class="prose" tabindex="-1">
<h1>There is no page at this address</h1>
<p>It may have been renamed. The search above looks through all pages, and <a href="${base}index.html">the list of pages</a> names them.</p>
</main>`,
  });

type Shell = {
  readonly title: string;
  readonly description: string;
  /** The way to the site's root, without a slash at its end; empty for the page's own folder. */
  readonly root: string;
  readonly head: string;
  readonly body: string;
};

function shell({ title, description, root, head, body }: Shell): string {
  const prefix = root === "" || root === "." ? "" : `${root}/`;
  const plain = description.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return `<!doctype html>
<html lang="en" data-root="${prefix}">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeAttribute(plain)}">
<link rel="icon" href="${prefix}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${prefix}assets/docs.css">
${head}
<script defer src="${prefix}assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="top">
<a class="home" href="${prefix}index.html">${SITE_NAME}</a>
<button class="small menu" type="button" aria-expanded="false" aria-controls="contents" hidden>Pages</button>
<search hidden>
<label class="hush" for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" autocapitalize="off" spellcheck="false" aria-keyshortcuts="/" aria-controls="hits">
<div id="hits" hidden></div>
</search>
</header>
${body}
<p id="announcer" class="hush" role="status"></p>
</body>
</html>
`;
}
