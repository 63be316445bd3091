import type { Handler } from "../../middleware/exchange.ts";
import { crawls } from "../mcp/crawls.ts";
import { joinOffers } from "../mcp/offer.ts";
import { configurationOperation, countCalls, mcpOperation, withMcpSlash } from "../mcp/operation.ts";
import { pages } from "../mcp/pages.ts";
import type { z } from "../openapi.ts";
import { createSite } from "../site.ts";
import { crawlOperations } from "./operations/crawl.ts";
import { eventOperations } from "./operations/events.ts";
import { extractOperation, readPageOperation } from "./operations/extract.ts";
import type { ExtractorParts } from "./parts.ts";
import { About, Health } from "./schemas/answers.ts";

/** All routes of `serve extractor`, below its base path. */
export function extractorRoutes(parts: ExtractorParts): Handler {
  const startedAt = performance.now();
  const { handle } = createSite(parts, {
    description: "Articles of web pages, and crawls of whole sites.",
    about: (basePath) => about(parts, basePath),
    aboutSchema: About,
    health: async () => Response.json(health(parts, performance.now() - startedAt)),
    healthSchema: Health,
    operations: [
      extractOperation(parts),
      ...crawlOperations(parts),
      ...eventOperations(parts),
      configurationOperation({ ...parts, defaultClientModel: null }),
      mcpOperation({
        ...parts,
        offerTo: () => joinOffers([pages({ ...parts, ...parts.defaults }), crawls(parts)]),
        onCall: countCalls(parts.app.metrics),
      }),
      readPageOperation(parts),
    ],
  });
  return withMcpSlash(handle);
}

const about = ({ name, version, isReady }: ExtractorParts, basePath: string): z.output<typeof About> => ({
  service: name,
  version,
  status: isReady() ? "ready" : "draining",
  docs: `${basePath}/docs`,
});

function health(parts: ExtractorParts, uptimeMs: number): z.output<typeof Health> {
  const { name, version, app, queue } = parts;
  return {
    status: "healthy",
    service: name,
    version,
    uptime_seconds: Math.round(uptimeMs / 100) / 10,
    cache: { size: app.cache.size, max_size: app.cache.maxSize },
    workers: app.extractor.workers,
    browser: { available: app.browserPath() !== null },
    jobs: queue.counts(),
    processes: { configured: parts.processes.configured, alive: parts.processes.alive() },
  };
}
