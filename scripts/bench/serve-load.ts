import { join } from "node:path";
import { cpuMsOf, memoryMb, percentile } from "./bench.ts";
import type { HostileClients } from "./serve-hostile-clients.ts";

/** A server under load, with the process whose CPU and memory are measured. */
export type Subject = { readonly name: string; readonly url: string; readonly pid: number };

export type Load = {
  readonly connections: number;
  readonly seconds: number;
  /** Returns the page of the n-th request. */
  readonly pageOf: (request: number) => string;
};

/** The interval at which `/health` is requested during the load, in ms. */
const HEALTH_EVERY_MS = 20;

/** Sends requests over this many connections, one after another on each; every answer must be an article. */
export async function measureLoad(subject: Subject, name: string, load: Load) {
  const times: number[] = [];
  const healthTimes: number[] = [];
  const until = performance.now() + load.seconds * 1000;
  const cpuBefore = cpuMsOf(subject.pid);
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
    cpuMsPerRequest: (cpuMsOf(subject.pid) - cpuBefore) / times.length,
    rssMb: memoryMb(subject.pid, "VmRSS"),
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

export type HostileOptions = Omit<HostileClients, "url"> & { readonly pageOf: () => string };

const GOOD_CLIENTS = 4;
const PAUSE_MS = 20;

/**
 * Requests small pages while other clients send what costs most: pages of megabytes, bodies that never end or
 * are too large, malformed requests, cancelled crawls, and requests whose sender leaves. Each client has an
 * address of its own, which it claims as a proxy that the server trusts.
 */
export async function measureHostile(subject: Subject, options: HostileOptions) {
  const until = performance.now() + options.seconds * 1000;
  const isOn = (): boolean => performance.now() < until;
  const times: number[] = [];
  const healthTimes: number[] = [];
  const lost: Record<string, number> = {};
  const rssMb: number[] = [];
  const good = async (client: number): Promise<void> => {
    for (; isOn(); await Bun.sleep(PAUSE_MS)) {
      const started = performance.now();
      const [status, text] = await post(subject.url, `192.0.2.${client}`, "/", { url: options.pageOf() });
      times.push(performance.now() - started);
      if (status !== "200" || !text.includes('"title":"Chapter')) lost[status] = (lost[status] ?? 0) + 1;
    }
  };
  const probing = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(PAUSE_MS)) {
      const started = performance.now();
      await (await fetch(`${subject.url}/health`)).text();
      healthTimes.push(performance.now() - started);
    }
  };
  const sampling = async (): Promise<void> => {
    for (; isOn(); await Bun.sleep(1000)) rssMb.push(memoryMb(subject.pid, "VmRSS"));
  };
  const { site, seconds, slowSenders } = options;
  const asked: HostileClients = { url: subject.url, site, seconds, slowSenders };
  const clients = Bun.spawn(
    [process.execPath, join(import.meta.dir, "serve-hostile-clients.ts"), JSON.stringify(asked)],
    { stdout: "pipe" },
  );
  const answered = new Response(clients.stdout).text();
  await Promise.all([
    ...Array.from({ length: GOOD_CLIENTS }, (_, client) => good(client)),
    probing(),
    sampling(),
  ]);
  const hostile: Record<string, number> = JSON.parse(await answered);
  return {
    pages: times.length,
    // How many of these got no article, by status.
    lost,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    healthP99Ms: percentile(healthTimes, 0.99),
    // The answers that hostile clients got, by kind and status.
    hostile,
    // Once a second.
    rssMb,
  };
}
