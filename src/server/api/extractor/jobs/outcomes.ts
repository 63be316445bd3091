import type { BunFile } from "bun";
import { isRecord, parseJson } from "../../../../base/json.ts";
import type { JobRecord, ManifestEntry } from "../../../../crawler/index.ts";
import { ProblemError } from "../../../middleware/problem.ts";
import type { z } from "../../openapi.ts";
import type { JobOutcomes } from "../schemas/answers.ts";
import type { CrawlPlaces } from "./places.ts";

/** Which pages of a job are wanted. */
export type PagesWish = {
  readonly status: ManifestEntry["status"] | null;
  /** The code of a failure, or the reason of a page that was skipped. */
  readonly reason: string | null;
  readonly host: string | null;
};

/** How many pages of a host or of a reason came to what. */
type OutcomeCounts = z.output<typeof JobOutcomes>;
type HostCounts = OutcomeCounts["hosts"][number];

/** The hosts that are counted by name: those with the most pages. */
const MAX_HOSTS = 100;

/**
 * Yields the pages of a job that has ended, as its manifest lists them, in the order in which they were found. The
 * manifest has one line for each, so it is read piece by piece, however long it is.
 * @throws ProblemError 404 when it is not as the crawler wrote it
 */
export async function* pagesOf(places: CrawlPlaces, job: JobRecord): AsyncGenerator<ManifestEntry, void> {
  const manifest = await places.manifest(job);
  if (manifest === null) return;
  let count = 0;
  for await (const line of linesOf(manifest)) {
    if (!line.startsWith(ENTRY)) continue;
    const entry = parseJson(line.endsWith(",") ? line.slice(0, -1) : line);
    if (!isEntry(entry)) throw damaged(job);
    count++;
    yield entry;
  }
  if (count < job.counts.progress) throw damaged(job);
}

const isEntry = (value: unknown): value is ManifestEntry =>
  isRecord(value) && typeof value.url === "string" && typeof value.status === "string";

const damaged = ({ id }: JobRecord): ProblemError =>
  new ProblemError(404, "manifest_damaged", `the manifest of the job ${id} is not as it was written`);

/** How a line with a page begins; no line of the manifest's head does. */
const ENTRY = '    {"url":';

async function* linesOf(manifest: BunFile | ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of "stream" in manifest ? manifest.stream() : manifest) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

/** Finds some of the wanted pages, and how many there are. */
export async function findPages(
  pages: AsyncIterable<ManifestEntry>,
  wish: PagesWish,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly pages: readonly ManifestEntry[]; readonly total: number }> {
  const found: ManifestEntry[] = [];
  let total = 0;
  for await (const page of pages) {
    if (!isWanted(page, wish)) continue;
    if (total >= offset && found.length < limit) found.push(page);
    total++;
  }
  return { pages: found, total };
}

const isWanted = (page: ManifestEntry, { status, reason, host }: PagesWish): boolean =>
  (status === null || page.status === status) &&
  (reason === null || reasonOf(page) === reason) &&
  (host === null || hostOf(page) === host);

const reasonOf = ({ status, error, reason }: ManifestEntry): string | null =>
  status === "success" ? null : ((status === "failed" ? error?.code : reason) ?? "unknown");

const hostOf = ({ url }: ManifestEntry): string => URL.parse(url)?.host ?? "";

/** Counts pages by what came of them, the most frequent first. */
export async function countOutcomes(pages: AsyncIterable<ManifestEntry>): Promise<OutcomeCounts> {
  const reasons = new Map<string, OutcomeCounts["reasons"][number]>();
  const hosts = new Map<string, HostCounts>();
  for await (const page of pages) {
    const host = hostOf(page);
    const counts = hosts.get(host) ?? { host, successful: 0, failed: 0, skipped: 0 };
    counts[page.status === "success" ? "successful" : page.status]++;
    hosts.set(host, counts);
    const reason = reasonOf(page);
    if (reason === null) continue;
    const key = `${page.status} ${reason}`;
    const known = reasons.get(key) ?? { status: page.status, reason, pages: 0 };
    known.pages++;
    reasons.set(key, known);
  }
  const all = (one: HostCounts): number => one.successful + one.failed + one.skipped;
  return {
    reasons: [...reasons.values()].sort((a, b) => b.pages - a.pages),
    hosts: [...hosts.values()].sort((a, b) => all(b) - all(a)).slice(0, MAX_HOSTS),
  };
}
