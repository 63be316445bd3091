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
import { join } from "node:path";
import { seededRandom } from "../../test/support/damage-pages.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import {
  callSearch,
  introduce,
  keep,
  linesOf,
  median,
  memoryMb,
  PROGRAM,
  printTable,
  readOptions,
  startServer,
} from "./bench.ts";
import { type Load, load } from "./mcp/load.ts";
import { createVocabulary, writePages } from "./mcp/pages.ts";

const WARM_UP = 1000;
const PAGES_PER_SMALL_TENANT = 200;

const options = readOptions({ pages: 10_000, calls: 10_000, connections: 20, runs: 3, tenants: 100 });
const { pages, calls, connections, runs, tenants: tenantCount } = options;

using directory = temporaryDirectory();
const { path: scratch } = directory;
const random = seededRandom(1);
const words = createVocabulary(random);

const serve = (deployment: string) =>
  startServer((port) => [PROGRAM, "serve", "search", "--config", deployment, "--port", port], {
    PATH: process.env.PATH ?? "",
    DOCS_SEARCH_STATE_DIR: join(scratch, "state"),
  });

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
  // One name, so that all of them find the index that one has built.
  await Bun.write(path, JSON.stringify({ name: "bench", infrastructure, tenants }));
  return path;
}

async function untilIndexed(url: string, codename: string): Promise<void> {
  for (;;) {
    const { structuredContent } = await callSearch(`${url}/mcp`, {
      tenant_codename: codename,
      query: words.telling(),
    });
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

async function startFloor(constant: object) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "mcp", "floor.ts")], {
    stdio: [new Blob([JSON.stringify(constant)]), "pipe", "inherit"],
  });
  const { value: port } = await linesOf(child.stdout).next();
  const stop = async (): Promise<void> => {
    child.kill();
    await child.exited;
  };
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, [Symbol.asyncDispose]: stop };
}

async function searchAlone(calls: readonly object[]): Promise<number> {
  const queries = calls.map((call) => ("query" in call ? String(call.query) : ""));
  const [index = ""] = new Bun.Glob("state/big@*/search.index").scanSync({ cwd: scratch, absolute: true });
  const task = { index, queries, warmUp: WARM_UP };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "mcp", "search-alone.ts")], {
    stdio: [new Blob([JSON.stringify(task)]), "pipe", "inherit"],
  });
  return Number(await new Response(child.stdout).text());
}

async function benchCalls() {
  await writePages(join(scratch, "big"), pages, words);
  {
    await using builder = await serve(await writeDeployment("build", ["big"], true));
    await untilIndexed(builder.url, "big");
  }
  const deployment = await writeDeployment("big", ["big"], false);
  const measured = { ours: [] as Load[], floor: [] as Load[], searchCpuMs: [] as number[] };
  const settings = { connections, warmUp: WARM_UP };
  for (let number = 0; number < runs; number++) {
    const queries = queriesFor("big", calls + WARM_UP);
    let constant: object;
    {
      await using ours = await serve(deployment);
      const query = `${words.telling()} ${words.telling()}`;
      constant = await callSearch(`${ours.url}/mcp`, { tenant_codename: "big", query });
      measured.ours.push(await load({ ...ours, ...settings, calls: queries }));
    }
    measured.searchCpuMs.push(await searchAlone(queries));
    await using floor = await startFloor(constant);
    measured.floor.push(await load({ ...floor, ...settings, calls: queries }));
  }
  return measured;
}

/**
 * Measures the time to the first answer, and the memory after every tenant was searched, with existing
 * indexes.
 */
async function benchSmallTenants(canBuild: boolean) {
  const codenames = Array.from({ length: tenantCount }, (_, index) => `small-${index}`);
  if (!canBuild) {
    for (const codename of codenames)
      await writePages(join(scratch, codename), PAGES_PER_SMALL_TENANT, words);
    await using builder = await serve(await writeDeployment("small-build", codenames, true));
    for (const codename of codenames) await untilIndexed(builder.url, codename);
  }
  const deployment = await writeDeployment("small", codenames, canBuild);
  const measured = [];
  for (let number = 0; number < runs; number++) {
    await using serving = await serve(deployment);
    const ask = (codename = "") =>
      callSearch(`${serving.url}/mcp`, { tenant_codename: codename, query: words.telling() });
    const { structuredContent } = await ask(codenames.at(-1));
    if (structuredContent.error !== null) throw new Error(`no answer: ${structuredContent.error}`);
    const firstAnswerMs = Math.round(performance.now() - serving.startedAt);
    for (const codename of codenames) await ask(codename);
    const server = `server ${canBuild ? "builds" : "does not build"}`;
    measured.push({ server, firstAnswerMs, peakRssMb: Math.round(memoryMb(serving.pid, "VmHWM")) });
  }
  return measured;
}

const about = await introduce(`${pages} pages, ${calls} calls, ${connections} connections`);
const { ours, floor, searchCpuMs } = await benchCalls();
printTable([
  ...ours.map((run) => ({ server: "program", ...run })),
  ...floor.map((run) => ({ server: "floor", ...run })),
]);
const overheadMs = median(ours.map(({ cpuMsPerCall }, run) => cpuMsPerCall - (searchCpuMs[run] ?? 0)));
const floorMs = median(floor.map(({ cpuMsPerCall }) => cpuMsPerCall));
console.log(
  `search() alone: ${median(searchCpuMs).toFixed(3)} ms CPU; outside of it: ${overheadMs.toFixed(3)} ms CPU a call, ${(overheadMs / floorMs).toFixed(2)} times the floor's ${floorMs.toFixed(3)} ms\n`,
);
const small = [...(await benchSmallTenants(false)), ...(await benchSmallTenants(true))];
console.log(`${tenantCount} tenants of ${PAGES_PER_SMALL_TENANT} pages`);
printTable(small);
await keep(options.out, {
  ...about,
  pages,
  calls,
  runs,
  ours,
  floor,
  searchCpuMs,
  overheadMs,
  floorMs,
  small,
});
