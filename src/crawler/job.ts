import { onAbort } from "../base/abort.ts";
import { clockFrom } from "../base/clock.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import { isStoreUrl } from "../base/objects.ts";
import { type CrawlDeps, CrawlRun } from "./crawl.ts";
import type { Frontier, FrontierTallies } from "./frontier/frontier.ts";
import { openSqliteFrontier, type SharedFrontierOptions } from "./frontier/open.ts";
import { configEcho, logNotice, manifestOf, warningOf, writeChanges } from "./manifest.ts";
import { type OpenOutput, openOutput, watchDisk } from "./output.ts";
import { openCrawlPictures, type PictureSource } from "./pictures.ts";
import type { CrawlPlan } from "./plan.ts";
import { Politeness } from "./politeness.ts";
import { createScope } from "./scope.ts";
import { readStarts } from "./seeding.ts";
import type {
  ChangesOutput,
  CrawlEvent,
  CrawlJobOptions,
  CrawlNotice,
  CrawlProgress,
  CrawlSummary,
  PlannedPage,
  PreviewOptions,
} from "./types.ts";

/** The parts that a job works with besides its own output. */
export type CrawlJobParts = Omit<
  CrawlDeps,
  "frontier" | "sink" | "pictures" | "authorizations" | "keepTold" | "retriesFailed"
> & {
  /** What fetches pictures, where a plan wants them saved. */
  readonly pictureSource: PictureSource;
  /** The network options without secrets, for the manifest. */
  readonly network: Readonly<Record<string, unknown>>;
  /** Opens the frontier of a crawl that several processes share; null where none does. */
  readonly openShared: ((options: SharedFrontierOptions) => Promise<Frontier>) | null;
};

/**
 * Runs a crawl as a job: opens the output with its present content, crawls, and writes the manifest. The last event is
 * `finished`, even for a crawl that was cancelled or could not continue. Leaving the loop cancels the crawl; the same
 * plan, even with other limits, continues it later.
 *
 * A shared crawl is one job in each of its processes, which all end with the summary of the whole crawl once it is
 * complete. A process that leaves earlier, or fails on its own (its sink, its disk), ends with the summary so far and
 * without a manifest: the others continue, and the leader's successor leads.
 * @throws Failure before the first event: `crawl_conflict` if the place holds pages of another scope, `invalid_usage`
 *   if another process crawls there; `unwritable_output`, `unreadable_input`
 */
export async function* runCrawlJob(
  plan: CrawlPlan,
  options: CrawlJobOptions,
  parts: CrawlJobParts,
  caller: AbortSignal,
): AsyncGenerator<CrawlEvent, void> {
  const { authorizations, jobId, isFresh, retriesFailed = false, shared = null } = options;
  const signal = shared === null ? caller : AbortSignal.any([caller, shared.leave]);
  await using output = await openOutput(options.output, { isFresh, isShared: shared !== null, signal });
  const pictures = openCrawlPictures(plan, output.pictures, parts.pictureSource);
  // A shell that names its jobs runs several at once; the name distinguishes their log lines.
  const log = jobId === null ? parts.log : parts.log.with({ job_id: jobId });
  await using frontier = await openFrontier(plan, options, parts, output);
  using _ = closeSoonAfter(shared?.leave, frontier);
  const { sink } = output;
  const keepTold = shared?.keepTold;
  const deps = { ...parts, log, frontier, sink, pictures, authorizations, retriesFailed, keepTold };
  const run = new CrawlRun(plan, deps, signal);
  const config = configEcho({ plan, options, network: parts.network });
  const notice = async (told: CrawlNotice): Promise<CrawlEvent> => {
    logNotice(told, log);
    const warning = warningOf(told);
    // A failed sitemap is reported when it is read, and a resumed crawl does not report it again.
    if (warning !== null && !(await frontier.warnings()).includes(warning))
      await frontier.addWarning(warning);
    return { kind: "notice", notice: told };
  };
  const disk = watchDisk(output);
  const changes = options.changes ?? null;
  const leave = shared?.leave ?? null;
  const places = { output, frontier, changes, disk };
  const job = { plan, config, parts, run, notice, caller, leave, retriesFailed, ...places };
  let isEnded = false;
  try {
    yield* tellStart(job);
    let summary: CrawlSummary | null = null;
    while (summary === null) {
      const error = yield* tellPages(job);
      isEnded = true;
      summary = await end(job, error);
    }
    yield { kind: "finished", summary, outcomes: () => frontier.outcomes() };
  } finally {
    // The loop was left, which cancels the crawl.
    if (!isEnded) await end(job, { code: "cancelled", message: "the crawl was cancelled" });
  }
}

/** How long a process that leaves a shared crawl waits for a database that cannot be reached, in ms. */
const GOODBYE_MS = 5_000;

/** Ends what waits for the database some time after a process was told to leave. */
function closeSoonAfter(leave: AbortSignal | undefined, frontier: Frontier): Disposable {
  const stack = new DisposableStack();
  const close = async (): Promise<void> => {
    // It is closed once more in the end, which tells what fails.
    await Promise.allSettled([frontier[Symbol.asyncDispose]()]);
  };
  const wait = (): void => {
    const timer = setTimeout(close, GOODBYE_MS);
    stack.defer(() => clearTimeout(timer));
  };
  stack.use(onAbort(leave, wait));
  return stack;
}

async function openFrontier(
  plan: CrawlPlan,
  options: CrawlJobOptions,
  parts: CrawlJobParts,
  output: OpenOutput,
): Promise<Frontier> {
  const common = {
    place: output.place,
    plan,
    tries: parts.tries,
    jobId: options.jobId,
    isFresh: options.isFresh,
    freshName: options.freshName ?? "--fresh",
  };
  const { shared = null, retriesFailed = false } = options;
  if (shared === null) {
    const alone = { now: clockFrom(Date.now()), directory: output.stateDirectory, retriesFailed };
    return openSqliteFrontier({ ...common, ...alone });
  }
  if (parts.openShared === null) throw new Failure("internal", "a shared crawl needs a database");
  return parts.openShared({ ...common, canLead: shared.canLead });
}

type Job = {
  readonly plan: CrawlPlan;
  readonly retriesFailed: boolean;
  /** The configuration as the manifest shows it. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly changes: ChangesOutput | null;
  readonly parts: CrawlJobParts;
  readonly output: OpenOutput;
  readonly frontier: Frontier;
  readonly run: CrawlRun;
  /** Logs a notice and keeps its warning. */
  readonly notice: (notice: CrawlNotice) => Promise<CrawlEvent>;
  readonly disk: ReturnType<typeof watchDisk>;
  /** Cancels the crawl, also for the other processes of a shared one. */
  readonly caller: AbortSignal;
  /** Ends only this process's part of a shared crawl; null in a crawl of this process alone. */
  readonly leave: AbortSignal | null;
};

async function* tellStart(job: Job): AsyncGenerator<CrawlEvent, void> {
  const { plan, output, frontier, run, notice, disk, retriesFailed } = job;
  const { jobId, startedAt, mode } = frontier.crawl;
  // A copy of a folder may have been made before a page's file was there. In a bucket, the memory comes after the pages.
  if (mode === "resumed" && !retriesFailed && !isStoreUrl(output.place))
    await frontier.leaveLost?.((url) => output.sink.has(url));
  // This comes before any event: pages that were left out stop being outcomes, and progress must not decrease.
  if (frontier.state().leads) await run.takeUp();
  yield { kind: "started", jobId, startedAt, mode, progress: await run.progress() };
  if (!plan.obeysRobots) yield await notice({ kind: "robots_ignored" });
  for (const told of await disk()) yield await notice(told);
}

/** @returns why the crawl could not continue; null when it is complete */
async function* tellPages({ run, notice, disk }: Job): AsyncGenerator<CrawlEvent, FailureRecord | null> {
  try {
    for await (const news of run.news()) {
      if (news.kind === "notice") yield await notice(news.notice);
      else yield { ...news, progress: await run.progress() };
      for (const told of await disk()) yield await notice(told);
    }
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.toRecord();
    throw error;
  }
}

/**
 * Finishes the output: writes the manifest, then the changes of a complete crawl, and only then marks the crawl as
 * over. In a shared crawl only its leader does that.
 * @returns null when the crawl is complete but not over: the lead was lost, and another process finishes it
 */
async function end(job: Job, error: FailureRecord | null): Promise<CrawlSummary | null> {
  const { output, frontier, caller } = job;
  const { jobId, startedAt } = frontier.crawl;
  if (error !== null && caller.aborted) await frontier.stop(error);
  const summary: CrawlSummary = {
    jobId,
    state: error === null ? "completed" : error.code === "cancelled" ? "cancelled" : "failed",
    error,
    startedAt,
    completedAt: new Date(frontier.crawl.now()).toISOString(),
    ...(await countAll(job)),
    manifestPath: null,
  };
  // Saving would only wait for the store once more.
  if (error?.code === "store_unavailable") return summary;
  if (frontier.isShared && !endsForAll(frontier, error)) {
    if (error !== null) return summary;
    const manifestPath = output.manifest?.path ?? null;
    return frontier.state().end === null ? null : { ...summary, manifestPath };
  }
  const ended = await writeEnd(job, summary);
  return ended.state === "completed" && frontier.state().end === null ? null : ended;
}

async function writeEnd(job: Job, summary: CrawlSummary): Promise<CrawlSummary> {
  const { config, changes, output, frontier } = job;
  const isComplete = summary.state === "completed";
  let manifestPath: string | null = null;
  try {
    await output.manifest?.write(manifestOf(frontier, { config, summary }));
    manifestPath = output.manifest?.path ?? null;
    // In this order, a copy of the folder that is made meanwhile has what its manifest lists.
    if (output.sink.removeRetired)
      for await (const { url, change } of frontier.changes())
        if (change === "gone") await output.sink.removeRetired(url);
    if (isComplete && changes !== null) await writeChanges(frontier, changes);
    if (isComplete) await frontier.finish();
    await output.save(frontier);
    return { ...summary, manifestPath };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    // A failed crawl reports its own failure; the disk may be the cause.
    if (!isComplete) return { ...summary, manifestPath };
    return { ...summary, manifestPath, state: "failed", error: cause.toRecord() };
  }
}

async function countAll({ frontier, run, leave }: Job): Promise<Counted> {
  try {
    const [progress, tallies] = [await run.progress({ isLast: true }), await frontier.tallies()];
    return { progress, ...tallies, warnings: await frontier.warnings() };
  } catch (error) {
    if (!(leave?.aborted && error instanceof Failure)) throw error;
    const warnings = ["The database cannot be reached, so the counts may be outdated"];
    return { progress: run.lastProgress ?? NO_PROGRESS, ...NO_TALLIES, warnings };
  }
}

type Counted = FrontierTallies & Pick<CrawlSummary, "progress" | "warnings">;
const NO_PROGRESS: CrawlProgress = {
  progress: 0,
  total: 0,
  successful: 0,
  failed: 0,
  skipped: 0,
  inFlight: 0,
  queued: 0,
  fetched: 0,
  bytes: 0,
};

const NO_TALLIES: FrontierTallies = {
  failures: {},
  skips: {},
  skippedLinks: {},
  changes: {},
  transient404: 0,
};

/** Tells whether this process ends a shared crawl: it leads, and the crawl is complete or was stopped for all. */
function endsForAll(frontier: Frontier, error: FailureRecord | null): boolean {
  const { leads, end } = frontier.state();
  return leads && (error === null ? end === null : end !== null);
}

/**
 * Lists the pages that a crawl would begin with, for a dry run: seeds first, each once within its sitemap. It fetches
 * robots.txt and sitemaps, but no page.
 * @throws Failure `cancelled`, `egress_refused`
 */
export async function* previewCrawl(
  plan: CrawlPlan,
  { authorizations, onSitemapFailure }: PreviewOptions,
  parts: CrawlJobParts,
  signal: AbortSignal,
): AsyncGenerator<PlannedPage, void> {
  const politeness = new Politeness(plan, parts);
  const scope = createScope(plan);
  for await (const news of readStarts({ ...parts, plan, scope, politeness, authorizations }, signal)) {
    if (news.kind === "failed") onSitemapFailure(news.failure);
    if (news.kind !== "entries") continue;
    for (const { url, source, refusal } of news.entries) {
      const rules = refusal === null ? await politeness.rulesFor(url, signal) : null;
      const closed = rules?.failure ?? (politeness.allows(rules, url) ? null : "robots");
      yield { url, source, refusal: refusal ?? closed };
    }
  }
}
