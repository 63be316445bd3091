import { expect } from "bun:test";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary } from "../binary.ts";
import { startPostgres } from "../postgres.ts";
import { type BucketServer, startBucketServer } from "./servers.ts";
import type { ManyHosts } from "./site.ts";

/** One database and one bucket, and what the program needs to use them. */
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Starts a database with the program's tables (with nothing when it `isEmpty`), and an empty bucket. */
export async function startCluster({ isEmpty = false } = {}) {
  const [database, bucket] = await Promise.all([startPostgres(), startBucketServer()]);
  const env = {
    ...bucket.env,
    ARTICLE_EXTRACTOR_DATABASE_URL: database.url,
    ARTICLE_EXTRACTOR_STORE_URL: `${bucket.url}/all`,
    ARTICLE_EXTRACTOR_EGRESS: "open",
    ARTICLE_EXTRACTOR_LOG_LEVEL: "info",
    ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1",
  };
  if (!isEmpty) {
    const migrated = start(["database", "migrate"], env);
    expect({ code: await migrated.exited, said: migrated.stderr() }).toMatchObject({ code: 0 });
  }
  return {
    database,
    bucket,
    env,
    async [Symbol.asyncDispose]() {
      await Promise.all([database[Symbol.asyncDispose](), bucket[Symbol.asyncDispose]()]);
    },
  };
}

/** A running copy of the built program. */
export type Running = ReturnType<typeof start>;

/**
 * Starts the built program, in the root directory, so that it can keep nothing beside itself by mistake.
 * @param before a command that the program's words are added to
 */
export function start(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  before: readonly string[] = [],
) {
  requireBinary();
  const child = Bun.spawn([...before, BINARY, ...words], {
    cwd: "/",
    env: cleanEnvironment(env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = { stdout: "", stderr: "" };
  const read = async (name: "stdout" | "stderr"): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of child[name]) said[name] += decoder.decode(piece, { stream: true });
  };
  const reading = Promise.all([read("stdout"), read("stderr")]);
  const exited = child.exited.then(async () => {
    await reading;
    return child.signalCode === null ? child.exitCode : null;
  });
  return {
    pid: child.pid,
    /** The exit code; null after a signal that it did not catch. */
    exited,
    stdout: () => said.stdout,
    /** All that it has said so far, log lines among it. */
    stderr: () => said.stderr,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** Its CPU time with all of its threads in ms, once it has ended. */
    usedCpuMs: () => Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000,
    signal: (name: NodeJS.Signals) => child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const TICKS_PER_SECOND = 100;

/** The CPU time of a process with its threads and its ended children, in ms; Linux only. */
export async function cpuMsOf(pid: number): Promise<number> {
  const text = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // utime, stime, cutime, cstime are the fields 14 to 17 of proc(5); the first one here is the third.
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

export type CrawlWords = {
  readonly place: string;
  readonly maxPages: number;
  readonly delayMs: number;
  readonly concurrency: number;
};

/** The words of a crawl of the whole site that several processes do together. */
export function joinedCrawl(
  site: ManyHosts,
  { place, maxPages, delayMs, concurrency }: CrawlWords,
): string[] {
  const limits = {
    "max-pages": maxPages,
    "max-depth": 100,
    concurrency,
    "rate-limit": delayMs / 1000,
    "max-failures": "100%",
    "log-level": "info",
  };
  const allowed = site.origins.flatMap((origin) => ["--allow-prefix", `${origin}/`]);
  const flags = Object.entries(limits).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return ["crawl", `${site.origin}/`, "--join", "--output-dir", place, ...allowed, ...flags, "--prefer-http"];
}

/** What tests look at in a manifest. */
export type ManifestJson = {
  readonly job_id: string;
  readonly status: string;
  readonly total_pages: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  readonly results: readonly {
    readonly url: string;
    readonly status: "success" | "failed" | "skipped";
    readonly file_path: string | null;
    readonly reason: string | null;
  }[];
};

/** Reads the manifest below a prefix of the bucket and checks what holds for every crawl. */
export async function auditedManifest(bucket: BucketServer, prefix: string): Promise<ManifestJson> {
  const manifest = (await bucket.client.file(join(prefix, "manifest.json")).json()) as ManifestJson;
  const objects = (await bucket.list(`${prefix}/`)).filter((name) => name.endsWith(".md"));
  expectAgreement(
    manifest,
    objects.map((name) => name.slice(prefix.length + 1)),
  );
  return manifest;
}

/** Checks for one outcome a URL, counters that are those of the outcomes, and exactly one file for every success. */
export function expectAgreement(manifest: ManifestJson, files: readonly string[]): void {
  const { results, total_pages, successful, failed, skipped } = manifest;
  const count = (wanted: string): number => results.filter(({ status }) => status === wanted).length;
  expect(new Set(results.map(({ url }) => url)).size).toBe(results.length);
  expect({ total_pages, successful, failed, skipped }).toEqual({
    total_pages: results.length,
    successful: count("success"),
    failed: count("failed"),
    skipped: count("skipped"),
  });
  expect(files.toSorted()).toEqual(results.flatMap(({ file_path }) => file_path ?? []).sort());
}
