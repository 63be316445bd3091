import { bodyKind, type FetchedArticle, type LocalDocument } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { didYouMean } from "../base/nearest.ts";
import { composeMarkdown, type ExtractionOptions, withStored } from "../extraction/index.ts";
import { decodeText, decodingWarnings, isFileBody, sniffPageType } from "../fetching/index.ts";
import {
  defaultsOf,
  EXTRACTION,
  FETCHING,
  NETWORK,
  type OptionTable,
  problemOf,
  QUESTION,
  valuesFrom,
} from "../options/index.ts";
import { partsFor, type Question } from "../question.ts";
import { DEFAULT_EXTRACTION } from "../settings/index.ts";
import { notPageUrl, parsePageUrl } from "../urls/index.ts";
import type { ExtractedArticle, ExtractFromUrlOptions, ExtractOptions, PageSource } from "./types.ts";

/** Says what a value must be, as in "must …"; null for one that is right. */
type Check = (value: unknown) => string | null;

const expects =
  (holds: (value: unknown) => boolean, expected: string): Check =>
  (value) =>
    holds(value) ? null : expected;
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const OBJECT = expects(isObject, "be an object");
const TEXT_OR_NULL = expects((value) => value === null || typeof value === "string", "be text or null");
const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0;

/** The checks of the options of a table: callers in JavaScript have no types that tell them. */
const checksOf = (table: OptionTable): Readonly<Record<string, Check>> =>
  Object.fromEntries(
    Object.values(table).flatMap(({ library, kind, byDefault }) => {
      const check: Check = (value) => {
        const expected = value === null && byDefault === null ? null : problemOf(kind, value, "ms");
        return expected === null || byDefault !== null || typeof value === "string"
          ? expected
          : `${expected} or null`;
      };
      return library === undefined ? [] : [[library, check]];
    }),
  );

const INCLUDED: NonNullable<ExtractOptions["include"]> = ["links", "images", "structuredData"];

const { failOnHttpError: STATUS, nativeMarkdown: NATIVE, ...OF_PAGES } = checksOf(EXTRACTION);
const ONE: Readonly<Record<string, Check>> = {
  ...OF_PAGES,
  ...checksOf(QUESTION),
  include: expects(
    (value) => Array.isArray(value) && value.every((name) => INCLUDED.includes(name)),
    `be a list of ${INCLUDED.join(", ")}`,
  ),
  signal: expects((value) => value instanceof AbortSignal, "be an AbortSignal"),
};

/** The options by the function that takes them. */
const CHECKS = {
  extractArticle: { ...ONE, contentType: TEXT_OR_NULL },
  extractArticleFromUrl: { ...ONE, failOnHttpError: STATUS, nativeMarkdown: NATIVE, network: OBJECT },
  "extractArticleFromUrl's network": { ...checksOf(NETWORK), ...checksOf(FETCHING) },
  extractArticles: {
    ...ONE,
    concurrency: expects((value) => Number.isInteger(value) && isPositive(value), "be a whole number from 1"),
    timeLimitMs: expects(isPositive, "be a number above 0"),
  },
};

/**
 * @param name the function that was called
 * @throws Failure `invalid_usage` for an option that the function does not know, or of a wrong type
 */
export function checkOptions(name: keyof typeof CHECKS, options: unknown): void {
  if (!isObject(options)) throw wrong(name, "options as an object", options);
  const checks: Readonly<Record<string, Check | undefined>> = CHECKS[name];
  for (const [option, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, option) ? checks[option] : undefined;
    if (!check) {
      const guess = didYouMean(option, Object.keys(checks));
      throw new Failure(
        "invalid_usage",
        `${name} has no option ${JSON.stringify(option.slice(0, 100))}${guess}`,
      );
    }
    const expected = value === undefined ? null : check(value);
    if (expected !== null)
      throw new Failure("invalid_usage", `${name}: ${option} must ${expected}, not ${describe(value)}`);
  }
  const { query, maxTokens } = options as ExtractOptions; // checked above
  if (maxTokens !== undefined && (query ?? null) === null)
    throw new Failure("invalid_usage", `${name}: maxTokens goes with query`);
}

/** Creates the failure of a function that was called with a wrong argument. */
export const wrong = (name: string, expected: string, given: unknown): Failure =>
  new Failure("invalid_usage", `${name} takes ${expected}, not ${describe(given)}`);

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 100))}`;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value) && value.length < 10 && value.every((one) => typeof one === "string"))
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
  const wanted = ["content", "markdown", ...(given.include ?? [])] as const;
  return {
    ...valuesFrom(EXTRACTION, "library", given, DEFAULT_EXTRACTION),
    renderings: questionOf(given).query === null ? wanted : withStored(wanted),
  };
}

const questionOf = (given: ExtractFromUrlOptions): Question =>
  valuesFrom(QUESTION, "library", given, defaultsOf(QUESTION));

/**
 * Reads the page that a program passed.
 * @param name the function that was called
 * @throws Failure `invalid_usage` for a value that is neither text nor bytes, `invalid_url`, `unsupported_content` for
 * bytes that are neither text nor a document
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
  if (isFileBody(bytes)) return { ...document, kind: "file", body: bytes, warnings: [] };
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

/** Puts an article, or the parts of it that are asked for, into one object, as other programs get it. */
export async function flatten(
  fetched: FetchedArticle,
  options: ExtractFromUrlOptions,
): Promise<ExtractedArticle> {
  const {
    article: { anchors: _a, blocks: _b, ...article },
    timings: _t,
    ...page
  } = await partsFor(fetched, questionOf(options));
  return {
    ...article,
    ...page,
    content: article.content ?? "",
    markdown: composeMarkdown(article.title, article.markdown ?? ""),
  };
}
