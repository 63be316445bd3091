/**
 * The fetcher on Node, driven over stdin and stdout: one JSON line per request and per answer. Bundled and
 * started by node-fetcher.ts; it imports nothing of Bun.
 */
import { createInterface } from "node:readline";
import { Failure } from "../../src/base/failure.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import {
  chooseProxy,
  createEgress,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  parseEgressPolicy,
} from "../../src/fetching/index.ts";
import type { PageUrl } from "../../src/urls/index.ts";
import type { NodeFetcherOptions, NodeRequest, NodeResponse } from "./node-fetcher.ts";

const options: NodeFetcherOptions = JSON.parse(process.argv[2] ?? "{}");
const fetcher = createHttpFetcher({
  egress: createEgress({
    policy: parseEgressPolicy("auto"),
    resolve: async (host) => options.names?.[host] ?? [],
    resolverTtlMs: 0,
  }),
  caller: { kind: "cli" },
  chooseProxy: chooseProxy({
    explicit: options.proxy ?? null,
    explicitSource: "caller",
    bypass: [],
    environment: { http: null, https: null, bypass: [] },
  }),
  userAgent: "article-extractor/test",
  limits: {
    ...DEFAULT_FETCH_LIMITS,
    requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
    pageBytes: 100_000,
  },
  log: silentLog,
  extraCertificates: options.extraCertificates ?? [],
  clock: { now: Date.now, random: () => 0, sleep: async () => {} },
});

const running = new Map<number, AbortController>();
const write = (response: NodeResponse): void => void process.stdout.write(`${JSON.stringify(response)}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const request: NodeRequest = JSON.parse(line);
  if (request.cancel) return running.get(request.id)?.abort();
  const controller = new AbortController();
  running.set(request.id, controller);
  fetcher
    .fetch(request.url as PageUrl, { signal: controller.signal }) // written by the test as a PageUrl
    .then(
      (page) => write({ id: request.id, page }),
      (error: unknown) => {
        const isOurs = error instanceof Failure;
        const failure = isOurs ? error.toRecord() : { code: "internal" as const, message: String(error) };
        write({ id: request.id, failure, targetStatus: isOurs ? error.targetStatus : null });
      },
    );
});
