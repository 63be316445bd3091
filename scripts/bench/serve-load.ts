import { readdirSync, readFileSync } from "node:fs";
import { percentile } from "./statistics.ts";

/** A server under load, with the process whose CPU and memory are measured. */
export type Subject = { readonly name: string; readonly url: string; readonly pid: number };

export type Load = {
  readonly connections: number;
  readonly seconds: number;
  /** Returns the page of the n-th request. */
  readonly pageOf: (request: number) => string;
};

export type Measured = {
  readonly subject: string;
  readonly load: string;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerRequest: number;
  readonly rssMb: number;
  readonly healthP50Ms: number;
  readonly healthP99Ms: number;
};

/** The interval at which `/health` is requested during the load, in ms. */
const HEALTH_EVERY_MS = 20;

/** Sends requests over this many connections, one after another on each; every answer must be an article. */
export async function measureLoad(subject: Subject, name: string, load: Load): Promise<Measured> {
  const times: number[] = [];
  const healthTimes: number[] = [];
  const until = performance.now() + load.seconds * 1000;
  const cpuBefore = cpuMs(subject.pid);
  let next = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const started = performance.now();
      await extract(subject, load.pageOf(next++));
      times.push(performance.now() - started);
    }
  };
  const prober = async (): Promise<void> => {
    while (performance.now() < until) {
      const started = performance.now();
      const response = await fetch(`${subject.url}/health`);
      await response.text();
      if (response.status !== 200) throw new Error(`${subject.name}: /health answered ${response.status}`);
      healthTimes.push(performance.now() - started);
      await Bun.sleep(HEALTH_EVERY_MS);
    }
  };
  const startedAt = performance.now();
  await Promise.all([prober(), ...Array.from({ length: load.connections }, client)]);
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    subject: subject.name,
    load: name,
    requests: times.length,
    requestsPerSecond: times.length / seconds,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    cpuMsPerRequest: (cpuMs(subject.pid) - cpuBefore) / times.length,
    rssMb: residentMb(subject.pid),
    healthP50Ms: percentile(healthTimes, 0.5),
    healthP99Ms: percentile(healthTimes, 0.99),
  };
}

/**
 * Requests one article.
 * @throws Error when the answer is none
 */
export async function extract({ name, url }: Subject, page: string): Promise<void> {
  const response = await fetch(`${url}/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: page }),
  });
  const { title } = (await response.json()) as { title?: unknown };
  if (response.status !== 200 || typeof title !== "string" || !title.startsWith("Chapter"))
    throw new Error(`${name} answered ${response.status} for ${page}: ${JSON.stringify(title)}`);
}

const CLOCK_TICK_MS = 10;

/** CPU time so far of the process, its threads and its children, in ms. */
function cpuMs(pid: number): number {
  const own = statOf(pid);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.parent === pid);
  return [own, ...children].reduce((total, stat) => total + (stat?.ticks ?? 0) * CLOCK_TICK_MS, 0);
}

function statOf(pid: number): { readonly parent: number; readonly ticks: number } | null {
  try {
    // The name may contain spaces. After it, state is the first field, and utime and stime are the 12th and
    // 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null; // it has ended
  }
}

/** The resident set of a process, in MB. */
export const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** Sends one request of one client and returns its status, or what went wrong instead, with the answer. */
export async function post(
  url: string,
  client: string,
  path: string,
  body: object | string,
  signal: AbortSignal | null = null,
): Promise<readonly [status: string, text: string]> {
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": client },
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal,
    });
    return [String(response.status), await response.text()];
  } catch (error) {
    return [error instanceof Error ? error.name : "error", ""];
  }
}
