import { ARTICLE_FIELDS, DEFAULT_WORD } from "../../../../articles/index.ts";
import type { ExtractionOptions } from "../../../../extraction/index.ts";
import {
  CHUNKS,
  CRAWL,
  defaultsOf,
  EXTRACTION,
  FETCHING,
  HEADER_CHARACTERS,
  type Kind,
  MAX_URL_CHARACTERS,
  meaningOf,
  NETWORK,
  type Option,
  type OptionTable,
  QUESTION,
  refusalOf,
  text,
  toOutside,
  unmarked,
  type ValueOf,
  type Values,
} from "../../../../options/index.ts";
import { z } from "../../openapi.ts";
import { WEBHOOK_EVENTS } from "../jobs/webhook-store.ts";

/** The field of a result that is made of its article: the text in chunks. */
export const CHUNKS_FIELD = "chunks";

// The engine itself checks selectors, URLs and header values; these shapes contain the limits that keep a
// request small.

/** A field that may be left out. @param rest what a document of the API says besides, such as the default */
const field = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  rest: { readonly default?: unknown; readonly example?: unknown } = {},
) => schema.nullish().openapi({ description, ...rest });
const flag = (description: string, byDefault = false) =>
  field(z.boolean(), description, { default: byDefault });

/** A field's schema, whose errors have the words of all doors. */
function schemaOf(kind: Kind): z.ZodType {
  const error = ({ input }: { readonly input?: unknown }): string => refusalOf(kind, input);
  const { type } = kind;
  if (type === "switch") return z.boolean({ error });
  if (type === "choice") return z.enum(kind.words, { error });
  if (type === "headers") return z.record(z.string(), z.string(), { error });
  if (type === "texts")
    return z.array(schemaOf(text(kind.maxCharacters)), { error }).max(kind.maxCount, { error });
  if (type === "whole") return z.int({ error }).min(kind.min, { error }).max(kind.max, { error });
  if (type === "bytes") return z.int({ error }).min(1, { error }).max(kind.max, { error });
  if (type === "seconds" || type === "decimal")
    return z.number({ error }).min(kind.min, { error }).max(kind.max, { error });
  const plain = z.string({ error }).min(1, { error }).max(kind.maxCharacters, { error });
  return type === "header_text" ? plain.regex(HEADER_CHARACTERS, { error }) : plain;
}

/** The name of an option's field. */
type FieldOf<O extends Option> = O extends { readonly field: infer Name extends string }
  ? Name extends `!${infer Plain}`
    ? Plain
    : Name
  : never;

type FieldSchemas<T extends OptionTable> = {
  readonly [Key in keyof T as FieldOf<T[Key]>]: z.ZodOptional<
    z.ZodNullable<z.ZodType<ValueOf<T[Key]["kind"]>>>
  >;
};

/** The fields of the options of a table. @param defaults what holds for those that a request leaves out */
const fieldsOf = <T extends OptionTable>(
  table: T,
  defaults: Readonly<Partial<Record<keyof T, unknown>>>,
): FieldSchemas<T> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, option]) => {
      const { field: written, kind, example } = option;
      if (written === undefined) return [];
      const { name, isContrary } = unmarked(written);
      const byDefault = isContrary ? !defaults[key] : toOutside(kind, defaults[key]);
      const rest = {
        ...(key in defaults && { default: byDefault }),
        ...(example !== undefined && { example }),
      };
      return [[name, field(schemaOf(kind), option.onRequest ?? meaningOf(option, written), rest)]];
    }),
    // A schema for each option with a field.
  ) as FieldSchemas<T>;

// A document does not say which settings the operator has made.
const { userAgent: _, requestTimeoutMs: __, ...NETWORK_DEFAULTS } = defaultsOf(NETWORK);
const NetworkRequest = z.strictObject(fieldsOf(NETWORK, NETWORK_DEFAULTS)).openapi("NetworkOptions");

const optionsRequest = (defaults: RequestDefaults["extraction"]) =>
  z.strictObject(fieldsOf(EXTRACTION, defaults)).openapi("ExtractionOptions");

const { prefer_browser: preferBrowser } = fieldsOf(FETCHING, {});

/** The values for fields that a request leaves out, as far as a document of the API can name them. */
export type RequestDefaults = Values<typeof CRAWL> & {
  readonly extraction: Omit<ExtractionOptions, "renderings">;
};

type OptionsSchema = ReturnType<typeof optionsRequest>;

/** The fields of every request for articles. */
const articleRequest = (OptionsRequest: OptionsSchema) => ({
  prefer_browser: preferBrowser,
  network: NetworkRequest.nullish(),
  options: OptionsRequest.nullish(),
  ...fieldsOf(CHUNKS, defaultsOf(CHUNKS)),
  ...fieldsOf(QUESTION, { maxTokens: QUESTION.maxTokens.byDefault }),
  fields: field(
    z
      .array(z.enum([...ARTICLE_FIELDS, DEFAULT_WORD, CHUNKS_FIELD]))
      .min(1)
      .max(100),
    "Only these fields of the result, in this order; default stands for those without this field, beside which links, images, structured_data, blocks and chunks can be had",
    { example: ["default", "links"] },
  ),
});

const WebhookRequest = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(MAX_URL_CHARACTERS)
      .openapi({ description: "Receives the events as POST requests", example: "https://example.org/hook" }),
    events: field(z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(20), "Only these events; absent: all"),
    secret: field(
      z.string().min(16).max(256),
      "Signs each request in X-Webhook-Signature; absent: they are unsigned",
    ),
  })
  .openapi("Webhook");

const webhook = WebhookRequest.nullish().openapi({ description: "Who is told the events of the job" });

const extractionRequest = (OptionsRequest: OptionsSchema) =>
  z
    .strictObject({
      url: z.string().min(1).max(MAX_URL_CHARACTERS).openapi({
        description: "Page to extract, an absolute http or https URL",
        example: "https://example.org/post",
      }),
      ...articleRequest(OptionsRequest),
    })
    .openapi("ExtractionRequest");

const { save_images: saveImages } = fieldsOf(CRAWL, { savesPictures: CRAWL.savesPictures.byDefault });

const batchRequest = (OptionsRequest: OptionsSchema) =>
  z
    .strictObject({
      urls: z
        .array(z.string().min(1).max(MAX_URL_CHARACTERS))
        .min(1)
        .max(CRAWL.seeds.kind.maxCount)
        .openapi({
          description: "Pages to extract, absolute http or https URLs; a repeated one counts once",
          example: ["https://example.org/post"],
        }),
      ...articleRequest(OptionsRequest),
      save_images: saveImages,
      webhook,
    })
    .openapi("BatchRequest");

const crawlRequest = (OptionsRequest: OptionsSchema, defaults: RequestDefaults) =>
  z
    .strictObject({
      output_dir: field(
        z.string().max(4096),
        "Directory on the server's host, relative to ARTICLE_EXTRACTOR_OUTPUT_ROOT or to the server's own, or folder in its bucket, that receives the Markdown files and the manifest; absent or empty: a new one, named after the first address",
        { example: "example-org" },
      ),
      ...fieldsOf(CRAWL, defaults),
      network: NetworkRequest.nullish(),
      prefer_browser: preferBrowser,
      options: OptionsRequest.nullish(),
      fresh: flag("Forget an earlier crawl of this directory instead of resuming it"),
      webhook,
    })
    .openapi("CrawlRequest");

/** The bodies that the extractor's server takes; they name the defaults, but fill nothing in. */
export function requestSchemas(defaults: RequestDefaults) {
  const options = optionsRequest(defaults.extraction);
  return {
    ExtractionRequest: extractionRequest(options),
    BatchRequest: batchRequest(options),
    CrawlRequest: crawlRequest(options, defaults),
  };
}

/** The schemas of requests. */
export type RequestSchemas = ReturnType<typeof requestSchemas>;
export type NetworkRequestFields = z.output<typeof NetworkRequest>;
export type WebhookRequestFields = z.output<typeof WebhookRequest>;
export type OptionsRequestFields = z.output<OptionsSchema>;
export type ExtractionRequestFields = z.output<RequestSchemas["ExtractionRequest"]>;
export type CrawlRequestFields = z.output<RequestSchemas["CrawlRequest"]>;
