import { basename, extname } from "node:path";
import { Failure } from "../../base/failure.ts";
import { anchorsInText, parseFrontMatter } from "../../pages/index.ts";
import { type DocumentUrl, parseDocumentUrl } from "../../urls/index.ts";
import { scanLines } from "../document/blocks.ts";
import type { SourceDocument } from "../types.ts";
import { cleanDocument } from "./clean.ts";
import { asciidocToMarkdown, rstToMarkdown } from "./to-markdown.ts";

/** The markup language of a text. */
export type TextForm = "markdown" | "plain" | "rst" | "asciidoc";

/** A file of documentation. Nobody has read it yet, except to check that it is text. */
export type DocumentFile = {
  /** The document's address, unless its front matter names another one. */
  readonly url: DocumentUrl;
  /** A document without a title is named after the last part of the path. */
  readonly path: string;
  readonly text: string;
  readonly form: TextForm;
  /** Whether the `url` of the front matter replaces `url`. */
  readonly mayNameItself: boolean;
};

/** A document on its way into an index, either already read or as its file contains it. */
export type UnreadDocument = SourceDocument | DocumentFile;

/**
 * Reads and cleans a document, in time linear in its text.
 * @throws Failure `too_large` for a text of over a million lines that has to be converted
 */
export const readDocument = (document: UnreadDocument): SourceDocument =>
  cleanDocument("text" in document ? readFile(document) : document);

function readFile(file: DocumentFile): SourceDocument {
  if (file.form === "markdown") return readMarkdown(file);
  const markdown = toMarkdown(file);
  const title = file.form === "plain" ? null : firstHeading(markdown, 1);
  return { url: file.url, title: title ?? titleOfName(file.path), markdown };
}

function toMarkdown({ text, form }: DocumentFile): string {
  if (form === "rst") return rstToMarkdown(linesOf(text));
  return form === "asciidoc" ? asciidocToMarkdown(linesOf(text)) : text;
}

/** A list of short lines takes many times the memory of their text. */
const MAX_LINES = 1_000_000;

function linesOf(text: string): readonly string[] {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (++count > MAX_LINES) throw new Failure("too_large", `it has over ${MAX_LINES} lines`);
  }
  return text.split(/\r?\n/);
}

function readMarkdown({ url, path, text, mayNameItself }: DocumentFile): SourceDocument {
  const frontMatter = parseFrontMatter(text);
  const { url: written, title } = frontMatter?.fields ?? {};
  const markdown = frontMatter?.body ?? text;
  const found = frontMatter && anchorsInText(frontMatter);
  const named = mayNameItself && typeof written === "string" ? parseDocumentUrl(written) : null;
  return {
    url: named ?? url,
    title:
      typeof title === "string" && title.trim() !== ""
        ? title.trim()
        : (firstHeading(markdown, 2) ?? titleOfName(path)),
    markdown,
    ...(found && {
      anchors: found.anchors.map(({ id, start }) => ({ id, start: start + found.textStart })),
    }),
  };
}

// This far is enough to get past a licence notice or a row of badges.
const HEADING_WITHIN = 8192;

/** The first heading of at most this level, near the start. */
function firstHeading(markdown: string, mostLevel: number): string | null {
  const start = markdown.slice(0, HEADING_WITHIN);
  let found: string | null = null;
  scanLines(start, (kind, from, to, level) => {
    if (kind === "heading" && level <= mostLevel) found ??= start.slice(from, to);
  });
  return found;
}

/** The title of a document that has none. */
export const titleOfName = (path: string): string => basename(path, extname(path)).replace(/[-_]+/g, " ");
