import { onAbort, pause } from "../../../../base/abort.ts";
import { orNull } from "../../../../base/failure.ts";
import type { JobRecord, StoredEvent } from "../../../../crawler/index.ts";
import { ClientCounts } from "../../../middleware/limits.ts";
import { ProblemError } from "../../../middleware/problem.ts";
import { streamAnswer, streamOf } from "../../../middleware/unread.ts";
import { type ApiCall, type ApiOperation, problem, RETRY_AFTER, UNKNOWN_JOB, z } from "../../openapi.ts";
import { encoded } from "../jobs/download.ts";
import { isOver, jobStatus } from "../jobs/spec.ts";
import type { ExtractorParts } from "../parts.ts";
import { requireJob } from "./crawl.ts";

/** How often a silent stream sends a sign of life, in ms; proxies cut streams that are silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** The most streams of one process; they do not count as requests under way. */
const MAX_STREAMS = 1000;
const MAX_STREAMS_PER_CLIENT = 100;

/** One event; its `data` is JSON. */
const ServerEvent = z
  .object({
    event: z.string().optional(),
    id: z.string().optional(),
    data: z.string().optional(),
    retry: z.int().optional(),
  })
  .openapi("ServerEvent");

/** The operation `GET /crawl/{job_id}/events`. */
export function eventsOperation(parts: ExtractorParts): ApiOperation {
  const streams = new ClientCounts();
  return {
    method: "get",
    path: "/crawl/{job_id}/events",
    tag: "crawl jobs",
    summary: "Follow a job",
    description: [
      "Server-sent events: `progress` (the status record, when it changes), `page` (an entry as in the manifest),",
      "`started`, `notice`, and last `end` (the status record). Events have ids; `Last-Event-ID` goes on behind one.",
      "The newest 500 events of a job are kept, and up to 20000 of the last two minutes. A `gap` names the numbers of",
      "events that the stream leaves out since they are kept no longer.",
    ].join(" "),
    params: z.object({ job_id: z.string().min(1) }),
    headers: z.object({
      "last-event-id": z.string().optional().openapi({ description: "The last event that was seen" }),
    }),
    answers: {
      200: { description: "The events", content: { "text/event-stream": ServerEvent } },
      204: { description: "The job has ended and its last event was seen: do not ask again" },
      404: UNKNOWN_JOB,
      429: problem("Too many streams", RETRY_AFTER),
    },
    handle: async (call) => {
      const job = await requireJob(call, parts);
      const seen = lastSeen(call);
      if (isOver(job) && seen > 0 && seen >= job.lastEvent) return new Response(null, { status: 204 });
      const { client } = call.exchange;
      const place = streams.take(client, MAX_STREAMS_PER_CLIENT, { maxTotal: MAX_STREAMS });
      if (!place) throw tooManyStreams();
      call.exchange.keepOpen();
      const body = openStream(job, { seen, parts, signal: call.exchange.signal() }, place);
      const headers = {
        "content-type": "text/event-stream",
        // A proxy that compresses may hold events back, and nginx does so until its buffer is full.
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
      };
      return streamAnswer(body, headers, 0);
    },
  };
}

function lastSeen({ exchange }: ApiCall): number {
  const written = exchange.request.headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(written) ? Number(written) : 0;
}

const tooManyStreams = (): ProblemError => {
  const detail = `more than ${MAX_STREAMS} event streams at once, or ${MAX_STREAMS_PER_CLIENT} of one client`;
  return new ProblemError(429, "too_many_streams", detail, { headers: { "retry-after": "10" } });
};

type StreamOptions = { readonly seen: number; readonly parts: ExtractorParts; readonly signal: AbortSignal };

function openStream(job: JobRecord, options: StreamOptions, place: Disposable): ReadableStream<Uint8Array> {
  const { parts } = options;
  const left = new AbortController();
  const signal = AbortSignal.any([options.signal, parts.draining, left.signal]);
  const news = follow(job, { ...options, signal });
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    place[Symbol.dispose]();
    left.abort();
  };
  // A client that leaves before it has read anything never closes the stream.
  onAbort(signal, close);
  return streamOf(encoded(news), { onEnd: close });
}

/** Yields the text of a stream; it ends with the job, with the client, or with the server. */
async function* follow(
  found: JobRecord,
  { seen, parts, signal }: StreamOptions,
): AsyncGenerator<string, void> {
  using watch = parts.news.watch(found);
  let last = seen;
  let shown = "";
  let quietSince = performance.now();
  yield "retry: 2000\n\n";
  while (!signal.aborted) {
    const job = watch.latest();
    if (!job) return;
    const status = JSON.stringify(jobStatus(job));
    // Null while events cannot be read: a reader that waits misses none.
    const events = await orNull(watch.eventsAfter(last));
    let text = formatEvents(events ?? [], last);
    last = events?.at(-1)?.number ?? last;
    const hasCaughtUp = last >= job.lastEvent;
    if (status !== shown && hasCaughtUp) {
      text += `event: progress\ndata: ${status}\n\n`;
      shown = status;
    }
    if (hasCaughtUp && isOver(job)) {
      yield `${text}id: ${job.lastEvent}\nevent: end\ndata: ${status}\n\n`;
      return;
    }
    if (text === "" && performance.now() - quietSince > HEARTBEAT_MS) text = ": still there\n\n";
    if (text !== "") {
      yield text;
      quietSince = performance.now();
    }
    if (hasCaughtUp) await watch.change(job, HEARTBEAT_MS, signal);
    else if (!events?.length) await pause(parts.queue.beatMs, signal);
  }
}

/** The events as a stream has them, with a gap for those after the last one that are kept no longer. */
function formatEvents(events: readonly StoredEvent[], last: number): string {
  let text = "";
  let next = last + 1;
  for (const { number, kind, body } of events) {
    const gap = { from: next, to: number - 1 };
    if (number > next) text += `id: ${gap.to}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`;
    if (kind !== "end") text += `id: ${number}\nevent: ${kind}\ndata: ${body}\n\n`;
    next = number + 1;
  }
  return text;
}
