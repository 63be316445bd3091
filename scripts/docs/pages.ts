import { join, posix } from "node:path";
import { Marked, type RendererObject } from "marked";
import { escapeAttribute, escapeHtml } from "../../src/base/text.ts";
import { Slugs } from "../../src/search/document/sections.ts";

/** The page that lists the others, in their order: it is the site's first page, and `docs/` on a forge. */
export const INDEX = "README.md";

/** What the list of pages says of one: its path below `docs/`, a sentence, and the heading it stands under. */
type ListedPage = Readonly<Record<"path" | "description" | "group", string>>;

type RenderedPage = {
  readonly html: string;
  /** In their order, with the anchors that GitHub's rules give them. */
  readonly headings: readonly { readonly level: number; readonly text: string; readonly anchor: string }[];
  /** The address of every link, as it is written. */
  readonly links: readonly string[];
};

export type DocsPage = ListedPage & RenderedPage & { readonly title: string; readonly markdown: string };

/**
 * Reads the pages of a folder of documentation, in the order of its list of pages.
 * @param repository where files outside of the folder can be seen; null while nobody has said where
 * @throws Error for a page that the list does not have, one that it has twice, and one without a title
 */
export async function readPages(directory: string, repository: string | null): Promise<readonly DocsPage[]> {
  const read = (path: string): Promise<string> => Bun.file(join(directory, path)).text();
  const listed = listedPages(await read(INDEX));
  const order = listed.map(({ path }) => path);
  const missing = [...new Bun.Glob("**/*.md").scanSync(directory)].filter((path) => !order.includes(path));
  if (missing.length > 0) throw new Error(`${INDEX} does not list ${missing.join(", ")}`);
  if (new Set(order).size < order.length) throw new Error(`${INDEX} lists a page twice`);
  return Promise.all(
    listed.map(async (entry) => {
      const markdown = await read(entry.path);
      const rendered = renderPage(markdown, (written) => addressOf(written, entry.path, order, repository));
      const [first] = rendered.headings;
      if (first?.level !== 1) throw new Error(`${entry.path} begins with no title`);
      return { ...entry, ...rendered, title: first.text, markdown };
    }),
  );
}

/** What the list of pages says, itself first: `- [Title](path.md): description` below `## Group`. */
function listedPages(index: string): ListedPage[] {
  const [, introduction = ""] = index.split(/\n\n+/);
  const pages = [{ path: INDEX, group: "", description: introduction.replaceAll("\n", " ") }];
  let group = "";
  for (const line of index.replaceAll("\n  ", " ").split("\n")) {
    if (line.startsWith("## ")) group = line.slice(3);
    if (!line.startsWith("- ")) continue;
    const [, path, description] = /^- \[[^\]]+\]\(([^)]+)\): (.+)$/.exec(line) ?? [];
    if (!path || !description) throw new Error(`${INDEX}: "${line.slice(2)}" is no entry`);
    pages.push({ path, group, description });
  }
  return pages;
}

/** The file of a page on the site. */
export const htmlPath = (path: string): string =>
  path === INDEX ? "index.html" : path.replace(/\.md$/, ".html");

/** Tells the address of a link from one page on the site: null outside of the documentation while no repository is known. */
function addressOf(written: string, from: string, pages: readonly string[], repository: string | null) {
  if (/^(?:https?:|mailto:|#)/.test(written)) return written;
  const [path = "", fragment] = written.split("#", 2);
  const target = posix.join(posix.dirname(from), path);
  if (!pages.includes(target)) return repository && `${repository}/blob/main/${posix.join("docs", target)}`;
  const relative = posix.relative(posix.dirname(from), htmlPath(target));
  return fragment === undefined ? relative : `${relative}#${fragment}`;
}

/**
 * Renders a page of the documentation as HTML. HTML in its Markdown is shown as text.
 * @param addressOfLink the address of a link on the site; null for a target that the site does not have, whose text stays
 */
export function renderPage(
  markdown: string,
  addressOfLink: (written: string) => string | null,
): RenderedPage {
  const headings: { level: number; text: string; anchor: string }[] = [];
  const links: string[] = [];
  const slugs = new Slugs();
  const renderer: RendererObject<string, string> = {
    html: ({ text }) => (text.startsWith("<!--") ? "" : escapeHtml(text)),
    heading({ depth: level, tokens }) {
      const html = this.parser.parseInline(tokens);
      const text = textOf(html);
      const anchor = slugs.next(text);
      headings.push({ level, text, anchor });
      return `<h${level} id="${anchor}">${html}</h${level}>\n`;
    },
    link({ href, tokens }) {
      links.push(href);
      const html = this.parser.parseInline(tokens);
      const address = addressOfLink(href);
      return address === null ? html : `<a href="${escapeAttribute(address)}">${html}</a>`;
    },
  };
  const html = new Marked({ renderer })
    .parse(markdown, { async: false })
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>")
    // An empty cell above a column is no heading of it.
    .replaceAll("<th></th>", "<td></td>");
  return { html, headings, links };
}

/** The text of HTML that `renderPage` has written. */
export const textOf = (html: string): string =>
  html
    .replace(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
