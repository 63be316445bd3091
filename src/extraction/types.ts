import type { Block, FailureRecord } from "../base/failure.ts";
import { escapeAttribute, escapeHtml, formatHeading } from "../base/text.ts";
import type { EXTRACTION, Values } from "../options/index.ts";
import type { PageUrl } from "../urls/index.ts";

/** The options of an extraction. Equal options and equal HTML give equal results on every machine. */
export type ExtractionOptions = Values<typeof EXTRACTION> & {
  /** The renderings to make besides the text; the others are null in the article. */
  readonly renderings: readonly Rendering[];
  /** Whether pictures stay that are written in their address; they go where nobody saves them. */
  readonly keepsDataPictures?: boolean;
};

export type Favor = ExtractionOptions["favor"];

/** The parts of an article that cost time or are long; each is made only when requested. */
export const RENDERINGS = [
  "content",
  "markdown",
  "links",
  "images",
  "structuredData",
  "anchors",
  "blocks",
] as const;
export type Rendering = (typeof RENDERINGS)[number];

/** Renderings that stored and indexed pages need: the Markdown, and the ids that lead into it. */
export const STORED_RENDERINGS = ["markdown", "anchors"] as const satisfies readonly Rendering[];

/** Some renderings, and those from which parts of a page are chosen. */
export const withStored = (renderings: readonly Rendering[]): readonly Rendering[] => [
  ...new Set([...renderings, ...STORED_RENDERINGS]),
];

export const PAGE_TYPES = [
  "article",
  "documentation",
  "forum",
  "product",
  "collection",
  "listing",
  "service",
] as const;
export type PageType = (typeof PAGE_TYPES)[number];

/** The place where a value of the metadata was found. */
export type MetadataSource =
  | "json-ld"
  | "meta"
  | "title"
  | "heading"
  | "time"
  | "rel-author"
  | "text"
  | "url"
  | "state"
  | "lang";

/** The main content of one page. Absent values are null, never empty and never made up. */
export type Article = {
  /** Without the site's name. */
  readonly title: string | null;
  readonly byline: string | null;
  readonly siteName: string | null;
  /** ISO 8601, as precise as the page gives it: a date, or a date with time. */
  readonly publishedDate: string | null;
  readonly modifiedDate: string | null;
  /** The BCP 47 language tag that the page declares. */
  readonly lang: string | null;
  /**
   * The BCP 47 tag of the content's language: `lang`, or what the text shows when the page declares none or clearly a
   * wrong one; null for a text too short to tell.
   */
  readonly language: string | null;
  readonly dir: "ltr" | "rtl" | null;
  readonly excerpt: string | null;
  /** Absolute URL of the page's lead image. */
  readonly image: string | null;
  /** Pixels, where the page states them. */
  readonly imageWidth: number | null;
  readonly imageHeight: number | null;
  /** The keywords of the page, each once, at most 100; empty when it declares none. */
  readonly keywords: readonly string[];
  /** The section of its site that the page says it belongs to. */
  readonly section: string | null;
  readonly pageType: PageType | null;
  /** 0–1: how sure the extractor is that the content is right; null when it, or its engine, cannot tell. */
  readonly confidence: number | null;
  readonly sources: ArticleSources;
  /** Sanitised HTML; null unless asked for. */
  readonly content: string | null;
  /** GitHub-flavoured Markdown of the body, without the title; null unless asked for. */
  readonly markdown: string | null;
  /** Links of the content, in its order; null unless asked for. */
  readonly links: readonly ContentLink[] | null;
  /** Images of the content, in its order; null unless asked for. */
  readonly images: readonly ContentImage[] | null;
  /** The fragments that lead into the Markdown; null unless asked for, and where a page's elements are not known. */
  readonly anchors: readonly ContentAnchor[] | null;
  /** The page's structured data for machines; null unless asked for. */
  readonly structuredData: StructuredData | null;
  /**
   * The blocks of the page, in its order, and what became of them; null unless asked for, and where no blocks were
   * chosen: with `select`, by the engine `readability`, in Markdown and plain text.
   */
  readonly blocks: readonly PageBlock[] | null;
  /** Plain text of the body, without the title; blocks are separated by a blank line. */
  readonly text: string;
  /** Unicode words of the text (UAX 29), so Chinese and Japanese count as words too. */
  readonly wordCount: number;
  readonly warnings: readonly string[];
};

type ArticleSources = {
  readonly title: MetadataSource | null;
  readonly byline: MetadataSource | null;
  readonly publishedDate: MetadataSource | null;
  readonly modifiedDate: MetadataSource | null;
  readonly language: MetadataSource | null;
  readonly keywords: MetadataSource | null;
  readonly section: MetadataSource | null;
  /** The site's own Markdown of the page, where that was taken. */
  readonly markdown?: SiteMarkdownSource;
};

/** What names a site's own Markdown of a page. */
export const MARKDOWN_SIGNS = ["alternate", "header", "link", "llms.txt", "vary"] as const;
export type MarkdownSign = (typeof MARKDOWN_SIGNS)[number];

type SiteMarkdownSource = { readonly url: PageUrl; readonly sign: MarkdownSign };

/** An id of the page and the place that it leads to. */
export type ContentAnchor = {
  readonly id: string;
  /** Start of its block's line in the Markdown, in UTF-16 code units; -1 for the title, which the Markdown leaves out. */
  readonly start: number;
};

/** Why a block of a page is in its content, or is not. */
export const BLOCK_REASONS = [
  /** Kept: its probability reaches the page's threshold. */
  "likely",
  /** Kept: it is code, for which less is enough. */
  "code",
  /** Kept: it belongs to what is kept around it, such as a list to its introduction, or a caption. */
  "context",
  /** Kept: the whole page is content, or it is too short to choose from. */
  "whole",
  /** Kept as the article's title, apart from the content. */
  "title",
  /** Left out: its probability is below the threshold. */
  "unlikely",
  /** Left out: the page says it elsewhere. */
  "repeated",
  /** Left out: spare parts for scripts, beside visible content. */
  "template",
  /**
   * Left out: a tool of the site, such as a link to the page's source; what interrupts the text, such as a form; what stands
   * beside it, such as related posts; or a later article of the page.
   */
  "tool",
  /** Left out: a dialog that asks for consent to tracking. */
  "consent",
  /** Left out by `includeCode`. */
  "option",
  /** Left out: the content was taken from the page's data for scripts instead. */
  "data",
] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

/** A run of text of a page, which is in the content as a whole or not at all. */
export type PageBlock = {
  /** Its beginning as a reader sees it, at most 300 characters. */
  readonly text: string;
  readonly wordCount: number;
  /** The name of the element around it; `div` for elements that HTML does not know. */
  readonly tag: string;
  /** The innermost part of the page by its tag: `header`, `nav`, `main`, `article`, `aside`, `footer`, `form`, `dialog`. */
  readonly landmark: string | null;
  /** A CSS selector that matches its element, and others like it; for `select` and `exclude`. */
  readonly selector: string;
  /** Whether the page hides it at first. */
  readonly isHidden: boolean;
  readonly isKept: boolean;
  /** Whether another value of `favor` decides otherwise. */
  readonly isUnsure: boolean;
  /** 0–1: the probability that it is content; null where nothing had to be chosen. */
  readonly probability: number | null;
  readonly reason: BlockReason;
  /** The step of the selection (`selection/selection.ts`) that decided last; null where it was the trees alone. */
  readonly step: string | null;
};

/** A link of the content, as often as it stands there; absolute when the page's address is known. */
export type ContentLink = { readonly url: string; readonly text: string };

/** An image of the content; width and height in pixels, where the page states them. */
export type ContentImage = {
  readonly url: string;
  readonly alt: string;
  readonly width: number | null;
  readonly height: number | null;
};

/** The structured data of a page, as parsed. */
export type StructuredData = {
  /** The value of each JSON-LD script, in page order. */
  readonly jsonLd: readonly unknown[];
  /** The top-level items of HTML microdata, in page order. */
  readonly microdata: readonly MicrodataItem[];
  /** Properties of Open Graph and of Twitter's cards, in page order, as often as they are given. */
  readonly openGraph: readonly OpenGraphProperty[];
};

export type MicrodataItem = {
  readonly type: readonly string[];
  readonly id: string | null;
  /** The values of each property, in page order. */
  readonly properties: Readonly<Record<string, readonly (string | MicrodataItem)[]>>;
};

export type OpenGraphProperty = { readonly property: string; readonly content: string };

/** One followable link of a page, in page order, each target once. */
export type Link = {
  readonly url: PageUrl;
  /** Visible text of the first anchor to it, at most 200 characters. */
  readonly text: string;
  /** Whether every anchor to it has `rel=nofollow`. */
  readonly isNofollow: boolean;
};

/** The page's own robots directives (`<meta name="robots">`). */
export type MetaRobots = { readonly noindex: boolean; readonly nofollow: boolean };

/** A selector that selected no words: its elements have none, or no element matches. */
type EmptySelection = { readonly selector: string; readonly elements: number };

/** The facts about an answer that tell whether its page is the one asked for. */
export type AnswerFacts = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly asked: PageUrl;
  /** The URL that answered. */
  readonly url: PageUrl;
};

/** Where a page says that its Markdown is: itself, or as a link of an index such as `llms.txt`. */
export type MarkdownPointers = { readonly twin: PageUrl | null; readonly index: PageUrl | null };

/** The page in a language, or by `x-default` for readers of any other. */
export type Translation = { readonly url: PageUrl; readonly language: string };

/** Everything that one parse of a page yields, so the crawler never parses it a second time. */
export type Extraction = {
  /** Null when the page holds no words of content. */
  readonly article: Article | null;
  /**
   * The content of a page that only has a heading and links, such as the start of a chapter; null when there is an
   * article, when the page has no heading, and with `options.select`.
   */
  readonly linkPage: Article | null;
  /** Whether the page is short, and its title or a heading says that there is no such page. */
  readonly saysMissing: boolean;
  /** Set when another page stands in for the one asked for, see `blockOf`. */
  readonly blocked?: Block;
  /** Set when there is no article because of `options.select`. */
  readonly emptySelection: EmptySelection | null;
  readonly links: readonly Link[];
  readonly robots: MetaRobots;
  /** `<link rel="canonical">`; of a fetched page without one, the same of its `Link` header. */
  readonly canonical: PageUrl | null;
  /** The page in other languages and in its own, if it names any. */
  readonly translations?: readonly Translation[] | undefined;
  /** Where the page says that its Markdown is, if it does. */
  readonly markdownPointers?: MarkdownPointers | undefined;
  /** The target of `<meta http-equiv="refresh">` when it leads to another page within 5 s. */
  readonly refresh: PageUrl | null;
  /** The same of the one inside `noscript`. */
  readonly noscriptRefresh: PageUrl | null;
  /** Title and frames, each once, of a frameset without an article. */
  readonly frameset?: { readonly title: string | null; readonly frames: readonly PageUrl[] } | undefined;
  /** The page's scripts, if the task asks for them and the body is HTML. */
  readonly scripts?: ScriptProfile;
};

/** The scripts of a page and what they could change, see `scriptProfileOf`. */
export type ScriptProfile = {
  /** Equal for pages that run the same scripts on the same kinds of places. */
  readonly name: string;
  /** Whether it has any script, or a frame with a document of its own; otherwise rendering changes nothing. */
  readonly runs: boolean;
  /** Equal for documents that show the same words. */
  readonly words: string;
  /** Whether something on the page stands empty that a script may fill. */
  readonly awaits: boolean;
};

/** The format of a body, which decides how it is read. XHTML differs from HTML in its empty elements. A file is a PDF,
 * DOCX, ODT or EPUB, which its bytes tell. */
export type BodyKind = "html" | "xhtml" | "markdown" | "plain" | "file";

export type ExtractionTask = {
  readonly kind: BodyKind;
  /** Bytes of a file, text of any other kind. */
  readonly body: string | Uint8Array;
  /** The page's final URL, which relative references resolve against; null leaves them relative. */
  readonly url: PageUrl | null;
  readonly options: ExtractionOptions;
  readonly tellsScripts?: boolean;
  /** Absent for a document that nobody fetched. */
  readonly answer?: AnswerFacts;
  /** The encoding of the page, in which browsers encode the queries of its links; UTF-8 unless given. */
  readonly encoding?: string;
};

/**
 * A worker's message: it is ready for its first page, or it has finished the page that it was given. A failure is
 * sent as a record, because a posted Error keeps only its message.
 */
export type WorkerReply =
  | { readonly kind: "extracted"; readonly extraction: Extraction }
  | { readonly kind: "failed"; readonly failure: FailureRecord };

/**
 * Composes a whole Markdown document: the title as its first-level heading, then the body.
 * @param title null leaves the heading out
 */
export function composeMarkdown(title: string | null, body: string): string {
  if (title === null) return body;
  return body === "" ? formatHeading(title) : `${formatHeading(title)}\n\n${body}`;
}

/** Composes a whole plain text: the title, then the body. */
export const composeText = ({ title, text }: Pick<Article, "title" | "text">): string =>
  title === null ? text : `${title}\n\n${text}`;

/**
 * A whole document in Markdown with the anchors of its page. Without a heading the title would be no section,
 * and would not appear in what is fetched.
 */
export function composeDocument({
  title,
  markdown,
  anchors,
}: Pick<Article, "title" | "markdown" | "anchors">) {
  const body = markdown ?? "";
  const document = composeMarkdown(title, body);
  const before = document.length - body.length;
  const moved = anchors?.map(({ id, start }) => ({ id, start: start < 0 ? 0 : start + before }));
  return { title: title ?? "", markdown: document, ...(moved && { anchors: moved }) };
}

type PageParts = Pick<Article, "title" | "lang" | "dir" | "content">;

/**
 * Composes a whole HTML document that a browser or another program can read by itself: the title as its first-level
 * heading, then the cleaned content.
 */
export function composeHtml({ title, lang, dir, content }: PageParts): string {
  const language = lang === null ? "" : ` lang="${escapeAttribute(lang)}"`;
  const direction = dir === null ? "" : ` dir="${escapeAttribute(dir)}"`;
  const name = escapeHtml(title ?? "");
  const heading = title === null ? "" : `<h1>${name}</h1>\n`;
  return `<!doctype html>
<html${language}${direction}>
<head><meta charset="utf-8"><title>${name}</title></head>
<body>
${heading}${content ?? ""}
</body>
</html>`;
}
