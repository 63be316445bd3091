import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noMetrics } from "../../src/base/metrics.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import { isMissing, systemCode } from "../../src/base/system-error.ts";
import { DEFAULT_S3_LIMITS } from "../../src/scale/objects/open.ts";
import type { S3Options } from "../../src/scale/objects/s3.ts";
import { serveLocal } from "./local.ts";
import { until } from "./until.ts";

const SERVER = join(import.meta.dir, "../../build/moto/bin/moto_server");

/** An empty bucket of a server that is not ours, for one test. */
export type TestBucket = { readonly name: string; readonly options: S3Options };

export const TEST_CREDENTIALS = { accessKeyId: "test-key", secretAccessKey: "test-secret" } as const;

/** Options for a server of S3 on loopback. */
export const optionsFor = (endpoint: string, changes: Partial<S3Options> = {}): S3Options => ({
  ...DEFAULT_S3_LIMITS,
  endpoint,
  region: "us-east-1",
  addressing: null,
  encryption: null,
  profile: null,
  credentials: TEST_CREDENTIALS,
  metrics: noMetrics,
  log: silentLog,
  ...changes,
});

/** Makes a bucket on the one server of the test run, which is started when it is first needed. */
export async function makeBucket(): Promise<TestBucket> {
  const endpoint = await startMoto();
  const name = `bucket-${randomUUID()}`;
  const made = await fetch(`${endpoint}/${name}`, {
    method: "PUT",
    headers: { authorization: AUTHORIZATION },
  });
  if (!made.ok) throw new Error(`moto made no bucket: ${made.status} ${await made.text()}`);
  return { name, options: optionsFor(endpoint) };
}

/** moto looks at the service and the region only. */
const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";

/** The variables that point the program at such a server. */
export const environmentFor = ({ endpoint, region, credentials }: S3Options): Record<string, string> => ({
  ARTICLE_EXTRACTOR_S3_ENDPOINT: endpoint ?? "",
  ARTICLE_EXTRACTOR_S3_REGION: region ?? "",
  AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
  AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
});

/** @returns the server's URL; every file of a run gets the same */
async function startMoto(): Promise<string> {
  if (!existsSync(SERVER)) throw new Error("moto is missing: run sh scripts/ensure.sh slow");
  // In a parallel run files are loaded by workers, whose parent is the run.
  const run = process.env.BUN_TEST_WORKER_ID === undefined ? process.pid : process.ppid;
  const directory = join(tmpdir(), `article-extractor-moto-${run}`);
  const log = join(directory, "log");
  if (isFirst(directory)) {
    const output = openSync(log, "w");
    // It ends with the run, however that ends: no child of the run waits for that, since the run kills its children.
    const script = `("$1" -H 127.0.0.1 -p 0 & while kill -0 ${run} 2>/dev/null; do sleep 1; done; kill $!; rm -r "$2") &`;
    const command = ["sh", "-c", script, "sh", SERVER, directory];
    Bun.spawn(command, { detached: true, stdio: ["ignore", output, output] }).unref();
  }
  const text = await until(
    () => readIfThere(log),
    (written) => /Running on http\S+/.test(written),
  );
  const url = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(text)?.[1];
  if (url === undefined) throw new Error(`moto did not start: ${text}`);
  return url;
}

function isFirst(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}

/** A server in front of a bucket's own, which answers itself what `fault` gives. */
export type FaultyBucket = AsyncDisposable & {
  readonly options: S3Options;
  fault: (request: Request) => Response | null | Promise<Response | null>;
};

export function standBefore(options: S3Options, changes: Partial<S3Options> = {}): FaultyBucket {
  const server = serveLocal(async (request) => {
    const own = await faulty.fault(request);
    if (own !== null) return own;
    const { pathname, search } = new URL(request.url);
    const body = await request.arrayBuffer();
    const { method, headers } = request;
    return fetch(`${options.endpoint}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  });
  const faulty: FaultyBucket = {
    options: { ...options, ...changes, endpoint: server.url.origin },
    fault: () => null,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return faulty;
}
