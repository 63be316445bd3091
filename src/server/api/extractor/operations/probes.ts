import { type ApiOperation, z } from "../../openapi.ts";
import type { ExtractorParts } from "../parts.ts";
import { type About, Health, Ready } from "../schemas/answers.ts";

/** Answered without a key and whatever the load: what load balancers and supervisors ask. */
export const PROBE_PATHS: readonly string[] = ["/health", "/ready"];

/** `/health`, `/ready`, `/metrics`. */
export function probeOperations(parts: ExtractorParts): ApiOperation[] {
  const startedAt = performance.now();
  return [
    {
      method: "get",
      path: "/health",
      tag: "operation",
      summary: "Whether the server is alive, and what it has",
      isOpen: true,
      answers: { 200: { description: "It is", content: { "application/json": Health } } },
      handle: async () => Response.json(health(parts, performance.now() - startedAt)),
    },
    {
      method: "get",
      path: "/ready",
      tag: "operation",
      summary: "Whether requests should be sent here",
      isOpen: true,
      answers: {
        200: { description: "Yes", content: { "application/json": Ready } },
        503: { description: "No: it is starting or ending", content: { "application/json": Ready } },
      },
      handle: async () => Response.json({ ready: parts.isReady() }, { status: parts.isReady() ? 200 : 503 }),
    },
    {
      method: "get",
      path: "/metrics",
      tag: "operation",
      summary: "Counters and histograms in Prometheus's text format",
      answers: {
        200: { description: "The metrics of all processes together", content: { "text/plain": z.string() } },
      },
      handle: async () =>
        new Response(parts.renderMetrics(), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
  ];
}

/** What `GET /` says to programs. */
export const about = (
  { name, version, isReady }: ExtractorParts,
  basePath: string,
): z.output<typeof About> => ({
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
