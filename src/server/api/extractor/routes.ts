import type { Handler } from "../../middleware/exchange.ts";
import { type Api, createApi } from "../openapi.ts";
import { EVERYWHERE, GUARDED } from "../problems.ts";
import { crawlOperations } from "./operations/crawl.ts";
import { eventOperations } from "./operations/events.ts";
import { extractOperation, readPageOperation } from "./operations/extract.ts";
import { probeOperations } from "./operations/probes.ts";
import { siteOperations } from "./operations/site.ts";
import type { ExtractorParts } from "./parts.ts";

/** What `serve extractor` answers, below its base path. */
export function extractorRoutes(parts: ExtractorParts): Handler {
  const describe = (basePath: string): object => api.document(basePath);
  const api: Api = createApi({
    title: parts.name,
    version: parts.version,
    description: "Articles of web pages, and crawls of whole sites.",
    everywhere: EVERYWHERE,
    guarded: GUARDED,
    operations: [
      extractOperation(parts),
      ...crawlOperations(parts),
      ...eventOperations(parts),
      ...probeOperations(parts),
      ...siteOperations(parts, describe),
      readPageOperation(parts),
    ],
  });
  return api.handle;
}
