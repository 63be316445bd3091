import { ARTICLE_FIELDS, DEFAULT_WORD } from "../../../../articles/index.ts";
import type { ExtractionOptions } from "../../../../extraction/index.ts";
import { RANGES, type Range } from "../../../../options/index.ts";
import { z } from "../../openapi.ts";

// The engine itself checks selectors, URLs and header values; these shapes contain the limits that keep a
// request small.

const MAX_URL = 8192;
const MAX_LIST = 10_000;

/** A field that may be left out. @param rest what a document of the API says besides, such as the default */
const field = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  rest: { readonly default?: unknown; readonly example?: unknown } = {},
) => schema.nullish().openapi({ description, ...rest });
const flag = (description: string, byDefault = false) =>
  field(z.boolean(), description, { default: byDefault });
const numberIn = ({ min, max }: Range) => z.number().min(min).max(max);
const whole = (range: Range, description: string, byDefault: number) =>
  field(z.int().min(range.min).max(range.max), description, { default: byDefault });
const texts = (length: number, count: number) => z.array(z.string().min(1).max(length)).max(count);
const urls = (description: string, example: string) =>
  field(texts(MAX_URL, MAX_LIST), description, { default: [], example: [example] });

const NetworkRequest = z
  .strictObject({
    user_agent: field(
      z
        .string()
        .min(1)
        .max(1024)
        .regex(
          /^[\t ]*[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*$/,
          "must be text that an HTTP header can hold",
        ),
      "User agent to send; wins over random_user_agent",
      { example: "my-reader/1.0" },
    ),
    random_user_agent: flag("Send a current desktop browser's user agent"),
    headed: flag("Run the browser visibly; only where the server has a display"),
    proxy: field(z.string().min(1).max(MAX_URL), "HTTP proxy; null takes the server's own", {
      default: null,
      example: null,
    }),
    proxy_bypass: field(texts(255, 1000), "Hosts that skip the proxy, in the grammar of NO_PROXY", {
      default: [],
    }),
    storage_state: field(
      z.string().min(1).max(4096),
      "File of cookies and sessions on the server's host, below the same directory as output_dir",
      { default: null, example: null },
    ),
    user_interaction_timeout: field(
      numberIn(RANGES.interactionSeconds),
      "Seconds that a visible browser waits for a person on the first page",
      { default: 0 },
    ),
  })
  .openapi("NetworkOptions");

const optionsRequest = (defaults: RequestDefaults["extraction"]) =>
  z
    .strictObject({
      min_word_count: whole(RANGES.minWordCount, "Fewer words make a warning", defaults.minWordCount),
      favor: field(
        z.enum(["balanced", "precision", "recall"]),
        "What to keep when unsure: precision keeps less noise, recall loses less content",
        { default: defaults.favor },
      ),
      engine: field(
        z.enum(["article-extractor", "readability"]),
        "Extraction engine: article-extractor, or readability (Mozilla's, with node-html-markdown) for comparison",
        { default: defaults.engine },
      ),
      include_images: flag("Keep images", defaults.includeImages),
      include_code: flag("Keep code blocks", defaults.includeCode),
      select: field(z.string().min(1).max(1000), "CSS selector of the elements that hold the content", {
        default: null,
        example: null,
      }),
      exclude: field(texts(1000, 100), "CSS selectors of elements to leave out", {
        default: [],
        example: [],
      }),
      fail_on_http_error: flag(
        "Fail for every HTTP error status; otherwise a 404 or 410 whose body is a page is a success with a warning",
        defaults.failsOnHttpError,
      ),
    })
    .openapi("ExtractionOptions");

const preferBrowser = field(
  z.boolean(),
  "true: the browser first; false: plain HTTP first; absent: the server's setting",
);

/** The values for fields that a request leaves out, as far as a document of the API can name them. */
export type RequestDefaults = {
  readonly extraction: Omit<ExtractionOptions, "renderings">;
  readonly maxPages: number;
  readonly maxDepth: number;
  readonly concurrency: number;
  readonly hostDelayMs: number;
};

type OptionsSchema = ReturnType<typeof optionsRequest>;

const extractionRequest = (OptionsRequest: OptionsSchema) =>
  z
    .strictObject({
      url: z.string().min(1).max(MAX_URL).openapi({
        description: "Page to extract, an absolute http or https URL",
        example: "https://example.org/post",
      }),
      prefer_browser: preferBrowser,
      network: NetworkRequest.nullish(),
      options: OptionsRequest.nullish(),
      fields: field(
        z
          .array(z.enum([...ARTICLE_FIELDS, DEFAULT_WORD]))
          .min(1)
          .max(100),
        "Only these fields of the result, in this order; default stands for those without this field, beside which links, images, structured_data and blocks can be had",
        { example: ["default", "links"] },
      ),
    })
    .openapi("ExtractionRequest");

const crawlRequest = (OptionsRequest: OptionsSchema, defaults: RequestDefaults) =>
  z
    .strictObject({
      output_dir: field(
        z.string().max(4096),
        "Directory on the server's host, relative to ARTICLE_EXTRACTOR_OUTPUT_ROOT or to the server's own, or folder in its bucket, that receives the Markdown files and the manifest; absent or empty: a new one, named after the first address",
        { example: "example-org" },
      ),
      seeds: urls("URLs to start from; a seed or a sitemap is needed", "https://example.org/"),
      sitemaps: urls(
        "Sitemap URLs, or files below the same directory as output_dir",
        "https://example.org/sitemap.xml",
      ),
      allow_prefixes: urls("Only URLs that start with one of these; none: all", "https://example.org/"),
      deny_prefixes: urls("No URLs that start with one of these", "https://example.org/login"),
      max_pages: whole(RANGES.maxPages, "Most pages to fetch", defaults.maxPages),
      max_depth: whole(
        RANGES.maxDepth,
        "Most links between a seed and a page; 0: seeds only",
        defaults.maxDepth,
      ),
      concurrency: whole(RANGES.concurrency, "Concurrent requests", defaults.concurrency),
      rate_limit_delay: field(numberIn(RANGES.rateLimitSeconds), "Seconds between requests to one host", {
        default: defaults.hostDelayMs / 1000,
      }),
      follow_links: flag("false: only the seeds and the pages of sitemaps", true),
      network: NetworkRequest.nullish(),
      prefer_browser: preferBrowser,
      options: OptionsRequest.nullish(),
      ignore_robots: flag("Ignore robots.txt; make sure that you are allowed to"),
      respect_meta_robots: flag("Obey noindex and nofollow of pages and links"),
      discover_sitemaps: flag("Read the sitemaps named in the robots.txt of the seeds' sites"),
      adaptive_delay: flag("After each answer of a host, wait as long as it took"),
      trust_lastmod: flag("When crawling again, do not ask for pages whose lastmod is the same as before"),
      fresh: flag("Forget an earlier crawl of this directory instead of resuming it"),
    })
    .openapi("CrawlRequest");

/** The bodies that the extractor's server takes; they name the defaults, but fill nothing in. */
export function requestSchemas(defaults: RequestDefaults) {
  const options = optionsRequest(defaults.extraction);
  return { ExtractionRequest: extractionRequest(options), CrawlRequest: crawlRequest(options, defaults) };
}

/** The schemas of requests. */
export type RequestSchemas = ReturnType<typeof requestSchemas>;
export type NetworkRequestFields = z.output<typeof NetworkRequest>;
export type OptionsRequestFields = z.output<OptionsSchema>;
export type ExtractionRequestFields = z.output<RequestSchemas["ExtractionRequest"]>;
export type CrawlRequestFields = z.output<RequestSchemas["CrawlRequest"]>;
