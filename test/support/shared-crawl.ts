import { join } from "node:path";
import { DEFAULT_NETWORK, openApp } from "../../src/app/index.ts";
import type { Log } from "../../src/base/log.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import type {
  CrawlEvent,
  CrawledPage,
  CrawlJobOptions,
  CrawlPlan,
  CrawlSummary,
  PageSink,
} from "../../src/crawler/index.ts";
import { crawlPlan, type ManifestFile } from "./crawling.ts";
import type { TestDatabase } from "./postgres.ts";
import { testProgram } from "./program.ts";
import { temporaryDirectory } from "./temporary.ts";

/** One of the processes of a shared crawl. */
export type Worker = {
  readonly events: readonly CrawlEvent[];
  readonly ended: Promise<CrawlSummary>;
  /** As SIGTERM does at the terminal. */
  leave(): void;
  /** As a server does when somebody cancels the job. */
  cancel(): void;
};

type WorkerOptions = {
  readonly canLead?: boolean;
  readonly sink?: Partial<PageSink>;
  readonly log?: Log;
  readonly job?: Partial<CrawlJobOptions>;
};

/** A place into which several workers crawl, each with its own connections, as processes would. */
export async function openSharedPlace({ url, schema }: TestDatabase) {
  const directory = temporaryDirectory();
  const { path } = directory;
  const pages = new Map<string, CrawledPage>();
  const manifestPath = join(path, "manifest.json");
  const running: Promise<unknown>[] = [];
  const sink: PageSink = {
    put: async (page) => {
      pages.set(page.page.url, page);
      return null;
    },
    has: async (url) => pages.has(url),
    retire: async () => null,
    remove: async (url) => void pages.delete(url),
  };
  return {
    path,
    pages,
    readManifest: (): Promise<ManifestFile> => Bun.file(manifestPath).json(),
    work(plan: CrawlPlan, options: WorkerOptions = {}): Worker {
      const leave = new AbortController();
      const cancel = new AbortController();
      const events: CrawlEvent[] = [];
      const run = async (): Promise<CrawlSummary> => {
        await using app = openApp(
          testProgram({ ARTICLE_EXTRACTOR_DATABASE_URL: url, ARTICLE_EXTRACTOR_DATABASE_SCHEMA: schema }),
          { caller: { kind: "cli" }, shell: "cli", log: options.log ?? silentLog, machine: null },
        );
        await using session = app.openSession(DEFAULT_NETWORK);
        const job: CrawlJobOptions = {
          output: { kind: "sink", sink: { ...sink, ...options.sink }, stateDirectory: path, manifestPath },
          jobId: null,
          isFresh: false,
          authorizations: new Map(),
          shared: { canLead: options.canLead ?? true, leave: leave.signal },
          ...options.job,
        };
        for await (const event of session.crawl(plan, job, cancel.signal)) {
          events.push(event);
          if (event.kind === "finished") return event.summary;
        }
        throw new Error("the crawl did not tell that it finished");
      };
      const ended = run();
      running.push(ended.catch(() => {}));
      return { events, ended, leave: () => leave.abort(), cancel: () => cancel.abort() };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running);
      directory[Symbol.dispose]();
    },
  };
}

export const planOf = (origin: string, changes: Partial<CrawlPlan> = {}): CrawlPlan =>
  crawlPlan({ seeds: [`${origin}/`], concurrency: 4, obeysRobots: false, ...changes });

/** The URLs of the pages that a worker has told, its own or those of others. */
export const pagesOf = ({ events }: Worker, isOwn: boolean): string[] =>
  events.flatMap((event) => (event.kind === "page" && event.isOwn === isOwn ? [event.outcome.url] : []));
