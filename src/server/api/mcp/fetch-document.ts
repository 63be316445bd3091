import { outlineOf, rangeOfFragment, type StoredDocument } from "../../../search/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import { integer, optionalText, type RawArguments, requiredText } from "./arguments.ts";
import { endOfPart, type Range, rangeOfWords, sliceWhole } from "./excerpt.ts";
import type { ToolFields } from "./tool.ts";

/** The most characters of an answer that asks for no other number: about 5 000 tokens. */
export const DEFAULT_MAX_CHARS = 20_000;

/** A model finds its way among so many headings, which cost it about 2 500 tokens. */
const MAX_OUTLINE = 100;

const CUT = "[…]";

export type FetchOptions = {
  readonly registry: TenantRegistry;
  /** `surrounding` lets a fragment, query or context narrow what is fetched; `full` does not. */
  readonly fetchMode: "full" | "surrounding";
  readonly fetchSurroundingChars: number;
  /** What counts queries and what comes of them; null where nobody does. */
  readonly queryLog: QueryObserver | null;
  /** Is told which tenants a search was in. */
  readonly onSearched: (codenames: readonly string[]) => void;
};

/** Is told what is searched for, and which documents are opened. */
export type QueryObserver = {
  searched(search: {
    readonly client: string;
    readonly query: string;
    readonly urls: readonly string[];
  }): void;
  fetched(url: string): void;
};

/** Answers `root_fetch`. */
export function fetchDocument(raw: RawArguments, options: FetchOptions): ToolFields {
  const uri = requiredText(raw, "uri");
  const document = options.registry.fetch(optionalText(raw, "tenant_codename"), uri);
  options.queryLog?.fetched(document.url);
  const any = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const offset = integer(raw, "offset", { ...any, fallback: 0 });
  const maxChars = integer(raw, "max_chars", { ...any, min: 1, fallback: DEFAULT_MAX_CHARS });
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
    // The next pages need no table of contents again.
    outline: isPart && offset === 0 ? shownOutline(document) : [],
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
