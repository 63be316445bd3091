import { isRecord } from "../../../base/json.ts";
import { wordsIn } from "../../../base/text.ts";
import { CRAWL, EXTRACTION, HEADER_CHARACTERS, MAX_URL_CHARACTERS } from "../../../options/index.ts";
import { z } from "../openapi.ts";

/** The longest time that a caller may give a page or a map, in ms. */
const MAX_TIMEOUT_MS = 300_000;

/** A field that has no counterpart here. */
const none = (error = "is not supported") => z.never({ error }).nullish();
/** A field that has one value here, which clients may send; any other asks for something that is not done. */
const only = (...values: readonly (boolean | number | string)[]) => {
  const error = `must be ${values.map((value) => JSON.stringify(value)).join(" or ")}: nothing else is supported`;
  return z.literal([...values], { error }).nullish();
};
/** Fields of one schema. */
const each = (names: string, schema: z.ZodType): object =>
  Object.fromEntries(wordsIn(names).map((name) => [name, schema]));
/** A field that changes nothing of the answer. */
const idle = z.string().max(1000).nullish();
const flag = z.boolean().nullish();
const texts = (maxCharacters: number, maxCount: number) =>
  z.array(z.string().trim().min(1).max(maxCharacters)).max(maxCount).nullish();
const selectors = texts(EXTRACTION.exclude.kind.maxCharacters, EXTRACTION.exclude.kind.maxCount);
const timeout = z.int().min(1).max(MAX_TIMEOUT_MS).nullish();

const CALL = {
  url: z.string().trim().min(1).max(MAX_URL_CHARACTERS),
  origin: idle,
  integration: idle,
};

/** Clients send a format as its name, or as an object with the name as its type. */
const nameOf = (format: unknown): unknown => {
  if (!isRecord(format) || !("type" in format)) return format;
  // What a page declares needs no model; what somebody asks of its text does.
  return "prompt" in format || "schema" in format
    ? `${String(format.type)} with a prompt or a schema`
    : format.type;
};

const formats = <const F extends string>(...names: readonly F[]) =>
  z
    .array(z.preprocess(nameOf, z.enum(names)))
    .max(20)
    .nullish();

/** What scrapes and crawls take of how a page is read. */
const READING = {
  onlyMainContent: flag,
  includeTags: selectors,
  excludeTags: selectors,
  headers: z.record(z.string().max(128), z.string().max(8192).regex(HEADER_CHARACTERS)).nullish(),
  timeout,
  maxAge: z.number().min(0).nullish(),
  storeInCache: flag,
  parsers: z.array(z.preprocess(nameOf, z.literal("pdf"))).nullish(),
  actions: z.array(z.never({ error: "is not supported" })).nullish(),
  proxy: only("auto", "basic"),
  waitFor: only(0),
  ...each("blockAds removeBase64Images", only(true)),
  ...each("mobile fastMode skipTlsVerification lockdown redactPII checkPromptInjection", only(false)),
  ...each("zeroDataRetention domainTools", only(false)),
  ...each("minAge useMock location profile toolDetail threatProtection auditMetadata alexandria", none()),
};

export const ScrapeRequest = z.strictObject({
  ...CALL,
  ...READING,
  formats: formats("markdown", "html", "rawHtml", "links", "images", "json"),
});

const address = z.string().trim().min(1).max(MAX_URL_CHARACTERS);
const headers = z.record(z.string().max(128), z.string().max(8192).regex(HEADER_CHARACTERS));
const webhook = z
  .union([
    address,
    z.strictObject({
      url: address,
      headers: headers.optional(),
      metadata: z.record(z.string().max(128), z.string().max(1000)).optional(),
      events: z
        .array(z.enum(["started", "page", "completed", "failed"]))
        .min(1)
        .max(20)
        .optional(),
    }),
  ])
  .nullish();
export type WebhookFields = NonNullable<z.output<typeof webhook>>;

const Sitemap = z.enum(["include", "skip", "only"]).nullish();
/** Regular expressions; see `globsOf`. */
const expressions = texts(1000, 50);

/** The most pages of a batch, as of `POST /batch`. */
const MAX_BATCH = 10_000;

export const BatchRequest = z.strictObject({
  ...READING,
  urls: z.array(z.string().trim().min(1).max(MAX_URL_CHARACTERS)).min(1).max(MAX_BATCH),
  origin: idle,
  integration: idle,
  // Jobs keep a page as Markdown.
  formats: formats("markdown"),
  ignoreInvalidURLs: flag,
  maxConcurrency: z.int().min(CRAWL.concurrency.kind.min).max(CRAWL.concurrency.kind.max).nullish(),
  appendToId: none(),
  webhook,
});

export const CrawlRequest = z.strictObject({
  ...CALL,
  scrapeOptions: z
    .strictObject({
      ...READING,
      // Jobs keep a page as Markdown.
      formats: formats("markdown"),
      origin: idle,
      integration: idle,
    })
    .nullish(),
  includePaths: expressions,
  excludePaths: expressions,
  limit: z.int().min(CRAWL.maxPages.kind.min).max(CRAWL.maxPages.kind.max).nullish(),
  maxDiscoveryDepth: z.int().min(CRAWL.maxDepth.kind.min).max(CRAWL.maxDepth.kind.max).nullish(),
  sitemap: Sitemap,
  crawlEntireDomain: flag,
  ignoreRobotsTxt: flag,
  /** In seconds. */
  delay: z.number().min(0).max(3600).nullish(),
  maxConcurrency: z.int().min(CRAWL.concurrency.kind.min).max(CRAWL.concurrency.kind.max).nullish(),
  deduplicateSimilarURLs: only(true),
  ...each(
    "allowExternalLinks allowSubdomains ignoreQueryParameters regexOnFullURL zeroDataRetention",
    only(false),
  ),
  ...each("robotsUserAgent prompt", none()),
  webhook,
});

export const MapRequest = z.strictObject({
  ...CALL,
  search: z.string().trim().max(1000).nullish(),
  sitemap: Sitemap,
  limit: z.int().min(1).max(100_000).nullish(),
  timeout,
  ignoreQueryParameters: flag,
  includeSubdomains: only(false),
  ...each("location threatProtection auditMetadata", none()),
});

export type ReadingFields =
  | z.output<typeof ScrapeRequest>
  | NonNullable<z.output<typeof CrawlRequest>["scrapeOptions"]>;
