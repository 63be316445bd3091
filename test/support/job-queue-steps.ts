import type { ClaimedJob, JobEvent, JobQueue, JobRecord } from "../../src/crawler/index.ts";
import { type JobQueueLimits, MAX_EVENTS } from "../../src/crawler/queue/jobs.ts";
import { until } from "./until.ts";

export type Spec = { readonly url: string; readonly secret: string };

/** A place that several processes have open. */
export type QueuePlace = AsyncDisposable & {
  /** Opens the queue as one more process does. */
  open(limits: JobQueueLimits): Promise<JobQueue<Spec>>;
  /** Everything that the place stores and shows, as text. */
  dump(): Promise<string>;
  /** Lets time pass for events and ended jobs. */
  pass(ms: number): Promise<void>;
};

export type OpenQueue = (limits?: Partial<JobQueueLimits>) => Promise<JobQueue<Spec>>;

export const specOf = (url: string): Spec => ({ url, secret: "hunter2" });

export async function submit(
  queue: JobQueue<Spec>,
  place: string,
  shown: JobRecord["shown"] = {},
): Promise<JobRecord> {
  const job = await queue.submit({ place, shown, spec: specOf(place) });
  if (typeof job === "string") throw new Error(`the job was not accepted: ${job}`);
  return job;
}

export async function claim(queue: JobQueue<Spec>): Promise<ClaimedJob<Spec>> {
  const job = await queue.claim();
  if (!job) throw new Error("there was no job");
  return job;
}

/** Claims as soon as the process that has the job has been silent for too long. */
export async function taking(queue: JobQueue<Spec>): Promise<ClaimedJob<Spec>> {
  const job = await until(() => queue.claim(), Boolean);
  if (!job) throw new Error("there was no job");
  return job;
}

export const events = (...urls: string[]): JobEvent[] => urls.map((url) => ({ kind: "page", body: { url } }));

export const completed = () => ({ state: "completed", error: null, after: 0, events: [] }) as const;

export const numbersOf = async (queue: JobQueue<Spec>, id: string): Promise<number[]> =>
  (await queue.eventsAfter(id, 0, 2 * MAX_EVENTS)).map(({ number }) => number);

export const urlsOf = async (queue: JobQueue<Spec>, id: string): Promise<string[]> =>
  (await queue.eventsAfter(id, 0, 10_000)).map(({ body }) => JSON.parse(body).url);
