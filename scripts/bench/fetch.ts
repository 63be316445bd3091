/**
 * Measures fetching over loopback: this program's fetcher on Bun and on Node beside undici.fetch and undici.request
 * on Node, in the same run; the egress check alone; and memory over many requests.
 *
 *   bun scripts/bench/fetch.ts [--requests N] [--flat N] [--path /gzip] [--out FILE]
 *
 * `--requests` is per subject and concurrency (default 3000), `--flat` is for the memory run (default 20000;
 * 100000 is the full one). Raw results go to `--out` as JSON lines. It fails when a page comes back wrong or when
 * memory grows over the second half of its run.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createEgress, parseEgressPolicy, systemResolve } from "../../src/fetching/index.ts";
import type { LoadResult } from "./fetch-load.ts";

const here = (name: string): string => new URL(name, import.meta.url).pathname;

const { values: options } = parseArgs({
  options: {
    requests: { type: "string", default: "3000" },
    flat: { type: "string", default: "20000" },
    path: { type: "string", default: "/page" },
    out: { type: "string" },
  },
});

async function firstLine(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const bytes of stdout) {
    text += new TextDecoder().decode(bytes);
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}

async function buildForNode(directory: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: [here("fetch-client.ts")],
    outdir: directory,
    target: "node",
    naming: "[name].mjs",
  });
  if (!built.success) throw new Error(String(built.logs));
  return join(directory, "fetch-client.mjs");
}

async function run(command: readonly string[]): Promise<LoadResult> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
  return JSON.parse(text);
}

/** Measures microseconds of one decision when the resolver's answer is known, and ms of the resolver itself. */
async function measureEgress(): Promise<{ readonly checkMs: number; readonly resolverMs: number }> {
  const egress = createEgress({
    policy: parseEgressPolicy("auto"),
    resolve: async () => ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    resolverTtlMs: 0,
  });
  const url = new URL("https://www.example.org/a/page");
  const admit = () => egress.admit(url, { kind: "remote_request" });
  for (let warm = 0; warm < 2000; warm++) await admit();
  const rounds = 20_000;
  let startedAt = performance.now();
  for (let round = 0; round < rounds; round++) await admit();
  const checkMs = (performance.now() - startedAt) / rounds;
  startedAt = performance.now();
  for (let round = 0; round < 100; round++) await systemResolve("localhost");
  return { checkMs, resolverMs: (performance.now() - startedAt) / 100 };
}

function printTable(results: readonly LoadResult[]): void {
  console.log("subject          runtime       conc   req/s   CPU ms/req   median ms   p95 ms   RSS MB");
  for (const result of results) {
    const cells = [
      result.subject.padEnd(16),
      result.runtime.padEnd(13),
      String(result.concurrency).padStart(4),
      String(result.requestsPerSecond).padStart(7),
      result.cpuMsPerRequest.toFixed(3).padStart(12),
      result.medianMs.toFixed(3).padStart(11),
      result.p95Ms.toFixed(3).padStart(8),
      String(result.rssMb).padStart(8),
    ];
    console.log(cells.join(" "));
  }
}

/** Memory may settle while the run warms up, but must not grow afterwards. */
function checkFlat(result: LoadResult): void {
  const series = result.rssSeriesMb;
  const middle = series[Math.floor(series.length / 2)] ?? 0;
  const growth = (series.at(-1) ?? 0) - middle;
  console.log(`\nRSS over ${result.requests} requests: ${series.join(" ")} MB (second half ${growth} MB)`);
  if (growth > 30) throw new Error(`memory grew by ${growth} MB over the second half of the run`);
}

const directory = mkdtempSync(join(tmpdir(), "bench-fetch-"));
const site = Bun.spawn([process.execPath, here("fetch-site.ts")], { stdout: "pipe" });
try {
  const { port, length } = JSON.parse(await firstLine(site.stdout));
  const nodeClient = await buildForNode(directory);
  const subjects = [
    ["ours", process.execPath, here("fetch-client.ts")],
    ["ours", "node", nodeClient],
    ["undici.fetch", "node", nodeClient],
    ["undici.request", "node", nodeClient],
  ] as const;
  const url = `http://127.0.0.1:${port}${options.path}`;
  const results: LoadResult[] = [];
  for (const concurrency of [1, 16, 64]) {
    for (const [subject, runtime, client] of subjects) {
      const load = [url, length, options.requests, concurrency].map(String);
      // undici.request leaves decompression to its caller, so it is left out of that comparison.
      if (options.path !== "/page" && subject === "undici.request") continue;
      results.push(await run([runtime, client, subject, ...load]));
    }
  }
  console.log(`${cpus()[0]?.model ?? "unknown CPU"}, ${cpus().length} cores; page of ${length} characters\n`);
  printTable(results);
  const egress = await measureEgress();
  console.log(
    `\negress check: ${egress.checkMs.toFixed(4)} ms; the system's resolver: ${egress.resolverMs.toFixed(3)} ms`,
  );
  const flat = await run([
    process.execPath,
    here("fetch-client.ts"),
    "ours",
    url,
    String(length),
    options.flat,
    "16",
  ]);
  checkFlat(flat);
  const records = [...results, { subject: "egress", ...egress }, { ...flat, subject: "flat" }];
  if (options.out)
    await Bun.write(options.out, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
} finally {
  site.kill();
  rmSync(directory, { recursive: true, force: true });
}
