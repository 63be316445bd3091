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
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { run } from "./contenders.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount, parseNames } from "./options.ts";
import { type HostileMeasured, measureHostile } from "./serve-hostile.ts";
import { extract, type Measured, measureLoad, residentMb, type Subject } from "./serve-load.ts";
import { percentile } from "./statistics.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PROGRAM = join(ROOT, "dist", "article-extractor");
const PIP_PACKAGES = ["fastapi==0.163.2", "uvicorn", "httpx", "trafilatura==2.3.1", "lxml_html_clean==0.4.6"];
const MAX_HEALTH_P99_MS = 50;
/** The allowed growth of the resident set from the second to the last quarter of a soak. */
const MAX_GROWTH = 1.1;
const CACHED_PAGES = 50;

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string" },
    connections: { type: "string" },
    processes: { type: "string" },
    soak: { type: "string" },
    hostile: { type: "string" },
    peer: { type: "string", default: "" },
    scratch: { type: "string", default: join(tmpdir(), "article-extractor-bench") },
    out: { type: "string" },
  },
});
const seconds = parseCount("--seconds", options.seconds) ?? 20;
const connections = parseCount("--connections", options.connections) ?? 16;
const processes = parseCount("--processes", options.processes) ?? 1;
const soakSeconds = parseCount("--soak", options.soak);
const slowSenders = parseCount("--hostile", options.hostile);

type Running = AsyncDisposable & { readonly subject: Subject };

async function startOurs(state: string): Promise<Running> {
  const port = freePort();
  const child = Bun.spawn([PROGRAM, "serve", "extractor", "--host", "127.0.0.1", "--port", String(port)], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: state,
      ARTICLE_EXTRACTOR_STATE_DIR: join(state, "state"),
      ARTICLE_EXTRACTOR_OUTPUT_ROOT: join(state, "out"),
      ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
      ARTICLE_EXTRACTOR_LOG_LEVEL: "warning",
      WEB_CONCURRENCY: String(processes),
      // A cache that is still filling up is no leak; this one is full before the second quarter begins.
      ...(soakSeconds === null ? {} : { ARTICLE_EXTRACTOR_CACHE_SIZE: "50" }),
      // The server tells the clients of the hostile mix apart by the header of a trusted proxy.
      ...(slowSenders === null
        ? {}
        : { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1", ARTICLE_EXTRACTOR_EGRESS: "open" }),
    },
    stdout: "ignore",
    stderr: "ignore",
  });
  return await started("ours", port, child);
}

async function startTrafilatura(): Promise<Running> {
  const venv = join(options.scratch, "venv-serve");
  const python = join(venv, "bin", "python");
  await mkdir(options.scratch, { recursive: true });
  if (!(await Bun.file(python).exists())) await run(["python3", "-m", "venv", venv], options.scratch);
  const install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PIP_PACKAGES];
  await run(install, options.scratch);
  const port = freePort();
  const script = join(import.meta.dir, "peers", "trafilatura_server.py");
  const child = Bun.spawn([python, script, String(port)], { stdout: "ignore", stderr: "inherit" });
  return await started("trafilatura", port, child);
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = server;
  void server.stop(true);
  return port ?? 0;
}

async function started(name: string, port: number, child: Bun.Subprocess): Promise<Running> {
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const isUp = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) break;
    if (tries > 300 || child.exitCode !== null) throw new Error(`${name} does not answer at ${url}`);
    await Bun.sleep(100);
  }
  return {
    subject: { name, url, pid: child.pid },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

let fresh = 0;

async function measure(subject: Subject, site: string): Promise<Measured[]> {
  const pageOf = (): string => `${site}/p/${fresh++}`;
  // This compiles the workers' code before the measurement.
  await measureLoad(subject, "warm-up", { connections, seconds: Math.min(5, seconds), pageOf });
  const uncached = await measureLoad(subject, "uncached", { connections, seconds, pageOf });
  const repeated = (request: number): string => `${site}/p/${request % CACHED_PAGES}`;
  const cached = await measureLoad(subject, "cached", { connections, seconds, pageOf: repeated });
  return [uncached, cached];
}

function print(results: readonly Measured[]): void {
  console.log(
    "subject      load       requests/s   p50 ms   p99 ms   CPU ms   RSS MB   /health p50 ms   p99 ms",
  );
  for (const result of results) {
    const cells = [
      result.subject.padEnd(12),
      result.load.padEnd(10),
      result.requestsPerSecond.toFixed(1).padStart(10),
      result.p50Ms.toFixed(1).padStart(8),
      result.p99Ms.toFixed(1).padStart(8),
      result.cpuMsPerRequest.toFixed(2).padStart(8),
      result.rssMb.toFixed(0).padStart(8),
      result.healthP50Ms.toFixed(1).padStart(16),
      result.healthP99Ms.toFixed(1).padStart(8),
    ];
    console.log(cells.join(" "));
  }
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
    for (; performance.now() < until; await Bun.sleep(1000)) samples.push(residentMb(subject.pid));
  };
  await Promise.all([sampler(), crawler(), ...[0, 2, 4, 6].map(client)]);
  return samples;
}

function printHostile({ pages, lost, hostile, ...measured }: HostileMeasured): void {
  const { p50Ms, p99Ms, healthP99Ms, rssMb } = measured;
  console.log(`pages asked for by well-behaved clients ${pages}, not answered ${JSON.stringify(lost)}`);
  console.log(
    `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, /health p99 ${healthP99Ms.toFixed(1)} ms`,
  );
  console.log(`RSS at most ${Math.max(...rssMb).toFixed(0)} MB; hostile clients ${JSON.stringify(hostile)}`);
}

async function firstLine(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const bytes of stdout) {
    text += new TextDecoder().decode(bytes);
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}

const state = await mkdtemp(join(tmpdir(), "bench-serve-"));
const siteProcess = Bun.spawn([process.execPath, join(import.meta.dir, "crawl-site.ts"), "100000000"], {
  stdout: "pipe",
});
try {
  const { port, bytes } = JSON.parse(await firstLine(siteProcess.stdout));
  const site = `http://127.0.0.1:${port}`;
  const machine = describeMachine();
  const write = async (measured: object): Promise<void> => {
    if (!options.out) return;
    const report = { machine, commit: await describeCommit(ROOT), ...measured };
    await Bun.write(options.out, `${JSON.stringify(report, null, 2)}\n`);
  };
  console.log(`${machine}; pages of ${bytes} bytes, ${connections} connections, ${processes} process(es)\n`);
  if (soakSeconds !== null) {
    await using ours = await startOurs(state);
    const pageOf = (): string => `${site}/p/${fresh++}`;
    const mixed =
      slowSenders === null
        ? null
        : await measureHostile(ours.subject, { site, seconds: soakSeconds, slowSenders, pageOf });
    if (mixed !== null) printHostile(mixed);
    const samples = mixed?.rssMb ?? (await soak(ours.subject, site, soakSeconds));
    const quarter = (which: number): number =>
      percentile(samples.slice((samples.length * (which - 1)) / 4, (samples.length * which) / 4), 0.5);
    const [second, last] = [quarter(2), quarter(4)];
    console.log(
      `soak of ${soakSeconds} s: RSS of the second quarter ${second.toFixed(0)} MB, of the last ${last.toFixed(0)} MB`,
    );
    await write({
      processes,
      soak_seconds: soakSeconds,
      ...(mixed === null ? {} : { slow_senders: slowSenders, hostile_mix: { ...mixed, rssMb: undefined } }),
      pages: fresh,
      rss_mb_by_quarter: [1, 2, 3, 4].map((which) => Math.round(quarter(which))),
      rss_mb_by_minute: samples.filter((_, second) => second % 60 === 0).map(Math.round),
    });
    if (last > MAX_GROWTH * second) throw new Error("memory grew by more than 10 %");
    if (Object.keys(mixed?.lost ?? {}).length > 0) throw new Error("pages were not answered");
  } else if (slowSenders !== null) {
    await using ours = await startOurs(state);
    const pageOf = (): string => `${site}/p/${fresh++}`;
    const mixed = await measureHostile(ours.subject, { site, seconds, slowSenders, pageOf });
    printHostile(mixed);
    await write({ processes, seconds, slow_senders: slowSenders, hostile_mix: mixed });
    if (Object.keys(mixed.lost).length > 0) throw new Error("pages were not answered");
  } else {
    const results: Measured[] = [];
    {
      await using ours = await startOurs(state);
      results.push(...(await measure(ours.subject, site)));
    }
    for (const _ of parseNames("--peer", options.peer, ["trafilatura"])) {
      await using peer = await startTrafilatura();
      results.push(...(await measure(peer.subject, site)));
    }
    print(results);
    await write({ bytes, connections, processes, results });
    for (const { subject, healthP99Ms } of results)
      if (subject === "ours" && healthP99Ms > MAX_HEALTH_P99_MS)
        throw new Error(`/health took ${healthP99Ms.toFixed(1)} ms at the 99th percentile`);
  }
} finally {
  siteProcess.kill();
  await rm(state, { recursive: true, force: true });
}
