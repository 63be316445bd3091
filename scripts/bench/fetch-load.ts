/**
 * Runs requests at a fixed concurrency and measures them. The subjects of the fetch bench share it, on Bun
 * and on Node.
 */
export type LoadResult = {
  readonly subject: string;
  readonly runtime: string;
  readonly concurrency: number;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly cpuMsPerRequest: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly rssMb: number;
  /** The resident set at each tenth of the run, in MB. */
  readonly rssSeriesMb: readonly number[];
};

export type LoadOptions = {
  readonly subject: string;
  readonly runtime: string;
  readonly concurrency: number;
  readonly requests: number;
  /** Returns the length of the page's text, which is checked. */
  readonly fetchOnce: () => Promise<number>;
  readonly expectedLength: number;
};

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { requests, concurrency, fetchOnce } = options;
  const latencies = new Float64Array(requests);
  const rssSeriesMb: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < requests) {
      const index = next++;
      if (index % Math.max(1, Math.floor(requests / 10)) === 0) rssSeriesMb.push(rssMb());
      const startedAt = performance.now();
      const length = await fetchOnce();
      latencies[index] = performance.now() - startedAt;
      if (length !== options.expectedLength)
        throw new Error(`${options.subject}: a page of ${length} characters`);
    }
  };
  for (let warm = 0; warm < 300; warm++) await fetchOnce();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(cpu);
  latencies.sort();
  return {
    subject: options.subject,
    runtime: options.runtime,
    concurrency,
    requests,
    requestsPerSecond: Math.round(requests / seconds),
    cpuMsPerRequest: round((used.user + used.system) / 1000 / requests),
    medianMs: round(latencies[Math.floor(requests * 0.5)] ?? 0),
    p95Ms: round(latencies[Math.floor(requests * 0.95)] ?? 0),
    rssMb: rssMb(),
    rssSeriesMb,
  };
}

const rssMb = (): number => Math.round(process.memoryUsage().rss / 1e6);

const round = (value: number): number => Math.round(value * 1000) / 1000;
