import { prefersHtml } from "../middleware/accept.ts";
import type { Layer } from "../middleware/exchange.ts";
import { API_DOCS } from "./api-docs.ts";
import { fileResponse, pageResponse } from "./embedded.ts";

const FOLDER = "/docs/";

/**
 * Shows the documentation to browsers, and serves its files to everybody. It comes before the check of the
 * API key for the same reason as `servePage`: its contents come from `/openapi.json`, which needs the key.
 */
export const serveApiDocs: Layer = (next) => async (exchange) => {
  const { request, path } = exchange;
  if (request.method !== "GET" && request.method !== "HEAD") return next(exchange);
  if (path === "/docs" && prefersHtml(request.headers.get("accept"))) return pageResponse(API_DOCS);
  const file = path.startsWith(FOLDER) ? fileResponse(API_DOCS, path.slice(FOLDER.length)) : null;
  return file ?? (await next(exchange));
};
