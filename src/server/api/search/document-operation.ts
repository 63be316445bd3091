import { rangeOfFragment } from "../../../search/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import type { Exchange } from "../../middleware/exchange.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { endOfPart, type FetchOptions } from "../mcp/fetch-document.ts";
import { type ApiOperation, parseWith, problem } from "../openapi.ts";
import * as schemas from "./schemas.ts";
import { displayNameOf } from "./search-operation.ts";

/** A document, or a section of it, for the pages: `GET /document`. */
export const documentOperation = ({
  registryOf,
  queryLog,
}: Pick<FetchOptions, "queryLog"> & {
  readonly registryOf: (exchange: Exchange) => TenantRegistry;
}): ApiOperation => ({
  method: "get",
  path: "/document",
  tag: "search",
  summary: "A document, or one of its sections, as Markdown",
  query: schemas.DocumentQuery,
  answers: {
    200: { description: "It", content: { "application/json": schemas.Document } },
    404: problem("There is no such tenant, document or section"),
    422: problem("A parameter is wrong; `errors` names it"),
    503: problem("The tenant has no index that can be read now, or the server is ending"),
  },
  handle: async ({ exchange, query }) => {
    const { uri, tenant: wanted, max_chars, preview } = parseWith(schemas.DocumentQuery, query, "query");
    const registry = registryOf(exchange);
    const document = await registry.fetch(wanted || null, uri);
    const { tenant, url, title, markdown } = document;
    const [, fragment = ""] = /#(.*)$/s.exec(uri) ?? [];
    const range = fragment === "" ? { start: 0, end: markdown.length } : rangeOfFragment(document, fragment);
    if (range === null)
      throw new ProblemError({
        status: 404,
        code: "unknown_section",
        detail: `${url} has no section #${fragment.slice(0, 200)}`,
      });
    if (preview !== "true") queryLog?.fetched(url);
    const end = max_chars === undefined ? range.end : endOfPart(markdown, range, max_chars);
    return Response.json({
      tenant,
      docs_name: displayNameOf(registry, tenant),
      url,
      title,
      markdown: markdown.slice(range.start, end),
      is_cut: end < range.end,
      total_chars: markdown.length,
    });
  },
});
