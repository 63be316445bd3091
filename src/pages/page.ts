import { parse } from "yaml";
import { Failure } from "../base/failure.ts";
import { findFrontMatter } from "../base/front-matter.ts";
import { defined, isRecord } from "../base/json.ts";
import { decodeLoosely, formatHeading } from "../base/text.ts";
import { type DocumentUrl, parseDocumentUrl } from "../urls/index.ts";

/** An id of a page on the web, and the place in its Markdown that it leads to. */
type PageAnchor = {
  readonly id: string;
  /** The start of a line, in UTF-16 code units; -1 for the title. */
  readonly start: number;
};

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
  /** The ids of the page's elements, as far as they are known, by their places in `markdown`. */
  readonly anchors?: readonly PageAnchor[];
  /** The BCP 47 tag of its language, if it is known. */
  readonly language?: string;
  /** When it was published, if the page says so: ISO 8601, beginning with a date. */
  readonly date?: string;
};

const UTC_TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|\+00:00)$/;

/**
 * Writes the text of a page's file: front matter, `# title`, body. The title becomes one line of at most 2000
 * characters; a heading at the body's start that repeats it is dropped; lone surrogates become U+FFFD.
 * Otherwise every character of the body is kept.
 * @throws Failure `internal` for a malformed timestamp or word count, because such a page could not be read back
 */
export function formatPage(page: Page): string {
  if (!isTimestamp(page.extractedAt))
    throw new Failure(
      "internal",
      `page ${page.url}: extractedAt is not a UTC timestamp: ${page.extractedAt}`,
    );
  if (!isWordCount(page.wordCount))
    throw new Failure("internal", `page ${page.url}: wordCount is not a count: ${page.wordCount}`);
  const { text, anchors } = pageText(page);
  const fields = defined({
    url: page.url,
    title: normalizeTitle(page.title),
    extracted_at: { timestamp: page.extractedAt },
    word_count: page.wordCount,
    language: page.language?.slice(0, MAX_TAG_LENGTH),
    date: page.date?.slice(0, MAX_TAG_LENGTH),
    anchors: anchors && formatAnchors(anchors, text),
  });
  const frontMatter = formatFrontMatter(fields);
  return text === "" ? frontMatter : `${frontMatter}\n${text}`;
}

/** The text of a page's file without its front matter: `# title`, then the body; the places of its anchors there. */
export function pageText({
  title: written,
  markdown,
  anchors,
}: Pick<Page, "title" | "markdown" | "anchors">): {
  readonly text: string;
  readonly anchors?: readonly PageAnchor[];
} {
  const title = normalizeTitle(written);
  const body = withoutLeadingTitle(markdown.toWellFormed(), title);
  const heading = title === "" ? "" : `${formatHeading(title)}\n`;
  const before = heading !== "" && body !== "" ? `${heading}\n` : heading;
  const text = body === "" ? before : `${before}${body}\n`;
  if (!anchors || anchors.length === 0) return { text };
  // Headings at the start that repeat the title are left out; what leads there leads to the title.
  const moved = before.length - (markdown.length - body.length);
  return {
    text,
    anchors: anchors.map(({ id, start }) => ({ id, start: start < 0 ? 0 : Math.max(0, start + moved) })),
  };
}

/**
 * Reads what `formatPage` wrote. It accepts edits by hand, such as more fields, a missing heading or CRLF.
 * @returns null when the text is no page of ours: a field is missing or of another type
 */
export function parsePage(text: string): Page | null {
  const frontMatter = parseFrontMatter(text);
  if (!frontMatter) return null;
  const { url: urlText, title, extracted_at: extractedAt, word_count: wordCount } = frontMatter.fields;
  const { language, date } = frontMatter.fields;
  if (typeof urlText !== "string" || typeof title !== "string") return null;
  if (!isTimestamp(extractedAt) || !isWordCount(wordCount)) return null;
  const url = parseDocumentUrl(urlText);
  const markdown = parseBody(frontMatter.body, title);
  const anchors = anchorsInText(frontMatter) ?? [];
  return (
    url &&
    defined({
      url,
      title,
      extractedAt,
      wordCount,
      markdown,
      language: typeof language === "string" ? language : undefined,
      date: typeof date === "string" ? date : undefined,
      anchors: anchors.length > 0 ? anchorsInBody(anchors, frontMatter.body, markdown) : undefined,
    })
  );
}

/**
 * The anchors of a document's front matter by their places in its body.
 * @returns null when it says none that fit; none at all for a page that was stored without them
 */
export function anchorsInText({ fields, body }: FrontMatter): readonly PageAnchor[] | null {
  // The places are counted from the text after the blank line below the front matter.
  const textStart = body.startsWith("\n") ? 1 : 0;
  const anchors = parseAnchors(fields.anchors, body.length - textStart);
  if (anchors) return anchors.map(({ id, start }) => ({ id, start: start + textStart }));
  return isTimestamp(fields.extracted_at) && isWordCount(fields.word_count) ? [] : null;
}

function anchorsInBody(
  anchors: readonly PageAnchor[],
  body: string,
  markdown: string,
): readonly PageAnchor[] {
  const bodyStart = body.length - markdown.length - 1;
  return anchors.map(({ id, start }) => ({ id, start: start < bodyStart ? -1 : start - bodyStart }));
}

const isTimestamp = (value: unknown): value is string =>
  typeof value === "string" && UTC_TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));

const isWordCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Tags and times are shorter. */
const MAX_TAG_LENGTH = 64;

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

// A longer text is not a title, and the limit keeps the front matter within the searched part of a file.
const MAX_TITLE_LENGTH = 2000;

// A longer line, links and escapes included, cannot be the heading of such a title.
const MAX_HEADING_LENGTH = 8 * MAX_TITLE_LENGTH;

/** Makes a title one well-formed line without control characters, of at most 2000 characters. A title that it has made stays as it is. */
function normalizeTitle(title: string): string {
  const line = oneLine(title.slice(0, 4 * MAX_TITLE_LENGTH).toWellFormed());
  // The cut may split a surrogate pair.
  return line
    .slice(0, MAX_TITLE_LENGTH)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd();
}

/** Removes the headings at a body's start, of any level, that only repeat the title. */
function withoutLeadingTitle(markdown: string, title: string): string {
  const wanted = comparable(title);
  let rest = markdown;
  while (wanted !== "") {
    const heading = readLeadingHeading(rest);
    if (!heading || comparable(heading.text) !== wanted) break;
    rest = rest.slice(heading.end).replace(/^(?:[ \t]*\r?\n)+/, "");
  }
  return rest;
}

type Heading = { readonly text: string; readonly end: number };

// ATX and setext headings (CommonMark 0.31, sections 4.2 and 4.3; a setext heading of one line).
function readLeadingHeading(markdown: string): Heading | null {
  const start = /^(?:[ \t]*\r?\n)*/.exec(markdown)?.[0].length ?? 0;
  const line = lineAt(markdown, start);
  if (line.text.length > MAX_HEADING_LENGTH) return null;
  const atx = /^ {0,3}#{1,6}(?=[ \t]|$)/.exec(line.text);
  if (atx) return { text: withoutClosingMarks(line.text.slice(atx[0].length)), end: line.end };
  const underline = lineAt(markdown, line.end);
  const isSetext = /^ {0,3}\S/.test(line.text) && /^ {0,3}(?:=+|-+)[ \t]*$/.test(underline.text);
  return isSetext ? { text: line.text, end: underline.end } : null;
}

function lineAt(text: string, start: number): Heading {
  const newline = text.indexOf("\n", start);
  const end = newline < 0 ? text.length : newline + 1;
  return { text: text.slice(start, newline < 0 ? end : newline).replace(/\r$/, ""), end };
}

function withoutClosingMarks(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end--;
  const isClosing = end === 0 || trimmed[end - 1] === " " || trimmed[end - 1] === "\t";
  return isClosing ? trimmed.slice(0, end) : trimmed;
}

// This strips the Markdown of a title or heading well enough to compare them.
const comparable = (text: string): string =>
  oneLine(text.replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1").replace(/[\\*_`~]/g, ""));

function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  const printable = text.replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/g, "");
  return printable.replace(/[\s\u0085]+/g, " ").trim();
}

/** The most characters of a line of anchors: a heading each takes about 30. */
const MAX_ANCHORS_LENGTH = 128 * 1024;
/** The most of them for ids that are not the first of a heading. */
const MAX_FURTHER_ANCHORS_LENGTH = 16_000;

/**
 * Writes anchors as one line: the length of their text, then `place:id` for each, with percent-encoded white space in
 * ids. If there are too many, the first anchor of each heading is kept before the first anchor of any other place, and
 * further anchors of a place come last.
 */
function formatAnchors(anchors: readonly PageAnchor[], text: string): string {
  const entries = anchors.map(({ id, start }) => ` ${start}:${encodeId(id)}`);
  const ranks = anchors.map(({ start }, at) => {
    if (anchors[at - 1]?.start === start) return 2;
    return HEADING_START.test(text.slice(start, start + 60)) ? 0 : 1;
  });
  const kept = new Set<string>();
  const keep = (rank: number, room: number): number => {
    let left = room;
    for (const [at, entry] of entries.entries())
      if (ranks[at] === rank && entry.length <= left) {
        kept.add(entry);
        left -= entry.length;
      }
    return left;
  };
  keep(0, MAX_ANCHORS_LENGTH - MAX_FURTHER_ANCHORS_LENGTH);
  keep(2, keep(1, MAX_FURTHER_ANCHORS_LENGTH));
  return `${text.length}${entries.filter((entry) => kept.has(entry)).join("")}`;
}

const HEADING_START = /^[\s>*+-]{0,40}#{1,6}\s/;

const encodeId = (id: string): string => id.toWellFormed().replace(/[%\s\p{Cc}]/gu, encodeURIComponent);

/**
 * The inverse of `formatAnchors`.
 * @returns null for anything else, and for a text of another length: somebody has edited it
 */
function parseAnchors(line: unknown, textLength: number): readonly PageAnchor[] | null {
  if (typeof line !== "string") return null;
  const [length, ...entries] = line.split(" ");
  if (length !== String(textLength)) return null;
  const anchors: PageAnchor[] = [];
  for (const entry of entries) {
    const [, start = "", id = ""] = /^(\d{1,10}):(.+)$/.exec(entry) ?? [];
    if (id === "") return null;
    anchors.push({ id: decodeLoosely(id), start: Number(start) });
  }
  return anchors;
}

/** A scalar of the block. A timestamp is written without quotes, so that YAML readers see its type. */
type FrontMatterValue = string | number | boolean | null | { readonly timestamp: string };

/** A document's parsed metadata block, and the text after it. */
type FrontMatter = { readonly fields: Readonly<Record<string, unknown>>; readonly body: string };

// Parsing hostile YAML takes more than linear time in places; at this size the worst known text takes 0.2 s.
const MAX_FRONT_MATTER_LENGTH = 32 * 1024;

/**
 * Writes a YAML front matter block with both `---` lines and the last newline. Strings are always quoted, so
 * that `no`, `1.0` or `- x` as a title stays a string for every YAML reader. Lone surrogates become U+FFFD.
 * @param fields in the order to write them; keys are our own plain identifiers
 */
export function formatFrontMatter(fields: Readonly<Record<string, FrontMatterValue>>): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${formatScalar(value)}\n`);
  return `---\n${lines.join("")}---\n`;
}

/**
 * Splits a document that begins with a mapping in YAML (1.2 core schema), TOML or JSON; dates stay strings. Documents are
 * hostile, so aliases and blocks over 32 768 characters are refused.
 * @returns null when there is no such block, so that a document which opens with a thematic break, or whose
 * block is broken, keeps all its text as body
 */
export function parseFrontMatter(text: string): FrontMatter | null {
  const block = findFrontMatter(text);
  if (!block) return null;
  const { yaml: written, anchors } = withoutAnchors(block.written);
  const fields = written.length > MAX_FRONT_MATTER_LENGTH ? null : parseMapping(written, block.syntax);
  return fields && { fields: { ...fields, ...anchors }, body: text.slice(block.bodyStart) };
}

/** Takes our line of anchors out of a block: it may be long, and is read without the YAML parser. */
function withoutAnchors(block: string): {
  readonly yaml: string;
  readonly anchors?: { readonly anchors: string };
} {
  const match = /^anchors: ("[^"\\\n]*(?:\\.[^"\\\n]*)*")\r?\n/m.exec(block);
  if (match === null) return { yaml: block };
  try {
    const yaml = block.slice(0, match.index) + block.slice(match.index + match[0].length);
    return { yaml, anchors: { anchors: JSON.parse(match[1]!) } };
  } catch {
    // Somebody wrote other escapes of YAML.
    return { yaml: block };
  }
}

function formatScalar(value: FrontMatterValue): string {
  if (typeof value === "string") return quote(value);
  return value !== null && typeof value === "object" ? value.timestamp : String(value);
}

// A JSON string is also a double-quoted YAML string, except for characters that YAML regards as unprintable
// or as line breaks.
const quote = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** How each syntax of front matter is read; all throw at what is not in it. */
const PARSERS = {
  yaml: (written: string): unknown =>
    parse(written, {
      schema: "core",
      maxAliasCount: 0,
      // The library's check is quadratic in the number of keys; without it the last one wins.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    }),
  // Quadratic in the number of keys, which takes 0.2 s at the limit. Its dates are objects, which JSON writes as in TOML.
  toml: (written: string): unknown => JSON.parse(JSON.stringify(Bun.TOML.parse(written))),
  json: JSON.parse,
} as const;

function parseMapping(
  written: string,
  syntax: keyof typeof PARSERS,
): Readonly<Record<string, unknown>> | null {
  let value: unknown;
  try {
    value = PARSERS[syntax](written);
  } catch {
    // Whatever the parser's complaint, this is no block that we can read.
    return null;
  }
  // The core schema makes plain objects of mappings, as TOML and JSON have them.
  return isRecord(value) ? value : null;
}
