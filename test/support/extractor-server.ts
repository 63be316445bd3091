import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary } from "./binary.ts";
import { freePort, untilReady } from "./local.ts";

/** The built program as `serve extractor`; disposing of it kills it and removes its directories. */
export type ExtractorProcess = Awaited<ReturnType<typeof startExtractor>>;

export type ExtractorProcessOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  /** State and output of an earlier server, to go on with; it stays when this one is disposed of. */
  readonly directory?: string;
  readonly port?: number;
  /** Loopback where it is absent. */
  readonly host?: string;
  /** Its log's level hides where it listens. */
  readonly isSilent?: boolean;
  /** Words of a program that starts the server in its own place. */
  readonly within?: readonly string[];
};

const START_MS = 60_000;

/** Starts a server on a free port of loopback and waits until it listens. */
export async function startExtractor(options: ExtractorProcessOptions = {}) {
  requireBinary();
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "serve-extractor-"));
  const port = options.port ?? (options.isSilent ? freePort() : 0);
  const words = ["serve", "extractor", "--host", options.host ?? "127.0.0.1", "--port", String(port)];
  const child = Bun.spawn([...(options.within ?? []), BINARY, ...words, ...(options.words ?? [])], {
    cwd: directory,
    env: cleanEnvironment({
      ARTICLE_EXTRACTOR_STATE_DIR: join(directory, "state"),
      ARTICLE_EXTRACTOR_OUTPUT_ROOT: directory,
      ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
      ARTICLE_EXTRACTOR_RETRIES: "0",
      ...options.env,
    }),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  let written = "";
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of child.stderr) {
      written += decoder.decode(piece, { stream: true });
      const url = /serving extraction\b[^\n]*?\burl[":=]+(http:\/\/[^\s",/]+).*\n/.exec(written);
      if (url) resolve(url[1] ?? "");
    }
  })();
  if (options.isSilent) void untilReady(port).then(resolve);
  const tooLate = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    tooLate.reject(new Error(`serve extractor did not listen within ${START_MS} ms: ${written}`));
  }, START_MS);
  const url = await Promise.race([
    listening,
    tooLate.promise,
    child.exited.then(async (code) => {
      await reading;
      throw new Error(`serve extractor ended with ${code}: ${written}`);
    }),
  ]).finally(() => clearTimeout(timer));
  return {
    url,
    pid: child.pid,
    /** A directory of this server alone: its current one, and its output root. */
    directory,
    /** All that it has written to stderr so far. */
    stderr: () => written,
    /** The lines of these with something in them. */
    lines: (part: string | RegExp): readonly string[] =>
      written
        .split("\n")
        .filter((line) => (typeof part === "string" ? line.includes(part) : part.test(line))),
    exited: child.exited,
    signal: (name: NodeJS.Signals) => child.kill(name),
    get: (path: string, init?: RequestInit) => fetch(`${url}${path}`, init),
    post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await reading;
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A job's status record, as far as tests look at it. */
export type JobJson = {
  readonly job_id: string;
  readonly status: "queued" | "running" | "completed" | "failed";
  readonly progress: number;
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[] | null;
};

/** Submits a crawl that is accepted; gives its id. */
export async function submitJob(server: ExtractorProcess, body: object): Promise<string> {
  const response = await server.post("/crawl", body);
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as JobJson).job_id;
}

/** Waits until a job's record is as wanted; each time over a connection of its own. */
export async function untilJob(
  server: ExtractorProcess,
  id: string,
  isWanted: (job: JobJson) => boolean,
): Promise<JobJson> {
  for (let tries = 0; ; tries++) {
    const response = await server.get(`/crawl/${id}`, { headers: { connection: "close" } });
    const job = (await response.json()) as JobJson;
    if (isWanted(job)) return job;
    if (tries > 1200)
      throw new Error(`the job stays ${JSON.stringify(job)}\n${server.stderr().slice(-3000)}`);
    await Bun.sleep(50);
  }
}

export const isOver = ({ status }: JobJson): boolean => status === "completed" || status === "failed";

/** The code of an answer that tells a problem. */
export async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code;
}
