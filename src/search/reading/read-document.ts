import { Failure } from "../../base/failure.ts";
import { titleOfName } from "../../base/text.ts";
import { inlineText, readInline } from "../../markdown/index.ts";
import { anchorsInText, parseFrontMatter } from "../../pages/index.ts";
import { type DocumentUrl, parseDocumentUrl } from "../../urls/index.ts";
import { scanLines } from "../document/lines.ts";
import type { DocumentAnchor, SourceDocument } from "../types.ts";
import { readApi } from "./api.ts";
import { asciidocToMarkdown } from "./asciidoc.ts";
import { withoutGeneratorMarks } from "./generator-marks.ts";
import { withoutHiddenMarkup } from "./hidden-markup.ts";
import type { TextKind } from "./kinds.ts";
import { manToMarkdown } from "./man.ts";
import { mdxToMarkdown, withoutComponents } from "./mdx.ts";
import { notebookToMarkdown } from "./notebook.ts";
import { rstToMarkdown } from "./rst.ts";

/** A file of documentation. Nobody has read it yet, except to check that it is text. */
type DocumentFile = {
  /** The document's address, unless its front matter names another one. */
  readonly url: DocumentUrl;
  /** A document without a title is named after the last part of the path. */
  readonly path: string;
  readonly text: string;
  readonly kind: TextKind;
  /** Whether the `url` of the front matter replaces `url`. */
  readonly mayNameItself: boolean;
};

/** A document on its way into an index, either already read, possibly from a file, or as its file contains it. */
export type UnreadDocument = (SourceDocument & { readonly path?: string }) | DocumentFile;

/** Returns the name that people know a document by: the path of its file, or without a file, its URL. */
export const nameOf = ({ path, url }: UnreadDocument): string => path ?? url;

/**
 * Reads and cleans the documents of a file, in time linear in its text; most files are one.
 * @throws Failure `too_large` for over a million lines to convert, `unreadable_input` where it cannot be
 */
export function* readDocuments(document: UnreadDocument): Generator<SourceDocument> {
  if (!("text" in document)) yield cleanDocument(document);
  else if (document.kind === "api")
    for (const part of readApi(document.text, document.url))
      yield asForgesShow(document, withVisibleCharacters(part));
  // A lone CR ends a line in CommonMark, too; one sign for another moves no anchor.
  else {
    const text = document.text.replace(/\r(?!\n)/g, "\n");
    yield asForgesShow(document, readFile({ ...document, text }));
  }
}

const SHOWN_AS_SOURCE: ReadonlySet<TextKind> = new Set(["api", "plain", "notebook", "man"]);

/** Forges do not render headings of these kinds, and so have no fragments for them. */
const asForgesShow = ({ kind, url }: DocumentFile, read: SourceDocument): SourceDocument =>
  SHOWN_AS_SOURCE.has(kind) && !url.startsWith("docs:") ? { ...read, anchors: [] } : read;

function readFile(file: DocumentFile): SourceDocument {
  const { url, path, text, kind } = file;
  if (kind === "markdown" || kind === "mdx") return cleanDocument(readMarkdown(file));
  const convert = CONVERTERS[kind as keyof typeof CONVERTERS];
  if (convert === undefined) return cleanDocument({ url, title: titleOfName(path), markdown: text });
  const markdown = convert(text);
  // Converters leave no hidden markup, and code of any depth is theirs to keep.
  return withVisibleCharacters({ url, title: firstHeading(markdown) ?? titleOfName(path), markdown });
}

/** The kinds that become Markdown. */
const CONVERTERS = {
  rst: (text: string) => rstToMarkdown(linesOf(text)),
  asciidoc: (text: string) => asciidocToMarkdown(linesOf(text)),
  notebook: notebookToMarkdown,
  man: (text: string) => manToMarkdown(linesOf(text)),
} as const;

/** A list of short lines takes many times the memory of their text. */
const MAX_LINES = 1_000_000;

function linesOf(text: string): readonly string[] {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (++count > MAX_LINES) throw new Failure("too_large", `it has over ${MAX_LINES} lines`);
  }
  return text.split(/\r?\n/);
}

function readMarkdown({ url, path, text, kind, mayNameItself }: DocumentFile): SourceDocument {
  const frontMatter = parseFrontMatter(text);
  const { url: written, title, lang, language = lang, date } = frontMatter?.fields ?? {};
  const body = frontMatter?.body ?? text;
  const anchors = frontMatter && kind === "markdown" ? anchorsInText(frontMatter) : null;
  const source = kind === "mdx" ? mdxToMarkdown(linesOf(body)) : body;
  // A page from the web has what its generator made of the marks; others are text of the page.
  const markdown = anchors
    ? source
    : withoutGeneratorMarks(kind === "mdx" ? source : withoutComponents(source));
  const named = mayNameItself && typeof written === "string" ? parseDocumentUrl(written) : null;
  return {
    url: named ?? url,
    title:
      typeof title === "string" && title.trim() !== ""
        ? title.trim()
        : (firstHeading(markdown) ?? titleOfName(path)),
    markdown,
    declared: { language: stringOf(language), date: stringOf(date) },
    anchors: anchors ?? undefined,
  };
}

const stringOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

// This far is enough to get past a licence notice or a row of badges.
const HEADING_WITHIN = 8192;

/** Matches a document that begins with its title, so that the rest need not be searched for one. */
const TITLE_LINE = /^[\r\n]*#{1,2}[ \t][^\n]*/;

/** The first heading of the first two levels, near the start. */
function firstHeading(markdown: string): string | null {
  const near = markdown.slice(0, HEADING_WITHIN);
  const start = TITLE_LINE.exec(near)?.[0] ?? near;
  let found: string | null = null;
  scanLines(start, (kind, from, to, level) => {
    if (kind === "heading" && level <= 2)
      found ??= inlineText(readInline(start.slice(from, to).replace(/\n\s*/g, " ")));
  });
  return found;
}

const MAX_TITLE = 300;

/**
 * Removes from a document what its readers do not see but a language model would read: comments and hidden
 * elements of HTML, and characters that are invisible or reverse the order of the text. In code it removes
 * only such characters. It shortens the title to one line of at most 300 characters. Takes linear time.
 */
export function cleanDocument(document: SourceDocument): SourceDocument {
  const { markdown, anchors, ...named } = withVisibleCharacters(document);
  const shown = withoutHiddenMarkup(markdown);
  return { ...named, markdown: shown, anchors: anchors && movedAnchors(anchors, markdown, shown) };
}

function withVisibleCharacters({ url, title, markdown, anchors, declared }: SourceDocument): SourceDocument {
  const line = withoutHiddenCharacters(title).replace(/\s+/g, " ").trim();
  const shown = withoutHiddenCharacters(markdown);
  return {
    url,
    title: line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…`,
    markdown: shown,
    declared,
    anchors: anchors && movedAnchors(anchors, markdown, shown),
  };
}

/** The anchors at their places in what is left of a text. */
function movedAnchors(
  anchors: readonly DocumentAnchor[],
  before: string,
  after: string,
): readonly DocumentAnchor[] {
  if (before.length === after.length) return anchors;
  let at = 0;
  let kept = 0;
  return anchors.map(({ id, start }) => {
    for (; at < start; at++) if (before.charCodeAt(at) === after.charCodeAt(kept)) kept++;
    return { id, start: kept };
  });
}

// These are bidirectional controls, zero-width characters that no script needs, and soft hyphens.
const HIDDEN = /[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\u00ad\ufff9-\ufffb]+/g;

const withoutHiddenCharacters = (text: string): string => withoutTagCharacters(text.replace(HIDDEN, ""));

const FLAG = "\u{1f3f4}";

/** Removes tag characters except in flags (UTS #51, 1.4.6), because everywhere else they hide text. */
const withoutTagCharacters = (text: string): string =>
  text.replace(/[\u{e0000}-\u{e007f}]+/gu, (run, at: number) =>
    text.startsWith(FLAG, at - FLAG.length) ? run : "",
  );
