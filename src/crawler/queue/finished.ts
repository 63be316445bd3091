import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { FailureRecord } from "../../base/failure.ts";
import { MANIFEST_START } from "../manifest.ts";
import { type JobRecord, MAX_FINISHED } from "./jobs.ts";

/** The facts about a job in its manifest. */
export type FinishedJob = Omit<JobRecord, "createdAt" | "isCancelled" | "lastEvent">;

const time = z.iso.datetime();
const count = z.int().nonnegative();
const urls = z.array(z.string()).catch([]);

const isFailure = z.object({ code: z.string(), message: z.string() });

/** The head of a manifest (docs/crawl.md, "Files"), which comes before its results. */
const Head = z.object({
  job_id: z.string().min(1).max(100),
  status: z.enum(["completed", "failed"]),
  started_at: time,
  completed_at: time,
  config: z.object({ seeds: urls, sitemaps: urls }).catch({ seeds: [], sitemaps: [] }),
  total_pages: count,
  successful: count,
  failed: count,
  skipped: count,
  warnings: z.array(z.string()).nullable(),
  error: z.custom<FailureRecord>((it) => isFailure.safeParse(it).success).nullable(),
});

/** The most of a manifest that is read; longer lists of settings are not a job's that a server accepted. */
const HEAD_BYTES = 1024 * 1024;
/** How many manifests are looked into: those of the jobs that are kept, and many others. */
const MAX_MANIFESTS = 20 * MAX_FINISHED;

/**
 * Finds the jobs whose manifests lie below a directory, as when the file that listed them is lost.
 * @returns at most as many as a queue keeps, the oldest first; damaged and strange manifests are passed over
 */
export function findFinishedJobs(root: string): FinishedJob[] {
  const found: FinishedJob[] = [];
  let seen = 0;
  // Hidden directories, such as the memory of each crawl, are passed over.
  for (const path of existsSync(root) ? new Bun.Glob("**/manifest.json").scanSync(root) : []) {
    const job = readJob(dirname(join(root, path)));
    if (job) found.push(job);
    seen += 1;
    if (seen === MAX_MANIFESTS) break;
  }
  return found
    .toSorted((a, b) => (a.completedAt ?? "").localeCompare(b.completedAt ?? ""))
    .slice(-MAX_FINISHED);
}

function readJob(place: string): FinishedJob | null {
  try {
    const text = readHead(join(place, "manifest.json"));
    const end = text.indexOf(',\n  "results": [');
    if (!text.startsWith(MANIFEST_START) || end < 0) return null;
    const head = Head.safeParse(JSON.parse(`${text.slice(0, end)}}`));
    return head.success ? toJob(place, head.data) : null;
  } catch {
    return null;
  }
}

function readHead(path: string): string {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.toString("utf8", 0, readSync(file, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

const toJob = (place: string, head: z.output<typeof Head>): FinishedJob => ({
  id: head.job_id,
  state: head.status,
  place,
  shown: {
    output_dir: place,
    seeds: head.config.seeds.slice(0, 20),
    sitemaps: head.config.sitemaps.slice(0, 20),
  },
  startedAt: head.started_at,
  completedAt: head.completed_at,
  counts: {
    progress: head.total_pages,
    total: head.total_pages,
    successful: head.successful,
    failed: head.failed,
    skipped: head.skipped,
  },
  error: head.error,
  warnings: head.warnings ?? [],
});
