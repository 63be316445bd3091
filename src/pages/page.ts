import { Failure } from "../base/failure.ts";
import { formatHeading } from "../base/heading.ts";
import { type DocumentUrl, parseDocumentUrl } from "../urls/index.ts";
import { formatFrontMatter, parseFrontMatter } from "./front-matter.ts";
import { normalizeTitle, withoutLeadingTitle } from "./title.ts";

/** An extracted page as it is stored. */
export type Page = {
  readonly url: DocumentUrl;
  /** One line of text; empty when the page has none. */
  readonly title: string;
  /** ISO 8601, UTC: `2026-11-05T09:30:00.000Z`. */
  readonly extractedAt: string;
  readonly wordCount: number;
  /** The body, without the title's heading. */
  readonly markdown: string;
};

const UTC_TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|\+00:00)$/;

/**
 * Writes the text of a page's file: front matter, `# title`, body. The title becomes one line of at most 2000
 * characters; a heading at the body's start that repeats it is dropped; lone surrogates become U+FFFD.
 * Otherwise every character of the body is kept.
 * @throws Failure `internal` for a malformed timestamp or word count, because such a page could not be read
 * back
 */
export function formatPage(page: Page): string {
  if (!isTimestamp(page.extractedAt)) {
    throw new Failure("internal", `page ${page.url}: extractedAt is no UTC timestamp: ${page.extractedAt}`);
  }
  if (!isWordCount(page.wordCount)) {
    throw new Failure("internal", `page ${page.url}: wordCount is no count: ${page.wordCount}`);
  }
  const frontMatter = formatFrontMatter({
    url: page.url,
    title: normalizeTitle(page.title),
    extracted_at: { timestamp: page.extractedAt },
    word_count: page.wordCount,
  });
  const text = formatPageText(page);
  return text === "" ? frontMatter : `${frontMatter}\n${text}`;
}

/** The text of a page's file without its front matter: `# title`, then the body. */
export function formatPageText(page: Pick<Page, "title" | "markdown">): string {
  const title = normalizeTitle(page.title);
  const body = withoutLeadingTitle(page.markdown.toWellFormed(), title);
  const parts: string[] = [];
  if (title !== "") parts.push(`${formatHeading(title)}\n`);
  if (body !== "") parts.push(`${body}\n`);
  return parts.join("\n");
}

/**
 * Reads what `formatPage` wrote. It accepts edits by hand, such as more fields, a missing heading or CRLF.
 * @returns null when the text is no page of ours: a field is missing or of another type
 */
export function parsePage(text: string): Page | null {
  const frontMatter = parseFrontMatter(text);
  if (!frontMatter) return null;
  const { url: urlText, title, extracted_at: extractedAt, word_count: wordCount } = frontMatter.fields;
  if (typeof urlText !== "string" || typeof title !== "string") return null;
  if (!isTimestamp(extractedAt) || !isWordCount(wordCount)) return null;
  const url = parseDocumentUrl(urlText);
  return url && { url, title, extractedAt, wordCount, markdown: parseBody(frontMatter.body, title) };
}

const isTimestamp = (value: unknown): value is string =>
  typeof value === "string" && UTC_TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));

const isWordCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function parseBody(text: string, title: string): string {
  // One of our bodies may end in a CR, so CRLF counts as a line end only in a file that was converted.
  const lineEnd = text.startsWith("\r\n") ? "\r\n" : "\n";
  let rest = withoutStart(text, lineEnd);
  const heading = formatHeading(title) + lineEnd;
  if (title !== "" && rest.startsWith(heading)) rest = withoutStart(rest.slice(heading.length), lineEnd);
  return rest.endsWith(lineEnd) ? rest.slice(0, -lineEnd.length) : rest;
}

const withoutStart = (text: string, start: string): string =>
  text.startsWith(start) ? text.slice(start.length) : text;
