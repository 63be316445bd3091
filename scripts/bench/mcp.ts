/**
 * Measures search over MCP: the built program with a tenant of 10 000 pages, beside the bare SDK, in one run.
 *
 *   bun scripts/bench/mcp.ts [--pages N] [--calls N] [--connections N] [--runs N] [--tenants N] [--out FILE]
 *
 * Every query is different, and nothing caches results. The bare SDK answers a constant, one of our answers
 * (scripts/bench/mcp/floor.ts). The cost of a call outside search() is its CPU minus that of the same searches alone
 * (scripts/bench/mcp/search-alone.ts). Then it measures many small tenants: the time from the start of the program to
 * its first answer, and the memory after each tenant has answered.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { describeCommit, describeMachine } from "./machine.ts";
import { type Load, load } from "./mcp/load.ts";
import { createVocabulary, seededRandom, writePages } from "./mcp/pages.ts";
import { parseCount } from "./options.ts";
import { percentile } from "./statistics.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PROGRAM = join(ROOT, "dist", "article-extractor");
const WARM_UP = 1000;
const PAGES_PER_SMALL_TENANT = 200;

const { values } = parseArgs({
  options: {
    pages: { type: "string" },
    calls: { type: "string" },
    connections: { type: "string" },
    runs: { type: "string" },
    tenants: { type: "string" },
    out: { type: "string" },
  },
});
const pages = parseCount("--pages", values.pages) ?? 10_000;
const calls = parseCount("--calls", values.calls) ?? 10_000;
const connections = parseCount("--connections", values.connections) ?? 20;
const runs = parseCount("--runs", values.runs) ?? 3;
const tenantCount = parseCount("--tenants", values.tenants) ?? 100;

const scratch = await mkdtemp(join(tmpdir(), "bench-mcp-"));
const random = seededRandom(1);
const words = createVocabulary(random);

type Serving = {
  readonly url: string;
  readonly pid: number;
  readonly startedAt: number;
  stop(): Promise<void>;
};

async function serve(deployment: string): Promise<Serving> {
  const startedAt = performance.now();
  const child = Bun.spawn([PROGRAM, "serve", "search", "--config", deployment, "--port", "0"], {
    env: { PATH: process.env.PATH ?? "", DOCS_SEARCH_STATE_DIR: join(scratch, "state") },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  for await (const piece of child.stderr) {
    said += new TextDecoder().decode(piece);
    const url = /"url":"(http:[^"]+)"/.exec(said)?.[1];
    if (url)
      return {
        url,
        pid: child.pid,
        startedAt,
        stop: async () => {
          child.kill();
          await child.exited;
        },
      };
  }
  throw new Error(`the server ended: ${said}`);
}

async function writeDeployment(
  name: string,
  codenames: readonly string[],
  canBuild: boolean,
): Promise<string> {
  const path = join(scratch, `${name}.json`);
  const tenants = codenames.map((codename) => ({
    source_type: "filesystem",
    codename,
    docs_name: codename,
    docs_root_dir: join(scratch, codename),
  }));
  const infrastructure = { mcp_host: "127.0.0.1", log_level: "error", allow_index_builds: canBuild };
  await Bun.write(path, JSON.stringify({ infrastructure, tenants }));
  return path;
}

async function post(
  url: string,
  args: object,
): Promise<{ readonly structuredContent: { readonly error: string | null } }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "root_search", arguments: args },
    }),
  });
  return ((await response.json()) as { result: { structuredContent: { error: string | null } } }).result;
}

async function untilIndexed(url: string, codename: string): Promise<void> {
  for (;;) {
    const { structuredContent } = await post(url, { tenant_codename: codename, query: words.telling() });
    if (structuredContent.error === null) return;
    await Bun.sleep(100);
  }
}

function queriesFor(codename: string, count: number): object[] {
  const queries = new Set<string>();
  while (queries.size < count)
    queries.add(Array.from({ length: 2 + Math.floor(random() * 3) }, words.telling).join(" "));
  return [...queries].map((query) => ({ tenant_codename: codename, query }));
}

async function startFloor(constant: object): Promise<Serving> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "mcp", "floor.ts")], {
    stdio: [new Blob([JSON.stringify(constant)]), "pipe", "inherit"],
  });
  const { value } = await child.stdout.getReader().read();
  const stop = async (): Promise<void> => {
    child.kill();
    await child.exited;
  };
  const port = Number(new TextDecoder().decode(value));
  return { url: `http://127.0.0.1:${port}/mcp`, pid: child.pid, startedAt: performance.now(), stop };
}

async function searchAlone(calls: readonly object[]): Promise<number> {
  const queries = calls.map((call) => ("query" in call ? String(call.query) : ""));
  const task = { index: join(scratch, "state/big/search.index"), queries, warmUp: WARM_UP };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "mcp", "search-alone.ts")], {
    stdio: [new Blob([JSON.stringify(task)]), "pipe", "inherit"],
  });
  return Number(await new Response(child.stdout).text());
}

type Measured = { readonly ours: Load[]; readonly floor: Load[]; readonly searchCpuMs: number[] };

async function benchCalls(): Promise<Measured> {
  await writePages(join(scratch, "big"), pages, words);
  const builder = await serve(await writeDeployment("build", ["big"], true));
  await untilIndexed(builder.url, "big");
  await builder.stop();
  const deployment = await writeDeployment("big", ["big"], false);
  const measured: Measured = { ours: [], floor: [], searchCpuMs: [] };
  for (let number = 0; number < runs; number++) {
    const ours = await serve(deployment);
    const constant = await post(ours.url, {
      tenant_codename: "big",
      query: `${words.telling()} ${words.telling()}`,
    });
    const options = { connections, warmUp: WARM_UP };
    const queries = queriesFor("big", calls + WARM_UP);
    measured.ours.push(await load({ ...ours, ...options, calls: queries }));
    await ours.stop();
    measured.searchCpuMs.push(await searchAlone(queries));
    const floor = await startFloor(constant);
    measured.floor.push(await load({ ...floor, ...options, calls: queries }));
    await floor.stop();
    show(`run ${number + 1}`, measured.ours.at(-1), measured.floor.at(-1));
  }
  return measured;
}

function show(title: string, ours?: Load, floor?: Load): void {
  for (const [name, one] of [
    ["program", ours],
    ["floor", floor],
  ] as const) {
    if (!one) continue;
    const { callsPerSecond, p50Ms, p99Ms, cpuMsPerCall, searchMsPerCall, rssMb, peakRssMb } = one;
    const search = name === "floor" ? "" : `, search ${searchMsPerCall} ms`;
    console.log(
      `${title} ${name.padEnd(8)} ${callsPerSecond} calls/s  p50 ${p50Ms} ms  p99 ${p99Ms} ms  CPU ${cpuMsPerCall} ms a call${search}  RSS ${rssMb} MB, peak ${peakRssMb} MB`,
    );
  }
}

type SmallTenants = {
  readonly canBuild: boolean;
  readonly firstAnswerMs: number[];
  readonly rssMb: number[];
};

/**
 * Measures the time to the first answer, and the memory after every tenant was searched, with existing
 * indexes.
 */
async function benchSmallTenants(canBuild: boolean): Promise<SmallTenants> {
  const codenames = Array.from({ length: tenantCount }, (_, index) => `small-${index}`);
  if (!canBuild) {
    for (const codename of codenames)
      await writePages(join(scratch, codename), PAGES_PER_SMALL_TENANT, words);
    const builder = await serve(await writeDeployment("small-build", codenames, true));
    for (const codename of codenames) await untilIndexed(builder.url, codename);
    await builder.stop();
  }
  const deployment = await writeDeployment("small", codenames, canBuild);
  const measured = { canBuild, firstAnswerMs: [] as number[], rssMb: [] as number[] };
  for (let number = 0; number < runs; number++) {
    const serving = await serve(deployment);
    const first = await post(serving.url, { tenant_codename: codenames.at(-1), query: words.telling() });
    if (first.structuredContent.error !== null)
      throw new Error(`no answer: ${first.structuredContent.error}`);
    measured.firstAnswerMs.push(Math.round(performance.now() - serving.startedAt));
    for (const codename of codenames)
      await post(serving.url, { tenant_codename: codename, query: words.telling() });
    const status = await Bun.file(`/proc/${serving.pid}/status`).text();
    measured.rssMb.push(Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024));
    await serving.stop();
  }
  console.log(
    `${tenantCount} tenants of ${PAGES_PER_SMALL_TENANT} pages, server ${canBuild ? "builds" : "does not build"}: first answer ${measured.firstAnswerMs.join(", ")} ms after the start, peak RSS after all were searched ${measured.rssMb.join(", ")} MB`,
  );
  return measured;
}

const machine = describeMachine();
const commit = await describeCommit(ROOT);
console.log(`${machine}, ${commit}; ${pages} pages, ${calls} calls, ${connections} connections`);
const { ours, floor, searchCpuMs } = await benchCalls();
const median = (values: readonly number[]): number => percentile(values, 0.5);
const overheadMs = median(ours.map(({ cpuMsPerCall }, run) => cpuMsPerCall - (searchCpuMs[run] ?? 0)));
const floorMs = median(floor.map(({ cpuMsPerCall }) => cpuMsPerCall));
console.log(
  `search() alone: ${median(searchCpuMs).toFixed(3)} ms CPU; outside of it: ${overheadMs.toFixed(3)} ms CPU a call, ${(overheadMs / floorMs).toFixed(2)} times the floor's ${floorMs.toFixed(3)} ms`,
);
const small = [await benchSmallTenants(false), await benchSmallTenants(true)];
if (values.out) {
  await mkdir(dirname(values.out), { recursive: true });
  const settings = { pages, calls, connections, runs, tenantCount };
  const report = { machine, commit, settings, ours, floor, searchCpuMs, overheadMs, floorMs, small };
  await Bun.write(values.out, `${JSON.stringify(report, null, 2)}\n`);
}
await rm(scratch, { recursive: true });
