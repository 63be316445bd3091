import { readFileSync } from "node:fs";
import { percentile } from "../statistics.ts";

export type LoadOptions = {
  readonly url: string;
  readonly pid: number;
  readonly connections: number;
  /** The arguments of each call of root_search. */
  readonly calls: readonly object[];
  /** How many calls come before those that count. */
  readonly warmUp: number;
};

export type Load = {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server with its threads. */
  readonly cpuMsPerCall: number;
  /** The duration of the search itself, as the answers report it. */
  readonly searchMsPerCall: number;
  readonly rssMb: number;
  readonly peakRssMb: number;
  readonly hitsPerCall: number;
};

/** Calls root_search over this many simultaneous connections; fails when an answer has an error. */
export async function load({ url, pid, connections, calls, warmUp }: LoadOptions): Promise<Load> {
  await callAll(url, calls.slice(0, warmUp), connections);
  const cpuBefore = cpuMsOf(pid);
  const started = performance.now();
  const answers = await callAll(url, calls.slice(warmUp), connections);
  const elapsedMs = performance.now() - started;
  const cpuMs = cpuMsOf(pid) - cpuBefore;
  const mean = (pick: (answer: Answer) => number): number =>
    answers.reduce((total, answer) => total + pick(answer), 0) / answers.length;
  const times = answers.map(({ ms }) => ms);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (field: string): number =>
    Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024);
  return {
    callsPerSecond: Math.round((answers.length / elapsedMs) * 1000),
    p50Ms: round(percentile(times, 0.5)),
    p99Ms: round(percentile(times, 0.99)),
    cpuMsPerCall: round(cpuMs / answers.length),
    searchMsPerCall: round(mean(({ searchMs }) => searchMs)),
    rssMb: megabytes("VmRSS"),
    peakRssMb: megabytes("VmHWM"),
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

type Reply = {
  readonly result: {
    readonly structuredContent: {
      readonly error: string | null;
      readonly results: readonly unknown[];
      readonly stats: { readonly query_time_ms: number };
    };
  };
};

async function callOnce(url: string, call: object): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "root_search", arguments: call },
    }),
  });
  const { result } = (await response.json()) as Reply;
  const { error, results, stats } = result.structuredContent;
  if (error !== null) throw new Error(`an answer failed: ${error}`);
  return { ms: performance.now() - started, searchMs: stats.query_time_ms, hits: results.length };
}

/** Jiffies are hundredths of a second on every Linux that this runs on (proc(5)). */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
