import { callSearch, cpuMsOf, memoryMb, percentile, sum } from "../bench.ts";

export type LoadOptions = {
  readonly url: string;
  readonly pid: number;
  readonly connections: number;
  /** The arguments of each call of root_search. */
  readonly calls: readonly object[];
  /** How many calls come before those that count. */
  readonly warmUp: number;
};

export type Load = Awaited<ReturnType<typeof load>>;

/** Calls root_search over this many simultaneous connections; fails when an answer has an error. */
export async function load({ url, pid, connections, calls, warmUp }: LoadOptions) {
  await callAll(url, calls.slice(0, warmUp), connections);
  const cpuBefore = cpuMsOf(pid);
  const started = performance.now();
  const answers = await callAll(url, calls.slice(warmUp), connections);
  const elapsedMs = performance.now() - started;
  const cpuMs = cpuMsOf(pid) - cpuBefore;
  const mean = (pick: (answer: Answer) => number): number => sum(answers.map(pick)) / answers.length;
  const times = answers.map(({ ms }) => ms);
  return {
    callsPerSecond: Math.round((answers.length / elapsedMs) * 1000),
    p50Ms: round(percentile(times, 0.5)),
    p99Ms: round(percentile(times, 0.99)),
    // CPU time of the server with its threads.
    cpuMsPerCall: round(cpuMs / answers.length),
    // The duration of the search itself, as the answers report it.
    searchMsPerCall: round(mean(({ searchMs }) => searchMs)),
    rssMb: Math.round(memoryMb(pid, "VmRSS")),
    peakRssMb: Math.round(memoryMb(pid, "VmHWM")),
    hitsPerCall: round(mean(({ hits }) => hits)),
  };
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

type Answer = { readonly ms: number; readonly searchMs: number; readonly hits: number };

async function callAll(url: string, calls: readonly object[], connections: number): Promise<Answer[]> {
  const queue = calls.values();
  const answers: Answer[] = [];
  const work = async (): Promise<void> => {
    for (const call of queue) answers.push(await callOnce(url, call));
  };
  await Promise.all(Array.from({ length: connections }, work));
  return answers;
}

async function callOnce(url: string, call: object): Promise<Answer> {
  const started = performance.now();
  const { structuredContent } = await callSearch(`${url}/mcp`, call);
  const { error, results, stats } = structuredContent;
  if (error !== null) throw new Error(`an answer failed: ${error}`);
  return { ms: performance.now() - started, searchMs: stats.query_time_ms, hits: results.length };
}
