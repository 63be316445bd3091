import { join } from "node:path";
import { type App, openSharedJobQueue, openStore, type Program } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import { type ObjectStore, parseStoreUrl } from "../../../base/objects.ts";
import { findFinishedJobs, openSqliteJobQueue } from "../../../crawler/index.ts";
import {
  type CrawlSpec,
  directoryPlaces,
  type ExtractorServerOptions,
  type OwnCrawls,
  storePlaces,
} from "../../../server/index.ts";
import type { Settings } from "../../../settings/index.ts";
import { watchProblems } from "./problems.ts";
import { openRoot } from "./settings.ts";

/** A server's opened storage for jobs. */
type OpenJobs = AsyncDisposable &
  Pick<ExtractorServerOptions, "queue" | "runningQueue" | "places" | "problems">;

type JobsParts = {
  readonly program: Program;
  readonly app: App;
  readonly log: Log;
  readonly stateDirectory: string;
  readonly paths: ExtractorServerOptions["paths"];
  /** The queue of the state directory; null where the database has it. */
  readonly localQueue: ReturnType<typeof openLocalQueue> | null;
};

/** After so long without a word of its process a job is taken over, in ms. */
const LEASE_MS = 15_000;
/** How long a request waits for a database that cannot be reached, in ms. */
const REQUEST_MS = 10_000;
/** How long one step of a running job waits for it, in ms; the job asks again, but not when the program has to end. */
const STEP_MS = 2_000;

/** How long a start waits for a store that cannot be reached, in ms; later, work waits longer. */
const START_PATIENCE_MS = 2_000;

/** Opens the jobs and the place of their pages. @throws Failure `invalid_settings` for a store that refuses */
export async function openJobs(parts: JobsParts): Promise<OpenJobs> {
  const { program, app, log, stateDirectory, paths, localQueue } = parts;
  const { settings } = program;
  await using stack = new AsyncDisposableStack();
  const frontiers = localQueue === null ? null : join(stateDirectory, "frontiers");
  const store =
    settings.storeUrl === null
      ? null
      : await checkStore(
          stack.use(
            await openStore(program, parseStoreUrl(settings.storeUrl), { log, metrics: app.metrics }),
          ),
        );
  const places = store
    ? storePlaces(store, frontiers)
    : directoryPlaces(paths, crawlPlaceOf(settings, paths.root));
  const queues = localQueue
    ? { queue: localQueue, runningQueue: localQueue }
    : await sharedQueues(app, settings);
  // The other servers learn at once that this one runs no jobs any more.
  if (localQueue === null) stack.use(queues.runningQueue);
  const all = stack.move();
  const problems = watchProblems({
    stateDirectory,
    storageStateFile: settings.storageState,
    outputRoot: paths.root,
    store,
  });
  return { ...queues, places, problems, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A worker that its store refuses would take one job after the other, and fail each. */
async function checkStore(store: ObjectStore): Promise<ObjectStore> {
  try {
    for await (const _ of store.list("", { patienceMs: START_PATIENCE_MS })) break;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code !== "store_unavailable")
      throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_STORE_URL: ${error.message}`);
  }
  return store;
}

async function sharedQueues(app: App, settings: Settings) {
  const database = await app.database();
  const patientFor = (waitMs: number) =>
    openSharedJobQueue<CrawlSpec>({ ...limitsOf(settings), database: database.patient({ waitMs }) });
  return { queue: await patientFor(REQUEST_MS), runningQueue: await patientFor(STEP_MS) };
}

/**
 * Opens the queue that all servers of a state directory share. One whose file is damaged begins anew with the jobs
 * whose manifests lie below the root of requests. @throws Failure as `openSqliteJobQueue`
 */
export function openLocalQueue(settings: Settings, directory: string, log: Log) {
  let isLost = false;
  const queue = openSqliteJobQueue<CrawlSpec>({
    ...limitsOf(settings),
    directory,
    now: Date.now,
    onDamaged: (damage) => {
      isLost = true;
      log.warning("damaged jobs are put aside", damage);
    },
  });
  if (!isLost) return queue;
  const jobs = findFinishedJobs(outputRootOf(settings, directory));
  log.warning("jobs are read from their manifests; those that had not ended are lost", { jobs: jobs.length });
  // Calls to the queue wait until it is restored.
  queue.restore(jobs).catch((error) => log.warning("jobs cannot be listed again", { error: String(error) }));
  return queue;
}

const limitsOf = ({ maxQueuedJobs: maxQueued, maxRunningJobs: maxRunning }: Settings) => ({
  maxQueued,
  maxRunning,
  leaseMs: LEASE_MS,
});

/** Checks that processes which share jobs share all that these need. @throws Failure `invalid_settings` */
export function requireSharedParts({
  role,
  databaseUrl,
  storeUrl,
}: Pick<Settings, "role" | "databaseUrl" | "storeUrl">): void {
  const missing = [
    ...(databaseUrl === null ? ["ARTICLE_EXTRACTOR_DATABASE_URL (its jobs)"] : []),
    ...(storeUrl === null ? ["ARTICLE_EXTRACTOR_STORE_URL (its pages)"] : []),
  ].join(" and ");
  if (missing === "") return;
  if (role !== "all")
    throw new Failure(
      "invalid_settings",
      `a server with the role ${role} is one of several, and shares with them what is missing here: ${missing}`,
    );
  if (databaseUrl !== null)
    throw new Failure(
      "invalid_settings",
      `a server with ARTICLE_EXTRACTOR_DATABASE_URL shares its jobs with others, and needs a place for pages that all reach: ${missing}`,
    );
}

const CRAWLS = "crawls";

/** The directory that requests may write to: the operator's, else one of the server's own. @throws Failure `invalid_settings` */
export const outputRootOf = ({ outputRoot }: Settings, stateDirectory: string): string =>
  openRoot(outputRoot) ?? join(stateDirectory, CRAWLS);

/** The directory of crawls whose callers name none; an operator's root also holds other things. */
export const crawlPlaceOf = ({ outputRoot }: Settings, root: string): OwnCrawls =>
  outputRoot === null ? { path: root, shown: "" } : { path: join(root, CRAWLS), shown: CRAWLS };
