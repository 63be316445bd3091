import {
  articleFields,
  DEFAULT_FIELDS,
  type FetchedArticle,
  renderingsFor,
} from "../../../../articles/index.ts";
import { Failure } from "../../../../base/failure.ts";
import { decodeLoosely } from "../../../../base/text.ts";
import { composeMarkdown, composeText, type ExtractionOptions } from "../../../../extraction/index.ts";
import { subscriberNetwork } from "../../../../fetching/index.ts";
import { readJsonBody } from "../../../middleware/body.ts";
import { acceptedTypes, type Exchange } from "../../../middleware/exchange.ts";
import { callerOf } from "../../../middleware/origin.ts";
import { type ApiOperation, answerOf, BODY_PROBLEMS, PAGE_PROBLEMS, parseWith, z } from "../../openapi.ts";
import type { ExtractorParts } from "../parts.ts";
import { readExtraction, readNetwork, readUrl, requireSelectors } from "../requests.ts";
import { AskedFields, ExtractionResult } from "../schemas/answers.ts";
import type { ExtractionRequestFields } from "../schemas/requests.ts";
import { fieldsOf, readWish } from "../wish.ts";

/** The operation `POST /`. */
export const extractOperation = (parts: ExtractorParts): ApiOperation => ({
  method: "post",
  path: "/",
  tag: "extraction",
  summary: "Extract one page",
  description: "Fetches the page and answers with its article. Waits for slow pages, a minute at most.",
  body: { schema: parts.requests.ExtractionRequest, example: { url: "https://example.org/" } },
  answers: {
    ...BODY_PROBLEMS,
    ...PAGE_PROBLEMS,
    200: answerOf("The article", z.union([ExtractionResult, AskedFields])),
  },
  handle: async ({ exchange }) => {
    const request = parseWith(parts.requests.ExtractionRequest, readJsonBody(exchange), "body");
    const wish = readWish(request);
    const fetched = await extract(request, exchange, { ...parts, renderings: wish.renderings });
    return Response.json(await fieldsOf(fetched, wish));
  },
});

/** The operation `GET /https://…`. */
export const readPageOperation = (parts: ExtractorParts): ApiOperation => ({
  method: "get",
  path: "/{url}",
  // Proxies merge the two slashes into one, and some clients escape them.
  pattern: "/:url{https?(?::|%3[aA]).+}",
  tag: "extraction",
  summary: "Read one page",
  description:
    "Put the page's address behind the slash, `/https://example.org/post`, its query included. Markdown, or JSON or plain text by Accept.",
  params: z.object({
    url: z
      .string()
      .regex(/^https?:/)
      .openapi({ example: "https://example.org/" }),
  }),
  answers: {
    ...PAGE_PROBLEMS,
    404: { ...BODY_PROBLEMS[400], description: "Nothing stands at this path" },
    200: {
      description: "The article",
      content: {
        "text/markdown": z.string(),
        "text/plain": z.string(),
        "application/json": ExtractionResult,
      },
    },
  },
  handle: async ({ exchange }) => {
    const form = formOf(exchange.request.headers.get("accept"));
    const fields = DEFAULT_FIELDS;
    const renderings = renderingsFor(fields);
    const fetched = await extract({ url: targetOf(exchange) }, exchange, { ...parts, renderings });
    if (form === null) return Response.json(articleFields(fetched, fields));
    return new Response(form.write(fetched), { headers: { "content-type": form.type, vary: "Accept" } });
  },
});

async function extract(
  request: ExtractionRequestFields,
  exchange: Exchange,
  parts: ExtractorParts & Pick<ExtractionOptions, "renderings">,
): Promise<FetchedArticle> {
  const { app, defaults, paths, hasApiKey, renderings } = parts;
  const { url, authorization } = readUrl(request.url, "url");
  const egress = callerOf(exchange, hasApiKey);
  const network = await readNetwork(request.network, request.prefer_browser, paths);
  const options = readExtraction(request.options, renderings, defaults.extraction);
  // A page may take longer to answer than the server lets a connection be silent.
  exchange.keepOpen();
  await using session = app.openSession(network, egress, {
    client: subscriberNetwork(exchange.client.address),
  });
  const { requestId } = exchange;
  const signal = exchange.signal();
  try {
    return await session.fromUrl({ url, authorization, options, signal, requestId });
  } catch (error) {
    // Selectors are checked only after a failure: most are good, and checking costs a turn of a worker.
    if (error instanceof Failure && error.code === "invalid_usage")
      await requireSelectors(options, session, signal);
    throw error;
  }
}

function targetOf({ path, request }: Exchange): string {
  const written = path.slice(1) + (URL.parse(request.url)?.search ?? "");
  const decoded = /^https?%3a/i.test(written) ? decodeLoosely(written) : written;
  return decoded.replace(/^(https?):\/*/i, "$1://");
}

type TextForm = { readonly type: string; readonly write: (fetched: FetchedArticle) => string };

const MARKDOWN: TextForm = {
  type: "text/markdown; charset=utf-8",
  write: ({ article }) => `${composeMarkdown(article.title, article.markdown ?? "")}\n`,
};
const TEXT = "text/plain; charset=utf-8";

/** The forms of an article by the type that a client takes; null stands for JSON. */
const FORMS: ReadonlyMap<string, TextForm | null> = new Map([
  ["application/json", null],
  ["text/markdown", MARKDOWN],
  ["text/plain", { type: TEXT, write: ({ article }) => `${composeText(article)}\n` }],
  // Browsers show plain text and save Markdown.
  ["text/html", { ...MARKDOWN, type: TEXT }],
  ["text/*", MARKDOWN],
  ["*/*", MARKDOWN],
]);

/** The form that an Accept header prefers; Markdown when it leaves the choice. */
function formOf(accept: string | null): TextForm | null {
  const [wanted] = acceptedTypes(accept)
    .filter(({ type, weight }) => FORMS.has(type) && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return FORMS.get(wanted?.type ?? "*/*") ?? null;
}
