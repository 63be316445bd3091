import { createHmac } from "node:crypto";
import type { App } from "../../../../app/index.ts";
import type { Database } from "../../../../base/database/index.ts";
import { FAILURE_OUTCOMES, Failure } from "../../../../base/failure.ts";
import type { Log } from "../../../../base/log.ts";
import type { JobQueue, JobRecord, StoredEvent } from "../../../../crawler/index.ts";
import { isRetryableStatus } from "../../../../fetching/index.ts";
import type { PageUrl } from "../../../../urls/index.ts";
import { describe } from "../../../middleware/problem.ts";
import { isAway } from "./reporter.ts";
import { type CrawlSpec, jobStatus } from "./spec.ts";
import {
  type Webhook,
  type WebhookEvent,
  type WebhookForm,
  WebhookStore,
  type WebhookTarget,
} from "./webhook-store.ts";

/** How long a receiver may take to answer, in ms. */
const ANSWER_MS = 10_000;
/** For how long a process has a webhook that it has taken, in ms; another goes on after that if it dies. */
const TAKEN_MS = 2 * ANSWER_MS;
/** For how long an event is tried, in ms. */
const PATIENCE_MS = 24 * 3600_000;
/** The waits between tries: 1, 2, 4 … s, at most an hour, each shortened by up to a half at random. */
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 3600_000;
/** Receivers that this process talks to at once. */
const MAX_AT_ONCE = 16;
/** How many events are read at once. */
const BATCH = 100;

type WebhookParts = {
  readonly app: App;
  readonly queue: JobQueue<CrawlSpec>;
  readonly database: Database;
  readonly log: Log;
  /** An event in a form that is not our own; null for one that is not told. */
  readonly eventOf: (
    form: WebhookForm,
    event: { readonly kind: WebhookEvent; readonly body: string; readonly job: JobRecord },
  ) => Promise<Content | null>;
};

/** The body of a delivery. */
type Content = Readonly<Record<string, unknown>>;

/**
 * Delivers the events of jobs to their webhooks. The events are those that the queue keeps for every job, so a receiver
 * that is slow or away costs no memory and holds no crawl up; what the queue keeps no longer is counted as dropped.
 * Deliveries of a job come one after another. Of several processes, the one that takes a webhook first delivers.
 */
export class Webhooks implements AsyncDisposable {
  readonly #parts: WebhookParts;
  readonly #store: WebhookStore;
  readonly #delivering = new Map<string, Promise<void>>();
  readonly #end = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #looking: Promise<void> | null = null;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#store = new WebhookStore(parts.database);
  }

  /** Delivers from now on, until it is disposed of. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#parts.queue.beatMs);
  }

  /** Has a job's events delivered, from its first one. */
  add(job: string, target: WebhookTarget): void {
    this.#store.add(job, target);
  }

  /** What became of the deliveries of a job; null for a job without a webhook, or one that another machine accepted. */
  statusOf(job: string) {
    const webhook = this.#store.get(job);
    if (!webhook) return null;
    const { delivered, failed, dropped, lastError, target } = webhook;
    return { delivered, failed, dropped, is_over: target === null, last_error: lastError };
  }

  #look(): void {
    this.#looking ??= this.#takeDue()
      .catch((error: unknown) => {
        // The database itself reports that it cannot be reached.
        if (!isAway(error)) this.#parts.log.error("webhooks cannot be read", { reason: describe(error) });
      })
      .finally(() => {
        this.#looking = null;
      });
  }

  async #takeDue(): Promise<void> {
    const now = Date.now();
    const due = this.#store.due(now, now + PATIENCE_MS).filter(({ job }) => !this.#delivering.has(job));
    const jobs = due.length === 0 ? [] : await this.#parts.queue.find(due.map(({ job }) => job));
    const found = new Map(jobs.map((job) => [job.id, job]));
    for (const webhook of due) {
      if (this.#delivering.size >= MAX_AT_ONCE || this.#end.signal.aborted) return;
      const job = found.get(webhook.job);
      if (job && job.lastEvent <= webhook.seen) continue;
      if (!this.#store.take(webhook, now + TAKEN_MS)) continue;
      const done = this.#deliverAll(webhook, job).finally(() => this.#delivering.delete(webhook.job));
      this.#delivering.set(webhook.job, done);
    }
  }

  async #deliverAll(taken: Webhook, job: JobRecord | undefined): Promise<void> {
    const { queue, log } = this.#parts;
    let webhook = taken;
    const keep = (next: Partial<Webhook>): void => {
      webhook = { ...webhook, nextAt: Date.now() + TAKEN_MS, ...next };
      this.#store.write(webhook);
    };
    try {
      // The queue forgets jobs that ended long ago.
      if (!job) keep({ target: null });
      while (webhook.target) {
        const events = await queue.eventsAfter(webhook.job, webhook.seen, BATCH);
        if (events.length === 0) return keep({ nextAt: 0 });
        for (const event of events) {
          keep(await this.#deliver(webhook, event));
          if (webhook.seen < event.number) return;
        }
      }
    } catch (error) {
      // After the time for which it was taken it is tried again.
      if (!isAway(error))
        log.error("a webhook cannot be delivered", { job_id: webhook.job, reason: describe(error) });
    }
  }

  /** Delivers the next event. @returns what changes; `seen` stays where the event is to be tried again */
  async #deliver(webhook: Webhook, event: StoredEvent): Promise<Partial<Webhook>> {
    const { target, job, seen, delivered, failed, tries } = webhook;
    const body: unknown = JSON.parse(event.body);
    const kind = target && kindOf(event, body);
    const dropped = webhook.dropped + this.#gap(webhook, event.number - seen - 1);
    const isOver = event.kind === "end" && { target: null };
    const done = { ...{ seen: event.number, tries: 0, firstTryAt: null, dropped }, ...isOver };
    if (!kind || !target.events.includes(kind)) return done;
    const firstTryAt = webhook.firstTryAt ?? Date.now();
    const id = `${job}-${event.number}`;
    const content = target.form
      ? await this.#inForm(target.form, kind, event, job)
      : {
          ...{ event: kind, id, job_id: job, time: new Date(firstTryAt).toISOString() },
          ...(await this.#about(event, body, job)),
        };
    if (content === null) return done;
    const outcome = await this.#post(target, id, content);
    const { log } = this.#parts;
    if (outcome.kind === "delivered") {
      log.debug("webhook delivered", { job_id: job, event: kind, tries: tries + 1 });
      return { ...done, delivered: delivered + 1 };
    }
    if (outcome.kind === "interrupted") return { nextAt: 0 };
    const { code, message, waitMs } = outcome;
    const lastError = { code, message, time: new Date().toISOString() };
    const fields = { job_id: job, event: kind, code, reason: message, tries: tries + 1 };
    const nextAt = Date.now() + Math.max(waitMs ?? 0, backOffMs(tries));
    if (waitMs !== null && nextAt - firstTryAt < PATIENCE_MS) {
      if (tries === 0) log.warning("webhook not delivered, to be tried again", fields);
      return { seen: event.number - 1, dropped, tries: tries + 1, firstTryAt, lastError, nextAt };
    }
    log.warning("webhook not delivered", fields);
    // A receiver that was away for so long is not told anything more.
    return { ...done, ...(waitMs !== null && { target: null }), failed: failed + 1, lastError };
  }

  /** Counts events that are not there any more; they can only be pages and notices. */
  #gap({ job, target }: Webhook, events: number): number {
    if (events <= 0 || !target?.events.includes("page")) return 0;
    this.#parts.log.warning("webhook events dropped", { job_id: job, events });
    return events;
  }

  async #about(event: StoredEvent, body: unknown, id: string): Promise<object> {
    if (event.kind === "page") return { page: body };
    if (event.kind === "started") return body as object; // `toJobEvent` made it
    const job = await this.#parts.queue.get(id);
    return { job: job && jobStatus(job) };
  }

  /** An event as another API tells it; null where that tells nothing. */
  async #inForm(
    form: WebhookForm,
    kind: WebhookEvent,
    { body }: StoredEvent,
    id: string,
  ): Promise<Content | null> {
    const job = await this.#parts.queue.get(id);
    return job && (await this.#parts.eventOf(form, { kind, body, job }));
  }

  async #post(target: WebhookTarget, id: string, json: Content): Promise<Outcome> {
    const { url, authorization, secret, caller } = target;
    const signal = this.#end.signal;
    const signature =
      secret === null ? null : sign(JSON.stringify(json), secret, Math.floor(Date.now() / 1000));
    const headers = {
      ...target.form?.headers,
      "x-webhook-id": id,
      ...(signature !== null && { "x-webhook-signature": signature }),
    };
    try {
      // An address that was checked when the job was accepted is the one to ask.
      const asked = url as PageUrl;
      const { status, retryAfterMs } = await this.#parts.app.post(asked, {
        ...{ json, headers, caller, authorization, signal },
        timeoutMs: ANSWER_MS,
      });
      return outcomeOf(status, retryAfterMs);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (signal.aborted) return { kind: "interrupted" };
      // An answer that is too long, or leads elsewhere.
      if (error.targetStatus !== null) return outcomeOf(error.targetStatus, null);
      // Messages of failures name the URL, which may be a secret.
      const { code } = error;
      const mayPass = code === "network" || code === "timeout";
      return { kind: "failed", code, message: FAILURE_OUTCOMES[code].meaning, waitMs: mayPass ? 0 : null };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#end.abort();
    await this.#looking;
    await Promise.all(this.#delivering.values());
  }
}

type Outcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "interrupted" }
  /** With the least wait before the next try, in ms; null when there is to be none. */
  | {
      readonly kind: "failed";
      readonly code: string;
      readonly message: string;
      readonly waitMs: number | null;
    };

function outcomeOf(status: number, retryAfterMs: number | null): Outcome {
  if (status >= 200 && status < 300) return { kind: "delivered" };
  const waitMs = isRetryableStatus(status) ? (retryAfterMs ?? 0) : null;
  return { kind: "failed", code: "http_status", message: `the receiver answered HTTP ${status}`, waitMs };
}

const backOffMs = (tries: number): number =>
  Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * (1 - Math.random() / 2);

/** The signature of a body: the time in seconds and the HMAC-SHA256 of `time.body`, in hexadecimal. */
const sign = (body: string, secret: string, time: number): string =>
  `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`;

/** The name of an event for webhooks; null for those that they are not told. */
function kindOf({ kind }: StoredEvent, body: unknown): WebhookEvent | null {
  if (kind === "started" || kind === "page") return kind;
  if (kind !== "end") return null;
  // The queue wrote it.
  const { status, error } = body as { readonly status: "completed" | "failed"; readonly error: Error | null };
  return error && "code" in error && error.code === "cancelled" ? "cancelled" : status;
}
