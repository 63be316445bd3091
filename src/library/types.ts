import type { Failure } from "../base/failure.ts";

// The public types are written out here, so that the declarations show each field with its meaning.

/**
 * A page as text, or as the bytes that came over the network, whose charset is detected as for fetched pages; or the bytes
 * of a PDF, DOCX, ODT or EPUB.
 */
export type PageBody = string | Uint8Array | ArrayBuffer;

/** The options of an extraction; every field is optional. */
export type ExtractOptions = {
  /** Articles with fewer words get a warning; they are still results. 150 by default. */
  readonly minWordCount?: number | undefined;
  /**
   * Which error is worse where the classification is unsure: `precision` leaves out what may not be content, `recall`
   * keeps what is not clearly beside it. `balanced` by default.
   */
  readonly favor?: "balanced" | "precision" | "recall" | undefined;
  /**
   * The engine that finds the content of HTML and writes its Markdown; `article-extractor` by default. `readability`
   * needs the packages `@mozilla/readability` and `node-html-markdown`, which are optional.
   */
  readonly engine?: "article-extractor" | "readability" | undefined;
  /** False removes images, and nothing else. */
  readonly includeImages?: boolean | undefined;
  /** False removes code blocks, and nothing else. */
  readonly includeCode?: boolean | undefined;
  /** The CSS selector of the elements with the content; null, the default, lets the extractor find it. */
  readonly select?: string | null | undefined;
  /** The CSS selectors of elements that are not content. */
  readonly exclude?: readonly string[] | undefined;
  /**
   * Leaves of Markdown and text only the parts that answer this best: whole blocks under the path of their headings, with
   * marks for what is left out. A warning tells where none does, and the beginning stands instead.
   */
  readonly query?: string | null | undefined;
  /** About the most tokens of these parts, 50 to 100 000; 500 by default. A single longer block comes alone. */
  readonly maxTokens?: number | undefined;
  /** True takes what stands in for the page, such as a challenge or a login page, with a warning; false fails by default. */
  readonly keepBlocked?: boolean | undefined;
  /** Long parts of the article, which are null unless requested here. */
  readonly include?: readonly ("links" | "images" | "structuredData")[] | undefined;
  /** Ends a fetch or the work on many pages with `cancelled`; work on the calling thread runs to its end. */
  readonly signal?: AbortSignal | undefined;
};

/** The options of fetching a page; every field is optional. */
export type NetworkOptions = {
  readonly userAgent?: string | null | undefined;
  /** Sends the user agent of a current desktop browser. */
  readonly randomUserAgent?: boolean | undefined;
  /** The URL of an HTTP proxy; overrides `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`. */
  readonly proxy?: string | null | undefined;
  /** Hosts that skip the proxy, in the grammar of `NO_PROXY`. */
  readonly proxyBypass?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The time limit of one request, in ms; 30 000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Retries after a failed connection, 408, 425, 429 or 5xx; 3 by default. */
  readonly retries?: number | undefined;
  /** `auto` (default), `open`, `public`, or hosts and networks that may be reached besides public ones. */
  readonly egress?: string | undefined;
};

/** The options of `extractArticle`. */
export type ExtractArticleOptions = ExtractOptions & {
  /**
   * The header `Content-Type` that the page came with: its charset, and whether it is HTML (the default), XHTML,
   * Markdown or plain text.
   */
  readonly contentType?: string | null | undefined;
};

/** The options of `extractArticleFromUrl`. */
export type ExtractFromUrlOptions = ExtractOptions & {
  /** Fails for every HTTP error status, whatever the body holds; false by default. */
  readonly failOnHttpError?: boolean | undefined;
  /** Takes the site's own Markdown of a page that names it, if it holds as much; true by default. */
  readonly nativeMarkdown?: boolean | undefined;
  readonly network?: NetworkOptions | undefined;
};

/** The options of `extractArticles`. */
export type ExtractArticlesOptions = ExtractOptions & {
  /** The number of worker threads, at least 1; one less than the machine's cores by default. */
  readonly concurrency?: number | undefined;
  /** The limit of CPU time for one page, in ms, after which it fails with `too_complex`. 60 000 by default. */
  readonly timeLimitMs?: number | undefined;
};

/** A page that is here already. */
export type PageSource = {
  readonly html: PageBody;
  /** The page's URL, for its relative links; without it they stay relative. */
  readonly url?: string | null | undefined;
  /** The same as the option of `extractArticle`. */
  readonly contentType?: string | null | undefined;
};

/** The result of one of many pages: an article or an error. */
export type PageResult<Page> =
  | { readonly page: Page; readonly index: number; readonly article: ExtractedArticle; readonly error: null }
  | { readonly page: Page; readonly index: number; readonly article: null; readonly error: Failure };

export type PageType =
  | "article"
  | "documentation"
  | "forum"
  | "product"
  | "collection"
  | "listing"
  | "service";

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

export type ArticleSources = {
  readonly title: MetadataSource | null;
  readonly byline: MetadataSource | null;
  readonly publishedDate: MetadataSource | null;
  readonly modifiedDate: MetadataSource | null;
  readonly language: MetadataSource | null;
  readonly keywords: MetadataSource | null;
  readonly section: MetadataSource | null;
  /** The site's own Markdown of the page and what names it, where that was taken. */
  readonly markdown?: {
    readonly url: string;
    readonly sign: "alternate" | "header" | "link" | "llms.txt" | "vary";
  };
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

/** An extracted article. Absent values are null, never empty and never made up. */
export type ExtractedArticle = {
  /** The requested URL; null for a page without one. */
  readonly url: string | null;
  /** The URL that answered, after redirects. */
  readonly finalUrl: string | null;
  /** The page's `<link rel="canonical">`. */
  readonly canonicalUrl: string | null;
  /** The status of the HTTP answer; null for a page that was not fetched. */
  readonly statusCode: number | null;
  /** `file` for a page that was not fetched. */
  readonly fetcher: "http" | "browser" | "file";
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
  /** The places where the values were found. */
  readonly sources: ArticleSources;
  /** Sanitised HTML. */
  readonly content: string;
  /** GitHub-flavoured Markdown that starts with the title. */
  readonly markdown: string;
  /** Links of the content, in its order; null unless `include` asks for them. */
  readonly links: readonly ContentLink[] | null;
  /** Images of the content, in its order; null unless `include` asks for them. */
  readonly images: readonly ContentImage[] | null;
  /** The page's structured data for machines; null unless `include` asks for it. */
  readonly structuredData: StructuredData | null;
  /** Plain text without the title; blocks are separated by a blank line. */
  readonly text: string;
  /** Unicode words of the text (UAX 29), so Chinese and Japanese count as words too. */
  readonly wordCount: number;
  /** The warnings of fetching, decoding and extraction. */
  readonly warnings: readonly string[];
};
