import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { readMarkdown } from "../../src/markdown/index.ts";
import { type Heading, type Link, renderPage } from "./render.ts";

/** The page that lists the others, in their order: it is the site's first page, and `docs/` on a forge. */
export const INDEX = "README.md";

export type DocsPage = {
  /** Below `docs/`: `how-to/proxy.md`. */
  readonly path: string;
  readonly title: string;
  /** One sentence, from the list of pages. */
  readonly description: string;
  /** The heading of the list of pages that it stands under; empty for the list itself. */
  readonly group: string;
  readonly markdown: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
};

/**
 * Reads the pages of a folder of documentation, in the order of its list of pages.
 * @param repository where files outside of the folder can be seen; null while nobody has said where
 * @throws Error for a page that the list does not have, one that it has twice, and one without a title
 */
export async function readPages(directory: string, repository: string | null): Promise<readonly DocsPage[]> {
  const files = (await readdir(directory, { recursive: true })).filter((path) => path.endsWith(".md")).sort();
  const index = await readFile(join(directory, INDEX), "utf8");
  const listed = listedPages(index);
  const order = [INDEX, ...listed.map(({ path }) => path)];
  const addressOf = createAddresses(order, repository);
  const missing = files.filter((path) => !order.includes(path));
  if (missing.length > 0) throw new Error(`${INDEX} does not list ${missing.join(", ")}`);
  if (new Set(order).size < order.length) throw new Error(`${INDEX} lists a page twice`);
  return Promise.all(
    order.map(async (path) => {
      const markdown = await readFile(join(directory, path), "utf8");
      const { html, headings, links } = renderPage(markdown, (written) => addressOf(path, written));
      const [first] = headings;
      if (first?.level !== 1) throw new Error(`${path} begins with no title`);
      const { description, group } = listed.find((page) => page.path === path) ?? {
        description: firstParagraph(markdown),
        group: "",
      };
      return { path, title: first.text, description, group, markdown, html, headings, links };
    }),
  );
}

type ListedPage = { readonly path: string; readonly description: string; readonly group: string };

/** What the list of pages says: `- [Title](path.md): description` below `## Group`. */
function listedPages(index: string): readonly ListedPage[] {
  const pages: ListedPage[] = [];
  let group = "";
  for (const block of readMarkdown(index).blocks) {
    if (block.kind === "heading" && block.level === 2) group = block.text;
    if (block.kind !== "list") continue;
    for (const { blocks } of block.items) {
      const text = blocks[0]?.kind === "paragraph" ? blocks[0].text : "";
      const [, path, description] = /^\[[^\]]+\]\(([^)]+)\): ([\s\S]+)$/.exec(text) ?? [];
      if (path === undefined || description === undefined) throw new Error(`${INDEX}: "${text}" is no entry`);
      pages.push({ path, group, description: description.replaceAll("\n", " ") });
    }
  }
  return pages;
}

function firstParagraph(markdown: string): string {
  const first = readMarkdown(markdown).blocks.find(({ kind }) => kind === "paragraph");
  return first?.kind === "paragraph" ? first.text.replaceAll("\n", " ") : "";
}

/** The file of a page on the site. */
export const htmlPath = (path: string): string =>
  path === INDEX ? "index.html" : path.replace(/\.md$/, ".html");

/**
 * Makes the function that tells the address of a link from one page on the site. What lies outside of the documentation is
 * in the repository; while nobody has said where that is, the link's text stays alone.
 */
const createAddresses =
  (pages: readonly string[], repository: string | null) =>
  (from: string, written: string): string | null => {
    if (/^(?:https?:|mailto:|#)/.test(written)) return written;
    const [path = "", fragment] = written.split("#", 2);
    const target = posix.join(posix.dirname(from), path);
    if (!pages.includes(target))
      return repository === null || path === ""
        ? null
        : `${repository}/blob/main/${posix.join("docs", target)}`;
    const relative = posix.relative(posix.dirname(from), htmlPath(target));
    return fragment === undefined ? relative : `${relative}#${fragment}`;
  };
