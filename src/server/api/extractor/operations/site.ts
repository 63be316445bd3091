import { API_DOCS } from "../../../web/api-docs.ts";
import { pageResponse } from "../../../web/embedded.ts";
import { type ApiOperation, z } from "../../openapi.ts";
import type { ExtractorParts } from "../parts.ts";
import { About } from "../schemas/answers.ts";
import { about } from "./probes.ts";

/** What people open in a browser: `/`, `/docs`, and the document that describes the API. */
export const siteOperations = (
  parts: ExtractorParts,
  describe: (basePath: string) => object,
): ApiOperation[] => [
  {
    method: "get",
    path: "/",
    tag: "pages",
    summary: "The page for people in a browser; else what serves here",
    answers: {
      200: {
        description: "The page, or the service, its version and status",
        content: { "text/html": z.string(), "application/json": About },
      },
    },
    // The page stands before the operations, since it needs no key.
    handle: async ({ exchange }) => Response.json(about(parts, exchange.basePath)),
  },
  {
    method: "get",
    path: "/docs",
    tag: "pages",
    summary: "Interactive documentation of this API",
    description: "Browsers are shown the page without a key; it asks for one.",
    answers: { 200: { description: "A page for a browser", content: { "text/html": z.string() } } },
    handle: async () => pageResponse(API_DOCS),
  },
  {
    method: "get",
    path: "/openapi.json",
    tag: "pages",
    summary: "This API as an OpenAPI 3.1 document",
    answers: {
      200: {
        description: "The document",
        content: { "application/json": z.record(z.string(), z.unknown()) },
      },
    },
    handle: async ({ exchange }) => Response.json(describe(exchange.basePath)),
  },
];
