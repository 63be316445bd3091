import { Failure } from "../../base/failure.ts";
import { escapeAttribute, escapeHtml } from "../../base/text.ts";
import { htmlOfXhtml } from "../page/scan.ts";
import { type FileContent, type FileFacts, NO_FACTS } from "./write-html.ts";
import { type Element, elementsNamed, readXml, textIn } from "./xml.ts";
import type { Entries } from "./zip.ts";

/** Reads the chapters of an EPUB in their order (EPUB 3.3, and EPUB 2). */
export function readEpub(entries: Entries): FileContent {
  const [rootFile] = elementsNamed(readXml(entries.get("META-INF/container.xml") ?? ""), "rootfile");
  const path = rootFile?.attributes["full-path"] ?? "";
  const source = entries.get(path);
  if (source === undefined) throw new Failure("damaged_document", "the book has no package document");
  const book = readXml(source);
  const chapters = chaptersOf(book, path);
  requireUnencrypted(entries, chapters);
  const missing = chapters.filter((chapter) => !entries.has(chapter));
  const body = chapters.flatMap((chapter) => {
    const xhtml = entries.get(chapter);
    return xhtml === undefined ? [] : writeChapter(xhtml, chapter);
  });
  const warnings = missing.slice(0, 20).map((chapter) => `The chapter ${chapter} is missing`);
  const facts = readFacts(book);
  // The first heading of a page is its title, and that of the first chapter is not the book's.
  const heading = facts.title === null ? "" : `<h1>${escapeHtml(facts.title)}</h1>`;
  return { ...facts, body: heading + body.join("\n"), warnings };
}

/** Publishers write other prefixes than `dc` and `opf`, or none. */
const localName = ({ name }: Element): string => name.slice(name.indexOf(":") + 1);

function named(book: Element, name: string): Element[] {
  return ["", "opf:", "dc:"]
    .flatMap((prefix) => elementsNamed(book, prefix + name))
    .filter((one) => localName(one) === name);
}

/** The paths of the chapters: the spine without what repeats it, the table of contents. */
function chaptersOf(book: Element, path: string): string[] {
  const items = new Map(named(book, "item").map(({ attributes }) => [attributes["id"], attributes]));
  return named(book, "itemref").flatMap(({ attributes }) => {
    const item = items.get(attributes["idref"] ?? "");
    const isText = /html/.test(item?.["media-type"] ?? "");
    if (!item || !isText || /\bnav\b/.test(item["properties"] ?? "")) return [];
    return [resolve(item["href"] ?? "", path)];
  });
}

/** A path of the archive, as another file of it names it. */
function resolve(href: string, from: string): string {
  const url = URL.parse(href, `epub:///${from}`);
  try {
    return decodeURIComponent(url?.pathname ?? "").replace(/^\/+/, "");
  } catch {
    return "";
  }
}

/** Fonts are often obfuscated, which hides no text. */
function requireUnencrypted(entries: Entries, chapters: readonly string[]): void {
  const encryption = readXml(entries.get("META-INF/encryption.xml") ?? "");
  const paths = elementsNamed(encryption, "CipherReference").concat(
    elementsNamed(encryption, "enc:CipherReference"),
  );
  const hidden = new Set(paths.map(({ attributes }) => resolve(attributes["URI"] ?? "", "")));
  if (chapters.some((chapter) => hidden.has(chapter)))
    throw new Failure("encrypted_document", "the book is encrypted for the readers of one shop");
}

function readFacts(book: Element): FileFacts {
  const read = (name: string): string | null => textIn(named(book, name)[0] ?? EMPTY).trim() || null;
  const authors = named(book, "creator").map((one) => textIn(one).trim());
  const metas = named(book, "meta");
  const modified = metas.find(({ attributes }) => attributes["property"] === "dcterms:modified");
  const keywords = named(book, "subject").map((one) => textIn(one).trim());
  return {
    ...NO_FACTS,
    title: read("title"),
    author: authors.join(", ") || null,
    description: read("description"),
    keywords: keywords.join(", ") || null,
    language: read("language"),
    created: read("date"),
    modified: modified ? textIn(modified).trim() : null,
  };
}

const EMPTY: Element = { name: "", attributes: {}, children: [] };

/** The inside of a chapter's body, whose links to other chapters lead to their places in the whole. */
function writeChapter(xhtml: string, path: string): string {
  const html = htmlOfXhtml(xhtml);
  const start = /<body\b[^>]{0,2000}>/i.exec(html);
  const from = start ? start.index + start[0].length : 0;
  const end = html.lastIndexOf("</body");
  const inside = html.slice(from, end < from ? undefined : end);
  const linked = inside.replace(LINK, (link, before: string, href: string) => {
    const fragment = href.includes("#") ? href.slice(href.indexOf("#") + 1) : resolve(href, path);
    return /^[a-z][a-z0-9+.-]*:/i.test(href) ? link : `${before}"#${fragment}"`;
  });
  return `<section id="${escapeAttribute(path)}">${linked}</section>`;
}

const LINK = /(<a\b[^<>]{0,500}?\shref\s{0,5}=\s{0,5})"([^"<>]{0,2000})"/gi;
