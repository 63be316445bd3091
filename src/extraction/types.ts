import type { FailureRecord } from "../base/failure.ts";
import type { PageUrl } from "../urls/index.ts";

/** What shapes an extraction; equal options and equal HTML give equal results on every machine. */
export type ExtractionOptions = {
  /** Articles with fewer words get a warning; they are still results. */
  readonly minWordCount: number;
  /** Which error is the worse one where the choice of content is unsure. */
  readonly favor: Favor;
  /** What finds the content of HTML and writes its Markdown. */
  readonly engine: Engine;
  /** False removes images, and nothing else. */
  readonly includeImages: boolean;
  /** False removes code blocks, and nothing else. */
  readonly includeCode: boolean;
  /** CSS selector of the element that holds the content; null lets the extractor find it. */
  readonly select: string | null;
  /** CSS selectors of elements that are no content. */
  readonly exclude: readonly string[];
  /** The renderings to make besides the text; the others are null in the article. */
  readonly renderings: readonly Rendering[];
};

/**
 * `precision` leaves out what may be no content, `recall` keeps everything near the content that is not clearly
 * beside it, `balanced` keeps the author's own markup whole.
 */
export type Favor = "balanced" | "precision" | "recall";

/**
 * `article-extractor` is this project's own. `readability` is the pipeline that others have: Mozilla's Readability on
 * linkedom, with Markdown by node-html-markdown; it knows no `favor` and has no limits of its own.
 */
export type Engine = "article-extractor" | "readability";

/** What of an article costs time to make, or is long: it is there where it is asked for. */
export const RENDERINGS = ["content", "markdown", "links", "images", "structuredData"] as const;
export type Rendering = (typeof RENDERINGS)[number];

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

/** Where a value of the metadata was found. */
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
  /** BCP 47 language tag that the page gives itself. */
  readonly lang: string | null;
  /**
   * BCP 47 tag of the content's language: `lang`, or what the text tells where the page names none or clearly a
   * wrong one; null for a text too short to tell.
   */
  readonly language: string | null;
  readonly dir: "ltr" | "rtl" | null;
  readonly excerpt: string | null;
  /** Absolute URL of the page's lead image. */
  readonly image: string | null;
  /** Pixels, where the page says them. */
  readonly imageWidth: number | null;
  readonly imageHeight: number | null;
  /** What the page says it is about, each once, at most 100; empty when it says nothing. */
  readonly keywords: readonly string[];
  /** The part of its site that a page names. */
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
  /** What the page says about itself for machines; null unless asked for. */
  readonly structuredData: StructuredData | null;
  /** Plain text of the body, without the title; blocks are separated by a blank line. */
  readonly text: string;
  /** Unicode words of the text (UAX 29), so Chinese and Japanese count as words too. */
  readonly wordCount: number;
  readonly warnings: readonly string[];
};

export type ArticleSources = {
  readonly title: MetadataSource | null;
  readonly byline: MetadataSource | null;
  readonly publishedDate: MetadataSource | null;
  readonly modifiedDate: MetadataSource | null;
  readonly language: MetadataSource | null;
  readonly keywords: MetadataSource | null;
  readonly section: MetadataSource | null;
};

/** A link as the content has it: absolute where the page's address is known, and as often as it stands there. */
export type ContentLink = { readonly url: string; readonly text: string };

/** An image as the content has it; width and height in pixels, where the page says them. */
export type ContentImage = {
  readonly url: string;
  readonly alt: string;
  readonly width: number | null;
  readonly height: number | null;
};

/** What a page says about itself for machines, as it was parsed. */
export type StructuredData = {
  /** The value of each JSON-LD script, in page order. */
  readonly jsonLd: readonly unknown[];
  /** The items of HTML microdata that stand in no other one, in page order. */
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
  /** Whether every anchor to it says so. */
  readonly isNofollow: boolean;
};

/** The page's own robots directives (`<meta name="robots">`). */
export type MetaRobots = { readonly noindex: boolean; readonly nofollow: boolean };

/** A selector that found no words: its elements have none, or there are no such elements. */
export type EmptySelection = { readonly selector: string; readonly elements: number };

/** All that one parse of a page yields; the crawler parses nothing again. */
export type Extraction = {
  /** Null when the page holds no words of content. */
  readonly article: Article | null;
  /** Set when there is no article because of `options.select`. */
  readonly emptySelection: EmptySelection | null;
  readonly links: readonly Link[];
  readonly robots: MetaRobots;
  /** `<link rel="canonical">`. */
  readonly canonical: PageUrl | null;
  /** Where `<meta http-equiv="refresh">` leads within 5 s, when that is another page. */
  readonly refresh: PageUrl | null;
};

/** Extracts one page; throws `Failure` (`too_large`, `too_complex`, `invalid_usage`, `internal`). */
export type ExtractHtml = (
  html: string,
  url: PageUrl | null,
  options: ExtractionOptions,
) => Promise<Extraction>;

/** What a body is written in; it decides how it is read. XHTML differs from HTML in its empty elements. */
export type BodyKind = "html" | "xhtml" | "markdown" | "plain";

/** One page to extract. */
export type ExtractionTask = {
  readonly kind: BodyKind;
  readonly body: string;
  /** The page's final URL, which relative references resolve against; null leaves them relative. */
  readonly url: PageUrl | null;
  readonly options: ExtractionOptions;
};

/**
 * What a worker says: that it can take its first page, or the outcome of the page that it was given.
 * A failure crosses as a record, because a posted Error keeps only its message.
 */
export type WorkerReply =
  | { readonly kind: "extracted"; readonly extraction: Extraction }
  | { readonly kind: "failed"; readonly failure: FailureRecord };
