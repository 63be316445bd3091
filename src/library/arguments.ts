import { bodyKind, type FetchedArticle, type LocalDocument } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { didYouMean } from "../base/nearest.ts";
import { composeMarkdown, type ExtractionOptions } from "../extraction/index.ts";
import { decodeText, decodingWarnings, sniffPageType } from "../fetching/index.ts";
import { RANGES, type Range } from "../options/index.ts";
import { DEFAULT_EXTRACTION, ENGINES, FAVORS } from "../settings/index.ts";
import { notPageUrl, parsePageUrl } from "../urls/index.ts";
import type {
  ExtractArticleOptions,
  ExtractArticlesOptions,
  ExtractedArticle,
  ExtractFromUrlOptions,
  ExtractOptions,
  NetworkOptions,
  PageSource,
} from "./types.ts";

type Check = { readonly holds: (value: unknown) => boolean; readonly expected: string };

const isText = (value: unknown): boolean => typeof value === "string";
const oneOf = (words: readonly unknown[]): Check => ({
  holds: (value) => words.includes(value),
  expected: words.map((word) => JSON.stringify(word)).join(" or "),
});
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isWhole = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const wholeIn = ({ min, max }: Range): Check => ({
  holds: (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  expected: `a whole number from ${min} to ${max}`,
});
const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0;
const FLAG = oneOf([true, false]);
const TEXT_OR_NULL: Check = { holds: (value) => value === null || isText(value), expected: "text or null" };
const TEXTS: Check = {
  holds: (value) => Array.isArray(value) && value.every(isText),
  expected: "a list of texts",
};

const INCLUDED: NonNullable<ExtractOptions["include"]> = ["links", "images", "structuredData"];

/** The values that an extraction's options may have: callers in JavaScript have no types that tell them. */
const EXTRACTION: Readonly<Record<keyof ExtractOptions, Check>> = {
  minWordCount: wholeIn(RANGES.minWordCount),
  favor: oneOf(FAVORS),
  engine: oneOf(ENGINES),
  includeImages: FLAG,
  includeCode: FLAG,
  select: TEXT_OR_NULL,
  exclude: TEXTS,
  include: {
    holds: (value) => Array.isArray(value) && value.every((name) => INCLUDED.includes(name)),
    expected: `a list of ${INCLUDED.join(", ")}`,
  },
  signal: { holds: (value) => value instanceof AbortSignal, expected: "an AbortSignal" },
};

const ONE: Readonly<Record<keyof ExtractArticleOptions, Check>> = {
  ...EXTRACTION,
  contentType: TEXT_OR_NULL,
};

const FROM_URL: Readonly<Record<keyof ExtractFromUrlOptions, Check>> = {
  ...EXTRACTION,
  failOnHttpError: FLAG,
  network: { holds: isObject, expected: "an object" },
};

const MAX_TIMEOUT_MS = RANGES.timeoutSeconds.max * 1000;

const NETWORK: Readonly<Record<keyof NetworkOptions, Check>> = {
  userAgent: { holds: isText, expected: "text" },
  randomUserAgent: FLAG,
  proxy: TEXT_OR_NULL,
  proxyBypass: TEXTS,
  headers: {
    holds: (value) => isObject(value) && Object.values(value).every(isText),
    expected: "an object of texts",
  },
  timeoutMs: {
    holds: (value) => isPositive(value) && Number(value) <= MAX_TIMEOUT_MS,
    expected: `a number above 0 and up to ${MAX_TIMEOUT_MS}`,
  },
  retries: wholeIn(RANGES.retries),
  egress: { holds: isText, expected: "text" },
};

const MANY: Readonly<Record<keyof ExtractArticlesOptions, Check>> = {
  ...EXTRACTION,
  concurrency: { holds: (value) => isWhole(value) && isPositive(value), expected: "a whole number from 1" },
  timeLimitMs: { holds: isPositive, expected: "a number above 0" },
};

/** The options by the function that takes them. */
const CHECKS = {
  extractArticle: ONE,
  extractArticleFromUrl: FROM_URL,
  "extractArticleFromUrl's network": NETWORK,
  extractArticles: MANY,
} as const;

/**
 * @param name the function that was called
 * @throws Failure `invalid_usage` for an option that the function does not know, or of a wrong type
 */
export function checkOptions(name: keyof typeof CHECKS, options: unknown): void {
  if (!isObject(options)) throw wrong(name, "options as an object", options);
  const checks: Readonly<Record<string, Check>> = CHECKS[name];
  for (const [option, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, option) ? checks[option] : undefined;
    if (!check) {
      const guess = didYouMean(option, Object.keys(checks));
      throw new Failure(
        "invalid_usage",
        `${name} has no option ${JSON.stringify(option.slice(0, 100))}${guess}`,
      );
    }
    if (value !== undefined && !check.holds(value))
      throw wrong(name, `${check.expected} as ${option}`, value);
  }
}

/** Creates the failure of a function that was called with a wrong argument. */
export const wrong = (name: string, expected: string, given: unknown): Failure =>
  new Failure("invalid_usage", `${name} takes ${expected}, not ${describe(given)}`);

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 100))}`;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value) && value.length < 10 && value.every(isText))
    return `the list ${JSON.stringify(value.map((text) => text.slice(0, 40)))}`;
  if (typeof value !== "object") return `the ${typeof value} ${String(value)}`;
  if ("then" in value) return "a promise: await it first";
  if ("arrayBuffer" in value) return `${nameOf(value)}: pass what its arrayBuffer() resolves to`;
  return nameOf(value);
}

const nameOf = ({ constructor: type }: object): string =>
  `a value of type ${typeof type === "function" ? type.name : "Object"}`;

/** Returns the options for the extractor, with defaults for missing ones. */
export function extractionOptions(given: ExtractFromUrlOptions): ExtractionOptions {
  return {
    minWordCount: given.minWordCount ?? DEFAULT_EXTRACTION.minWordCount,
    favor: given.favor ?? DEFAULT_EXTRACTION.favor,
    engine: given.engine ?? DEFAULT_EXTRACTION.engine,
    includeImages: given.includeImages ?? DEFAULT_EXTRACTION.includeImages,
    includeCode: given.includeCode ?? DEFAULT_EXTRACTION.includeCode,
    select: given.select ?? DEFAULT_EXTRACTION.select,
    exclude: given.exclude ?? DEFAULT_EXTRACTION.exclude,
    failsOnHttpError: given.failOnHttpError ?? DEFAULT_EXTRACTION.failsOnHttpError,
    renderings: ["content", "markdown", ...(given.include ?? [])],
  };
}

/**
 * Reads the page that a program passed.
 * @param name the function that was called
 * @throws Failure `invalid_usage` for a value that is neither text nor bytes, `invalid_url`, `unsupported_content` for
 * bytes that are not text
 */
export function readDocument({ html, url, contentType }: PageSource, name: string): LocalDocument {
  if (!isTextOrNothing(url)) throw wrong(name, "the page's url as text or null", url);
  if (!isTextOrNothing(contentType)) throw wrong(name, "contentType as text or null", contentType);
  const pageUrl = url == null ? null : parsePageUrl(url);
  if (url != null && !pageUrl) throw notAUrl(url);
  const [type = ""] = (contentType ?? "").split(";");
  const kind = bodyKind(type.trim().toLowerCase());
  const document = { name: pageUrl ?? "the page", kind, url: pageUrl };
  if (typeof html === "string") return { ...document, body: html, warnings: [] };
  const bytes = bytesOf(html);
  if (bytes === null) throw wrong(name, "the page as a string, Uint8Array or ArrayBuffer", html);
  if (bytes.length > 0 && type === "" && sniffPageType(bytes) === null)
    throw new Failure("unsupported_content", `${document.name} is not HTML, Markdown or plain text`);
  const decoded = decodeText(bytes, contentType ?? null);
  return { ...document, body: decoded.text, warnings: decodingWarnings(decoded) };
}

const isTextOrNothing = (value: unknown): boolean => value == null || typeof value === "string";

function bytesOf(body: unknown): Uint8Array | null {
  if (body instanceof Uint8Array) return body;
  return body instanceof ArrayBuffer ? new Uint8Array(body) : null;
}

export const notAUrl = (url: string): Failure => new Failure("invalid_url", notPageUrl(url));

/** Puts an article into one object, as other programs get it. */
export function flatten({
  article: { anchors: _a, blocks: _b, ...article },
  timings: _t,
  ...page
}: FetchedArticle): ExtractedArticle {
  return {
    ...article,
    ...page,
    content: article.content ?? "",
    markdown: composeMarkdown(article.title, article.markdown ?? ""),
  };
}
