/**
 * Measures `serve extractor` under load on loopback, beside trafilatura behind FastAPI in the same run.
 *
 *   bun scripts/bench/serve.ts [--seconds N] [--connections N] [--peer trafilatura] [--processes N] [--out FILE]
 *   bun scripts/bench/serve.ts --soak SECONDS [--hostile N]
 *   bun scripts/bench/serve.ts --hostile N [--seconds N]
 *
 * `uncached` requests a new page each time, `cached` 50 pages over and over. During each load `/health` is requested 50
 * times a second; its 99th percentile must stay under 50 ms while extraction is saturated. The soak mixes requests of
 * all kinds and fails when the resident set of the last quarter is more than 10 % above that of the second.
 * `--hostile N` adds clients that send what costs most, and N clients that send one byte of a body; it fails when a
 * well-behaved client does not get the article of a page that it requests.
 */
import { join } from "node:path";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import {
  introduce,
  keep,
  memoryMb,
  PROGRAM,
  parseNames,
  printTable,
  quarterOf,
  readOptions,
  serveCrawlSite,
  startServer,
} from "./bench.ts";
import { installPython } from "./contenders.ts";
import { extract, measureHostile, measureLoad, type Subject } from "./serve-load.ts";

const MAX_HEALTH_P99_MS = 50;
/** The allowed growth of the resident set from the second to the last quarter of a soak. */
const MAX_GROWTH = 1.1;
const CACHED_PAGES = 50;

const options = readOptions({ seconds: 20, connections: 16, processes: 1, soak: 0, hostile: 0, peer: "" });
const { seconds, connections, processes, soak: soakSeconds, hostile: slowSenders } = options;

const startOurs = (state: string) =>
  startServer((port) => [PROGRAM, "serve", "extractor", "--host", "127.0.0.1", "--port", port], {
    PATH: process.env.PATH ?? "",
    HOME: state,
    ARTICLE_EXTRACTOR_STATE_DIR: join(state, "state"),
    ARTICLE_EXTRACTOR_OUTPUT_ROOT: join(state, "out"),
    ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
    ARTICLE_EXTRACTOR_LOG_LEVEL: "warning",
    WEB_CONCURRENCY: String(processes),
    // A cache that is still filling up is no leak; this one is full before the second quarter begins.
    ...(soakSeconds === 0 ? {} : { ARTICLE_EXTRACTOR_CACHE_SIZE: "50" }),
    // The server tells the clients of the hostile mix apart by the header of a trusted proxy.
    ...(slowSenders === 0
      ? {}
      : { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1", ARTICLE_EXTRACTOR_EGRESS: "open" }),
  });

async function startTrafilatura() {
  const python = await installPython("trafilatura-server", options.scratch);
  const script = join(import.meta.dir, "peers", "trafilatura_server.py");
  return await startServer((port) => [python, script, port], process.env);
}

let fresh = 0;

async function measure(subject: Subject, site: string) {
  const pageOf = (): string => `${site}/p/${fresh++}`;
  // This compiles the workers' code before the measurement.
  await measureLoad(subject, "warm-up", { connections, seconds: Math.min(5, seconds), pageOf });
  const uncached = await measureLoad(subject, "uncached", { connections, seconds, pageOf });
  const repeated = (request: number): string => `${site}/p/${request % CACHED_PAGES}`;
  const cached = await measureLoad(subject, "cached", { connections, seconds, pageOf: repeated });
  return [uncached, cached];
}

/**
 * Sends requests of all kinds, some from clients that leave.
 * @returns the resident set, once a second
 */
async function soak(subject: Subject, site: string, duration: number): Promise<readonly number[]> {
  const samples: number[] = [];
  const until = performance.now() + duration * 1000;
  const post = (path: string, body: object, signal?: AbortSignal): Promise<Response | null> =>
    fetch(subject.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    }).catch(() => null);
  const kinds: readonly ((round: number) => Promise<unknown>)[] = [
    () => extract(subject, `${site}/p/${fresh++}`),
    (round) => extract(subject, `${site}/p/${round % CACHED_PAGES}`),
    () => post("/", { url: `${site}/nothing` }).then((response) => response?.text()),
    () => post("/", { wrong: true }).then((response) => response?.text()),
    () =>
      post("/", { url: `${site}/p/${fresh++}` }, AbortSignal.timeout(5)).then((response) =>
        response?.text().catch(() => ""),
      ),
    () => fetch(`${subject.url}/openapi.json`).then((response) => response.text()),
    () => fetch(`${subject.url}/crawl`).then((response) => response.text()),
    () => fetch(`${subject.url}/${site}/p/${fresh++}`).then((response) => response.text()),
  ];
  const client = async (first: number): Promise<void> => {
    for (let round = first; performance.now() < until; round++) {
      await kinds[round % kinds.length]?.(round);
      // A soak looks for what adds up, not for the highest speed.
      await Bun.sleep(20);
    }
  };
  const crawler = async (): Promise<void> => {
    for (let job = 0; performance.now() < until; job++) {
      const body = {
        output_dir: `job-${job % 5}`,
        seeds: [`${site}/p/${job}`],
        max_pages: 20,
        rate_limit_delay: 0,
        fresh: true,
      };
      await (await post("/crawl", body))?.text();
      await Bun.sleep(5000);
    }
  };
  const sampler = async (): Promise<void> => {
    for (; performance.now() < until; await Bun.sleep(1000)) samples.push(memoryMb(subject.pid, "VmRSS"));
  };
  await Promise.all([sampler(), crawler(), ...[0, 2, 4, 6].map(client)]);
  return samples;
}

type HostileMeasured = Awaited<ReturnType<typeof measureHostile>>;

function printHostile({ pages, lost, hostile, ...measured }: HostileMeasured): void {
  const { p50Ms, p99Ms, healthP99Ms, rssMb } = measured;
  console.log(`pages asked for by well-behaved clients ${pages}, not answered ${JSON.stringify(lost)}`);
  console.log(
    `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, /health p99 ${healthP99Ms.toFixed(1)} ms`,
  );
  console.log(`RSS at most ${Math.max(...rssMb).toFixed(0)} MB; hostile clients ${JSON.stringify(hostile)}`);
}

using state = temporaryDirectory();
using site = await serveCrawlSite(100_000_000);
const about = await introduce(
  `pages of ${site.bytes} bytes, ${connections} connections, ${processes} process(es)`,
);
const pageOf = (): string => `${site.url}/p/${fresh++}`;

if (soakSeconds > 0 || slowSenders > 0) {
  await using ours = await startOurs(state.path);
  const hostile = { site: site.url, seconds: soakSeconds || seconds, slowSenders, pageOf };
  const mixed = slowSenders > 0 ? await measureHostile({ name: "ours", ...ours }, hostile) : null;
  if (mixed) printHostile(mixed);
  const samples = mixed?.rssMb ?? (await soak({ name: "ours", ...ours }, site.url, soakSeconds));
  const rssMbByQuarter = [1, 2, 3, 4].map((which) => Math.round(quarterOf(samples, which)));
  const [, second = 0, , last = 0] = rssMbByQuarter;
  console.log(`RSS of the second quarter ${second} MB, of the last ${last} MB`);
  const rssMbByMinute = samples.filter((_, at) => at % 60 === 0).map(Math.round);
  const memory = { pages: fresh, rssMbByQuarter, rssMbByMinute };
  const answers = mixed && { ...mixed, rssMb: undefined };
  await keep(options.out, { ...about, processes, soakSeconds, slowSenders, answers, ...memory });
  if (soakSeconds > 0 && last > MAX_GROWTH * second) throw new Error("memory grew by more than 10 %");
  if (Object.keys(mixed?.lost ?? {}).length > 0) throw new Error("pages were not answered");
} else {
  const results = [];
  {
    await using ours = await startOurs(state.path);
    results.push(...(await measure({ name: "ours", ...ours }, site.url)));
  }
  for (const _ of parseNames("--peer", options.peer, ["trafilatura"])) {
    await using peer = await startTrafilatura();
    results.push(...(await measure({ name: "trafilatura", ...peer }, site.url)));
  }
  printTable(results);
  await keep(options.out, { ...about, bytes: site.bytes, connections, processes, results });
  for (const { subject, healthP99Ms } of results)
    if (subject === "ours" && healthP99Ms > MAX_HEALTH_P99_MS)
      throw new Error(`/health took ${healthP99Ms.toFixed(1)} ms at the 99th percentile`);
}
