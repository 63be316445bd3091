import { wordsOf } from "../../../base/text.ts";
import { outlineOf, rangeOfFragment, type StoredDocument } from "../../../search/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import { endOfPart, Paragraphs, type Range, sliceWhole } from "./parts.ts";
import {
  integer,
  OFFSET,
  oneTenant,
  optionalText,
  type RawArguments,
  requiredText,
  type ToolFields,
} from "./tool.ts";

/** The most headings in an outline. A model finds its way among them, and they cost about 2 500 tokens. */
const MAX_OUTLINE = 100;

const CUT = "[…]";

export type FetchOptions = {
  readonly registry: TenantRegistry;
  /** `surrounding` lets a fragment, query or context narrow what is fetched; `full` does not. */
  readonly fetchMode: "full" | "surrounding";
  readonly fetchSurroundingChars: number;
  /** The most characters of an answer, whatever the call asks for. */
  readonly maxFetchChars: number;
  /** Counts queries and the documents opened after them; null if queries are not counted. */
  readonly queryLog: QueryObserver | null;
  /** Is told which tenants a search was in. */
  readonly onSearched: (codenames: readonly string[]) => void;
};

/** Is told what is searched for, and which documents are opened. */
export interface QueryObserver {
  searched(search: {
    /** Identifies the client, only to tell typing from searches; never stored. */
    readonly client: string;
    readonly query: string;
    /** The addresses of its hits, the best first. */
    readonly urls: readonly string[];
  }): void;
  /** Notes that a document was opened; the last search that showed it led to it. */
  fetched(url: string): void;
}

/** Answers `root_fetch`. */
export async function fetchDocument(raw: RawArguments, options: FetchOptions): Promise<ToolFields> {
  const codename = oneTenant(raw);
  const uri = requiredText(raw, "uri");
  const document = await options.registry.fetch(codename, uri);
  options.queryLog?.fetched(document.url);
  const offset = integer(raw, "offset", OFFSET);
  const ceiling = options.maxFetchChars;
  const maxChars = Math.min(
    ceiling,
    integer(raw, "max_chars", { min: 1, max: OFFSET.max, fallback: ceiling }),
  );
  const { url, title, markdown } = document;
  const fields = { url, title, total_chars: markdown.length };
  const range = rangeFor(document, raw, options);
  if (range === null) {
    const error = `The document has no fragment ${uri.slice(uri.indexOf("#"))}; outline lists its sections`;
    return { ...fields, content: "", next_offset: null, outline: shownOutline(document), error };
  }
  const start = Math.min(range.end, range.start + offset);
  const end = endOfPart(markdown, { start, end: range.end }, maxChars);
  const isPart = end < range.end;
  return {
    ...fields,
    content: marked(markdown, { start, end }),
    next_offset: isPart ? end - range.start : null,
    // The next parts need no table of contents again, and a section has its own headings.
    outline:
      offset === 0 && (isPart || range.end - range.start === markdown.length) ? shownOutline(document) : [],
  };
}

/** The part that is asked for; null when there is no such part. */
function rangeFor(document: StoredDocument, raw: RawArguments, options: FetchOptions): Range | null {
  const whole = { start: 0, end: document.markdown.length };
  if (options.fetchMode === "full") return whole;
  const words = optionalText(raw, "query") ?? optionalText(raw, "context");
  if (words) return rangeOfWords(document, words, options.fetchSurroundingChars) ?? whole;
  const [, fragment = ""] = /#(.*)$/s.exec(requiredText(raw, "uri")) ?? [];
  return fragment === "" ? whole : rangeOfFragment(document, fragment);
}

const shownOutline = (document: StoredDocument) =>
  outlineOf(document, MAX_OUTLINE).map(({ heading, anchor, characters }) => ({
    heading,
    anchor,
    chars: characters,
  }));

/** The part of the text, with a mark on each side where text is left out. */
function marked(markdown: string, range: Range): string {
  const part = sliceWhole(markdown, range);
  if (part === "" && markdown !== "") return "";
  const before = range.start > 0 ? `${CUT}\n\n` : "";
  const isEnd = markdown.slice(range.end, range.end + 1000).trim() === "";
  return `${before}${part}${isEnd ? "" : `\n\n${CUT}`}`;
}

/**
 * Finds the paragraph with the most of some words, with `surroundingChars` characters on either side, up to the end of a
 * paragraph.
 * @returns null when the document has none of the words
 */
function rangeOfWords(document: StoredDocument, text: string, surroundingChars: number): Range | null {
  const paragraphs = new Paragraphs(document.markdown);
  const core = passageOf(document, paragraphs, text);
  return (
    core && {
      start: paragraphs.startAt(core.start - surroundingChars),
      end: paragraphs.endAt(core.end + surroundingChars),
    }
  );
}

/** The paragraph with most of the words, each counted once; the first of several. */
function passageOf({ markdown }: StoredDocument, paragraphs: Paragraphs, text: string): Range | null {
  const words = new Set(wordsOf(text));
  if (words.size === 0) return null;
  let best: Range | null = null;
  let bestCount = 0;
  for (const paragraph of paragraphs) {
    const present = new Set(wordsOf(markdown.slice(paragraph.start, paragraph.end)));
    let count = 0;
    for (const word of words) if (present.has(word)) count++;
    if (count <= bestCount) continue;
    bestCount = count;
    best = paragraph;
  }
  return best;
}
