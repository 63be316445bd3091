import type { App } from "../../../app/index.ts";
import type { Log } from "../../../base/log.ts";
import type { JobQueue } from "../../../crawler/index.ts";
import type { SiteParts } from "../site.ts";
import type { JobNews } from "./jobs/news.ts";
import type { CrawlPlaces } from "./jobs/places.ts";
import type { JobRunner } from "./jobs/runner.ts";
import type { CrawlSpec } from "./jobs/spec.ts";
import type { Webhooks } from "./jobs/webhooks.ts";
import type { PathRules } from "./paths.ts";
import type { RequestDefaults } from "./requests.ts";
import type { RequestSchemas } from "./schemas/requests.ts";

/** The objects that the operations of the extractor's server work with. */
export type ExtractorParts = SiteParts & {
  readonly app: App;
  /** The role of one of several servers with the same jobs: everything, everything but running them, or only that. */
  readonly role: "all" | "api" | "worker";
  readonly queue: JobQueue<CrawlSpec>;
  readonly news: JobNews;
  readonly webhooks: Pick<Webhooks, "add" | "statusOf">;
  readonly runner: Pick<JobRunner, "wake">;
  readonly defaults: RequestDefaults;
  readonly requests: RequestSchemas;
  readonly paths: PathRules;
  readonly places: CrawlPlaces;
  /** Returns the present problems of the server, as sentences that anybody may read. */
  readonly problems: () => Promise<readonly string[]>;
  readonly hasApiKey: boolean;
  /** Aborts when the server starts to shut down; event streams close then. */
  readonly draining: AbortSignal;
  readonly log: Log;
};
