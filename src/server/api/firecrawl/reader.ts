import type { FetchedArticle } from "../../../articles/index.ts";
import { decodeLoosely, wordsIn } from "../../../base/text.ts";
import type { Rendering } from "../../../extraction/index.ts";
import { acceptedTypes, type Exchange } from "../../middleware/exchange.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import { type ApiCall, parseWith, z } from "../openapi.ts";
import { fetchPage } from "./page.ts";
import { given } from "./scrape.ts";

/** The path before an address. */
export const READER = "/r/";

const yesOrNo = z
  .enum(["true", "false"])
  .transform((word) => word === "true")
  .optional();
const seconds = z.coerce.number({ error: "must be a number of seconds" });
const selector = z.string().max(1000).optional();
const format = z.enum(["content", "markdown", "html", "text"]).optional();

const ASKS_NOTHING = z.enum(["false", "none"], { error: "is not supported" }).optional();
const UNSUPPORTED = [
  "with-generated-alt with-iframe with-shadow-dom",
  "keep-img-data-url no-gfm proxy proxy-url wait-for-selector set-cookie locale referer user-agent token-budget",
  "max-tokens respond-timing base viewport page-range json-schema instruction robots-txt detach-invisibles",
  "assert-selector preset md-heading-style md-hr md-bullet-list-marker md-em-delimiter md-strong-delimiter",
  "md-link-style md-link-reference-style markdown-chunking",
].flatMap(wordsIn);

/** The headers of Jina's Reader. */
const ReaderHeaders = z.object({
  ...Object.fromEntries(UNSUPPORTED.map((name) => [`x-${name}`, ASKS_NOTHING])),
  "x-return-format": format,
  "x-respond-with": format,
  "x-target-selector": selector,
  "x-remove-selector": selector,
  "x-timeout": seconds.min(0.001).max(300).optional(),
  "x-with-links-summary": z.enum(["true", "false", "all"]).optional(),
  "x-with-images-summary": yesOrNo,
  "x-retain-images": z.enum(["all", "none"]).optional(),
  "x-no-cache": yesOrNo,
  "x-cache-tolerance": seconds.min(0).optional(),
  "x-engine": z.enum(["auto", "default", "direct", "browser"]).optional(),
  accept: z
    .string()
    .regex(/^(?!text\/event-stream)/, { error: "text/event-stream is not supported" })
    .optional(),
});

type Wish = z.output<typeof ReaderHeaders>;
type Format = NonNullable<z.output<typeof format>>;

/** Answers `GET /r/https://…` as Jina's Reader does. @throws ProblemError 422 that names a header */
export async function read({ exchange }: ApiCall, parts: ExtractorParts): Promise<Response> {
  const { headers } = exchange.request;
  const wish = parseWith(ReaderHeaders, Object.fromEntries(headers), "request");
  const type = typeOf(headers.get("accept"));
  const format: Format = wish["x-return-format"] ?? wish["x-respond-with"] ?? "content";
  const fetched = await fetchPage(
    {
      url: targetOf(exchange),
      network: { preference: PREFERENCES[wish["x-engine"] ?? "auto"] ?? null },
      options: {
        select: wish["x-target-selector"] ?? null,
        exclude: wish["x-remove-selector"] === undefined ? [] : [wish["x-remove-selector"]],
        include_images: wish["x-retain-images"] !== "none",
      },
      selectors: { select: "x-target-selector", exclude: "x-remove-selector" },
      renderings: renderingsOf(format, wish),
      timeoutMs: wish["x-timeout"] === undefined ? null : Math.ceil(wish["x-timeout"] * 1000),
      isFresh: wish["x-no-cache"] === true || wish["x-cache-tolerance"] === 0,
      keepsBody: false,
    },
    exchange,
    parts,
  );
  if (type === "application/json") return Response.json(asJson(fetched, format));
  return new Response(asText(fetched, format), {
    headers: { "content-type": `${type}; charset=utf-8`, vary: "Accept" },
  });
}

const PREFERENCES: Readonly<Record<string, "browser" | "http">> = { browser: "browser", direct: "http" };

/** The address behind `/r/`; proxies merge its two slashes into one. */
function targetOf({ path, request }: Exchange): string {
  const written = path.slice(READER.length) + (URL.parse(request.url)?.search ?? "");
  const decoded = /^https?%3a/i.test(written) ? decodeLoosely(written) : written;
  return decoded.replace(/^(https?):\/*/i, "$1://");
}

const TYPES = ["text/plain", "application/json", "text/markdown"] as const;

function typeOf(accept: string | null): (typeof TYPES)[number] {
  const [best] = acceptedTypes(accept).sort((a, b) => b.weight - a.weight);
  return TYPES.find((type) => type === best?.type) ?? "text/plain";
}

function renderingsOf(format: Format, wish: Wish): readonly Rendering[] {
  const links = wish["x-with-links-summary"];
  return [
    ...(format === "html" ? ["content" as const] : format === "text" ? [] : ["markdown" as const]),
    ...(links === "true" || links === "all" ? ["links" as const] : []),
    ...(wish["x-with-images-summary"] ? ["images" as const] : []),
  ];
}

function contentOf({ article }: FetchedArticle, format: Format): string {
  if (format === "html") return article.content ?? "";
  return format === "text" ? article.text : (article.markdown ?? "");
}

/** The content alone where a format was asked for; otherwise below lines that say what it is. */
function asText(fetched: FetchedArticle, format: Format): string {
  const { title, publishedDate, links, images } = fetched.article;
  const content = contentOf(fetched, format);
  const facts = [
    `Title: ${title ?? ""}`,
    `URL Source: ${fetched.url}`,
    publishedDate && `Published Time: ${publishedDate}`,
    `Markdown Content:\n${content}`,
  ];
  const shown = images?.map((image, index) => `\n- ![${nameOf(image.alt, index)}](${image.url})`);
  const linked = links?.map((link) => `\n- [${link.text}](${link.url})`);
  const parts = [
    ...(format === "content" ? facts : [content]),
    shown && `Images:${shown.join("")}`,
    linked && `Links/Buttons:${linked.join("")}`,
  ];
  return `${parts.filter(Boolean).join("\n\n").trimEnd()}\n`;
}

const nameOf = (alt: string, index: number): string => `Image ${index + 1}${alt === "" ? "" : `: ${alt}`}`;

function asJson(fetched: FetchedArticle, format: Format): object {
  const { article, url, warnings } = fetched;
  const { title, excerpt, links, images } = article;
  const shown = images?.map((image, index) => [nameOf(image.alt, index), image.url]);
  return {
    code: 200,
    status: 20000,
    data: given({
      title: title ?? "",
      description: excerpt ?? "",
      url,
      [format === "html" || format === "text" ? format : "content"]: contentOf(fetched, format),
      publishedTime: article.publishedDate,
      links: links && Object.fromEntries(links.map((link) => [link.text, link.url])),
      images: shown && Object.fromEntries(shown),
      warning: warnings.join(" ") || null,
    }),
  };
}
