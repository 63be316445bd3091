import { ProblemError } from "../../middleware/problem.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import type { ApiCall, ApiRoute } from "../openapi.ts";
import { cancelCrawl, crawlErrors, crawlStatus, startBatch, startCrawl } from "./crawl.ts";
import { map } from "./map.ts";
import { READER, read } from "./reader.ts";
import { scrape } from "./scrape.ts";

/** Where Firecrawl's API is. Its client for Python asks at the root, whatever path its base URL has. */
const PREFIXES = ["/firecrawl/v2", "/v2"] as const;

/** The kind of work of a request to these routes; null for other requests, and those that cost nothing. */
export function otherWorkOf(method: string, path: string): "pages" | "crawls" | null {
  if (path.startsWith(READER)) return "pages";
  const prefix = PREFIXES.find((start) => path.startsWith(`${start}/`));
  if (prefix === undefined || method !== "POST") return null;
  return /^\/(?:scrape|map)$/.test(path.slice(prefix.length)) ? "pages" : "crawls";
}

/** The API of Firecrawl, and the address of Jina's Reader, over our own operations and jobs. */
export const otherRoutes = (parts: ExtractorParts): ApiRoute[] => [
  ...PREFIXES.flatMap((prefix) => firecrawlRoutes(parts, prefix)),
  ...["/firecrawl", "/v2"].map(
    (start): ApiRoute => ({
      methods: ["GET", "POST", "DELETE"],
      path: `${start}/{rest}`,
      pattern: `${start}/*`,
      handle: refuse,
    }),
  ),
  {
    methods: ["GET"],
    path: `${READER}{url}`,
    pattern: `${READER}:url{.+}`,
    handle: (call) => read(call, parts),
  },
];

function firecrawlRoutes(parts: ExtractorParts, prefix: string): ApiRoute[] {
  return [
    { methods: ["POST"], path: `${prefix}/scrape`, handle: (call) => scrape(call, parts) },
    { methods: ["POST"], path: `${prefix}/map`, handle: (call) => map(call, parts) },
    { methods: ["POST"], path: `${prefix}/crawl`, handle: (call) => startCrawl(call, parts, prefix) },
    { methods: ["POST"], path: `${prefix}/batch/scrape`, handle: (call) => startBatch(call, parts, prefix) },
    // It would be a crawl's id otherwise.
    { methods: ["GET"], path: `${prefix}/crawl/active`, handle: refuse },
    ...jobRoutes(parts, `${prefix}/crawl`),
    ...jobRoutes(parts, `${prefix}/batch/scrape`),
  ];
}

/** What is asked of a crawl or a batch. @param base the path before the id */
function jobRoutes(parts: ExtractorParts, base: string): ApiRoute[] {
  const job = { path: `${base}/{id}`, pattern: `${base}/:id` };
  return [
    { ...job, methods: ["GET"], handle: (call) => crawlStatus(call, parts, base) },
    { ...job, methods: ["DELETE"], handle: (call) => cancelCrawl(call, parts) },
    {
      methods: ["GET"],
      path: `${job.path}/errors`,
      pattern: `${job.pattern}/errors`,
      handle: (call) => crawlErrors(call, parts),
    },
  ];
}

/** @throws ProblemError 422 that names the operation */
const refuse = async ({ exchange: { request, path } }: ApiCall): Promise<Response> => {
  const detail = `${request.method} ${path.slice(0, 200)} is not supported`;
  throw new ProblemError(422, "not_supported", detail);
};
