import { join } from "node:path";
import type { HostileClients } from "./serve-hostile-clients.ts";
import { post, residentMb, type Subject } from "./serve-load.ts";
import { percentile } from "./statistics.ts";

export type HostileOptions = Omit<HostileClients, "url"> & { readonly pageOf: () => string };

export type HostileMeasured = {
  /** How many pages well-behaved clients requested. */
  readonly pages: number;
  /** How many of these got no article, by status. */
  readonly lost: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly healthP99Ms: number;
  /** The answers that hostile clients got, by kind and status. */
  readonly hostile: Readonly<Record<string, number>>;
  /** The resident set, once a second. */
  readonly rssMb: readonly number[];
};

const GOOD_CLIENTS = 4;
const PAUSE_MS = 20;

/**
 * Requests small pages while other clients send what costs most: pages of megabytes, bodies that never end or
 * are too large, malformed requests, cancelled crawls, and requests whose sender leaves. Each client has an
 * address of its own, which it claims as a proxy that the server trusts.
 */
export async function measureHostile(subject: Subject, options: HostileOptions): Promise<HostileMeasured> {
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
    for (; isOn(); await Bun.sleep(1000)) rssMb.push(residentMb(subject.pid));
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
    lost,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    healthP99Ms: percentile(healthTimes, 0.99),
    hostile,
    rssMb,
  };
}
