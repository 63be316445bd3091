import { type Gauge, gaugeOf } from "../../base/metrics.ts";
import { requireAllTenants } from "../middleware/access.ts";
import { docsPage } from "../web/api-docs.ts";
import { answer } from "../web/assets.ts";
import { type Api, type ApiOperation, type ApiRoute, answerOf, createApi, LIMITED, z } from "./openapi.ts";

/** Probes of load balancers and supervisors, which are answered without a key and under any load. */
export const PROBE_PATHS: readonly string[] = ["/health", "/ready"];

/** Facts that both servers report about themselves. */
export type SiteParts = {
  readonly name: string;
  readonly version: string;
  /** False during the start and the shutdown. */
  readonly isReady: () => boolean;
  /** The processes that share the port. */
  readonly processes: { readonly configured: number; readonly alive: () => number };
  readonly renderMetrics: (gauges: readonly Gauge[]) => string;
};

/** The differences between the two servers. */
type SiteAnswers = {
  /** The answer of `GET /` to programs; null: this server has nothing to show to people. */
  readonly about: ((basePath: string) => object) | null;
  readonly aboutSchema: z.ZodType;
  readonly health: ApiOperation["handle"];
  readonly healthSchema: z.ZodType;
  /** Whether anything that the process is for works now; absent where something always does. */
  readonly canWork?: () => Promise<boolean>;
  /** Reads the gauges for each request for the metrics. */
  readonly gauges: () => Promise<readonly Gauge[]>;
  readonly description: string;
  readonly operations: readonly ApiOperation[];
  /** Routes of other programs' APIs. */
  readonly routes?: readonly ApiRoute[];
};

/** Mounts the operations of a server, and the operations of both servers: the pages, the probes, the metrics. */
export function createSite(parts: SiteParts, site: SiteAnswers): Api {
  const api: Api = createApi({
    title: parts.name,
    version: parts.version,
    description: site.description,
    routes: site.routes,
    operations: [
      // In the order of the documentation: what the server is for, then what every server has.
      ...site.operations,
      ...(site.about
        ? pageOperations(site.about, site.aboutSchema, (basePath) => api.document(basePath))
        : []),
      ...probeOperations(parts, site),
    ],
  });
  return api;
}

const Ready = z.object({ ready: z.boolean() }).openapi("Ready");

const probeOperations = (parts: SiteParts, site: SiteAnswers): ApiOperation[] => [
  {
    method: "get",
    path: "/health",
    tag: "operation",
    summary: "Whether the server is alive, and what it has",
    isOpen: true,
    answers: { 200: answerOf("It is", site.healthSchema) },
    handle: site.health,
  },
  {
    method: "get",
    path: "/ready",
    tag: "operation",
    summary: "Whether requests should be sent here",
    isOpen: true,
    answers: {
      200: answerOf("Yes", Ready),
      503: answerOf("No: it is starting or ending, or what all of its work needs cannot be reached", Ready),
    },
    handle: async () => {
      const ready = parts.isReady() && ((await site.canWork?.()) ?? true);
      return Response.json({ ready }, { status: ready ? 200 : 503 });
    },
  },
  {
    method: "get",
    path: "/metrics",
    tag: "operation",
    summary: "Counters, gauges and histograms in Prometheus's text format",
    answers: {
      200: { description: "The metrics of all processes together", content: { "text/plain": z.string() } },
      403: LIMITED,
    },
    handle: async ({ exchange }) => {
      requireAllTenants(exchange);
      return new Response(parts.renderMetrics([...gaugesOf(parts), ...(await site.gauges())]), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      });
    },
  },
];

/** Returns the gauges that both servers have. */
const gaugesOf = ({ version, processes }: SiteParts): Gauge[] => [
  gaugeOf("build_info", { version }, 1),
  gaugeOf("processes", { state: "configured" }, processes.configured),
  gaugeOf("processes", { state: "alive" }, processes.alive()),
];

/** The operations that people open in a browser: `/`, `/docs`, and the description of the API. */
const pageOperations = (
  about: (basePath: string) => object,
  aboutSchema: z.ZodType,
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
        content: { "text/html": z.string(), "application/json": aboutSchema },
      },
    },
    // The page comes before the operations, because it needs no key.
    handle: async ({ exchange }) => Response.json(about(exchange.basePath)),
  },
  {
    method: "get",
    path: "/docs",
    tag: "pages",
    summary: "Interactive documentation of this API",
    description: "Browsers are shown the page without a key; it asks for one.",
    answers: { 200: { description: "A page for a browser", content: { "text/html": z.string() } } },
    handle: ({ exchange }) => answer(exchange, docsPage.html, "no-cache"),
  },
  {
    method: "get",
    path: "/openapi.json",
    tag: "pages",
    summary: "This API as an OpenAPI 3.1 document",
    answers: { 200: answerOf("The document", z.record(z.string(), z.unknown())) },
    handle: async ({ exchange }) => Response.json(describe(exchange.basePath)),
  },
];
