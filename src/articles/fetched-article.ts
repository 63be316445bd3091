import { type Block, Failure } from "../base/failure.ts";
import { titleOfName } from "../base/text.ts";
import {
  type Article,
  type BodyKind,
  composeMarkdown,
  type Extraction,
  type ExtractionOptions,
  type Extractor,
  type Rendering,
} from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";
import type { PageUrl } from "../urls/index.ts";
import { blockedFailure, describeBlock } from "./blocked.ts";

/** The article of one page, and how the page was fetched. */
export type FetchedArticle = {
  /** The requested URL; null for a local document without an address. */
  readonly url: string | null;
  /** The URL that answered, after redirects. */
  readonly finalUrl: PageUrl | null;
  readonly canonicalUrl: PageUrl | null;
  /** Null for local documents. */
  readonly statusCode: number | null;
  readonly fetcher: "http" | "browser" | "file";
  readonly article: Article;
  /** The page's decoded body as it was fetched, where that was asked for; empty for a file. */
  readonly body?: string;
  /** The warnings of the extraction and of fetching. */
  readonly warnings: readonly string[];
  /** Durations in ms, waits and retries included. */
  readonly timings: { readonly fetchMs: number; readonly extractionMs: number };
};

/** A page's response, and the results of one pass over it. */
export type PageVisit = {
  readonly page: FetchedPage;
  /** Null without a page, by its status or because it only says so, and for 304: the known one is valid. */
  readonly extraction: Extraction | null;
  readonly extractionMs: number;
  /** What stands in for the page, unless that is wanted. */
  readonly blocked: Block | null;
  /** Warnings about fetching the page. */
  readonly notes: readonly string[];
};

/** The article of an extraction; throws `Failure` `no_content` that names the page when there is none. */
export function requireArticle({ article, emptySelection }: Extraction, page: string): Article {
  if (article) return article;
  if (!emptySelection) throw new Failure("no_content", `${page} holds no words of content`);
  const selector = JSON.stringify(emptySelection.selector);
  const message =
    emptySelection.elements === 0
      ? `no element shown on ${page} matches the selector ${selector}`
      : `what the selector ${selector} matches on ${page} holds no words`;
  throw new Failure("no_content", message);
}

/** A document that is already here: a file, or text from a pipe. */
export type LocalDocument = {
  /** The document's name in messages. */
  readonly name: string;
  readonly kind: BodyKind;
  readonly body: string | Uint8Array;
  /** Its address, for relative links; null leaves them relative. */
  readonly url: PageUrl | null;
  readonly warnings: readonly string[];
};

/** Extracts a local document; throws `Failure` `no_content`, `blocked` and what the extractor throws. */
export async function articleFromDocument(
  document: LocalDocument,
  options: ExtractionOptions,
  { extractor, signal }: { readonly extractor: Pick<Extractor, "extract">; readonly signal?: AbortSignal },
): Promise<FetchedArticle> {
  const { kind, body, url } = document;
  const started = performance.now();
  const work = extractor.extract({ kind, body, url, options }, signal);
  const extraction = await (kind === "file" ? named(document.name, work) : work);
  const { blocked = null } = extraction;
  // A preview in a file is what its owner has of the page; the other kinds hold nothing of it.
  if (blocked !== null && blocked.kind !== "paywall" && !options.keepsBlocked)
    throw blockedFailure(document.name, blocked, null);
  const found = requireArticle(extraction, document.name);
  const isNamed = kind === "file" && /[^/]\.\w+$/.test(document.name);
  const article = { ...found, title: found.title ?? (isNamed ? titleOfName(document.name) : null) };
  return {
    url,
    finalUrl: url,
    canonicalUrl: extraction.canonical,
    statusCode: null,
    fetcher: "file",
    article,
    warnings: [
      ...document.warnings,
      ...article.warnings,
      ...(blocked ? [describeBlock(document.name, blocked)] : []),
    ],
    timings: { fetchMs: 0, extractionMs: performance.now() - started },
  };
}

/** Has the failures of a document begin with its name, which its reader does not know. */
export const named = <T>(name: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code === "cancelled") throw error;
    throw new Failure(error.code, `${name}: ${error.message}`, { cause: error });
  });

// The fields are in their order in JSON. Absent values are null.
const FIELDS = {
  url: ({ url }: FetchedArticle) => url,
  final_url: ({ finalUrl }: FetchedArticle) => finalUrl,
  canonical_url: ({ canonicalUrl }: FetchedArticle) => canonicalUrl,
  status_code: ({ statusCode }: FetchedArticle) => statusCode,
  http_status: ({ statusCode }: FetchedArticle) => statusCode,
  fetcher: ({ fetcher }: FetchedArticle) => fetcher,
  title: ({ article }: FetchedArticle) => article.title,
  byline: ({ article }: FetchedArticle) => article.byline,
  siteName: ({ article }: FetchedArticle) => article.siteName,
  published_date: ({ article }: FetchedArticle) => article.publishedDate,
  modified_date: ({ article }: FetchedArticle) => article.modifiedDate,
  lang: ({ article }: FetchedArticle) => article.lang,
  language: ({ article }: FetchedArticle) => article.language,
  dir: ({ article }: FetchedArticle) => article.dir,
  excerpt: ({ article }: FetchedArticle) => article.excerpt,
  image: ({ article }: FetchedArticle) => article.image,
  image_width: ({ article }: FetchedArticle) => article.imageWidth,
  image_height: ({ article }: FetchedArticle) => article.imageHeight,
  keywords: ({ article }: FetchedArticle) => article.keywords,
  section: ({ article }: FetchedArticle) => article.section,
  page_type: ({ article }: FetchedArticle) => article.pageType,
  confidence: ({ article }: FetchedArticle) => article.confidence,
  sources: ({ article: { sources } }: FetchedArticle) => ({
    title: sources.title,
    byline: sources.byline,
    published_date: sources.publishedDate,
    modified_date: sources.modifiedDate,
    language: sources.language,
    keywords: sources.keywords,
    section: sources.section,
    markdown: sources.markdown ?? null,
  }),
  // A document that consists of its title has no other content to show.
  content: ({ article }: FetchedArticle) => article.content,
  markdown: ({ article: { title, markdown } }: FetchedArticle) =>
    markdown === null ? null : composeMarkdown(title, markdown),
  links: ({ article }: FetchedArticle) => article.links,
  images: ({ article }: FetchedArticle) => article.images,
  structured_data: ({ article: { structuredData } }: FetchedArticle) =>
    structuredData && {
      json_ld: structuredData.jsonLd,
      microdata: structuredData.microdata,
      open_graph: structuredData.openGraph,
    },
  blocks: ({ article: { blocks } }: FetchedArticle) =>
    blocks?.map(({ wordCount, isHidden, isKept, isUnsure, probability, reason, step, ...block }) => ({
      ...block,
      word_count: wordCount,
      hidden: isHidden,
      kept: isKept,
      unsure: isUnsure,
      probability,
      reason,
      step,
    })) ?? null,
  text: ({ article }: FetchedArticle) => article.text,
  length: ({ article }: FetchedArticle) => article.text.length,
  word_count: ({ article }: FetchedArticle) => article.wordCount,
  success: () => true as const,
  warnings: ({ warnings }: FetchedArticle) => (warnings.length > 0 ? [...warnings] : null),
};

/** A field of the extraction result on the wire. */
export type ArticleField = keyof typeof FIELDS;

/** All fields, in the order in which they stand in JSON. */
export const ARTICLE_FIELDS = Object.keys(FIELDS) as readonly ArticleField[];

/** The extraction result on the wire (docs/server.md): the body of `POST /` and of `--output json`. */
export type ArticleResult = { readonly [F in ArticleField]: ReturnType<(typeof FIELDS)[F]> };

/** Fields that are long or cost time: they are there only where somebody asks for them. */
const FIELDS_ON_REQUEST = ["links", "images", "structured_data", "blocks"] as const;

/** The fields of a result where nobody names any. */
export const DEFAULT_FIELDS: readonly ArticleField[] = ARTICLE_FIELDS.filter(
  (field) => !FIELDS_ON_REQUEST.some((other) => other === field),
);

const RENDERING_OF: Partial<Readonly<Record<ArticleField, Rendering>>> = {
  content: "content",
  markdown: "markdown",
  links: "links",
  images: "images",
  structured_data: "structuredData",
  blocks: "blocks",
};

/** Returns the renderings that the given fields need. */
export const renderingsFor = (fields: readonly ArticleField[]): Rendering[] =>
  fields.flatMap((field) => RENDERING_OF[field] ?? []);

/** Stands for the fields of `DEFAULT_FIELDS` where fields are named. */
export const DEFAULT_WORD = "default";

/** The fields that these names mean, each once. */
export const fieldsNamed = (
  names: readonly (ArticleField | typeof DEFAULT_WORD)[],
): readonly ArticleField[] => [
  ...new Set(names.flatMap((name) => (name === DEFAULT_WORD ? DEFAULT_FIELDS : [name]))),
];

/** Translates some fields to the wire form, in the given order. The renderings among them must be there. */
export const articleFields = (
  fetched: FetchedArticle,
  fields: readonly ArticleField[],
): Partial<ArticleResult> => Object.fromEntries(fields.map((field) => [field, FIELDS[field](fetched)]));
