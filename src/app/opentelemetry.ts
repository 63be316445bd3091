import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { within } from "../base/abort.ts";
import type { Span, SpanPlan, Tracer } from "../base/tracing.ts";
import { VERSION } from "../base/version.ts";

type Root = "always_on" | "always_off" | "traceidratio";

/** The traces to send, and their destination. */
export type TracingPlan = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http/protobuf" | "http/json";
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Root | `parentbased_${Root}`;
  readonly samplerRatio: number;
  /** Called with a number of spans that reach nobody. */
  readonly onLost: (count: number) => void;
  /** Called after each batch; null when the collector took it, else why it did not. */
  readonly onAnswer: (problem: string | null) => void;
};

export type Tracing = {
  readonly tracer: Tracer;
  /** Sends what waits, as far as the collector takes it within a moment. */
  readonly close: () => Promise<void>;
};

/** Spans that wait at most; further ones are lost. */
const MAX_WAITING = 2048;
const BATCH = 512;
const BATCH_MS = 1000;
/** How long the collector may take for one batch, in ms. */
const EXPORT_MS = 3000;
/** How long the end of the program may wait for it, in ms. */
const CLOSE_MS = 1000;

/** Starts to send traces to a collector, which may be away: then spans are lost and nothing else happens. */
export function openOpenTelemetry(plan: TracingPlan): Tracing {
  const exporter = createExporter(plan);
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: BATCH_MS,
    exportTimeoutMillis: 2 * EXPORT_MS,
  });
  const provider = new TracerProvider({
    sampler: SAMPLERS[plan.sampler](plan.samplerRatio),
    resource: resourceFromAttributes({ "service.version": VERSION, ...plan.resource }),
    spanProcessors: [bounded(batches, exporter, plan.onLost)],
    // Attributes are our own, but the address of a page may be of any length.
    spanLimits: { attributeValueLengthLimit: 2000 },
  });
  const tracer = createTracer(provider);
  return {
    tracer,
    close: async () => {
      const closed = provider.shutdown().catch(() => {});
      await within(CLOSE_MS, closed, () => {});
    },
  };
}

const SAMPLERS: Readonly<Record<TracingPlan["sampler"], (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

function createTracer(provider: TracerProvider): Tracer {
  const sdk = provider.getTracer("article-extractor", VERSION);
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Context>();
  const contextOf = ({ headers, isRoot }: SpanPlan): Context => {
    if (isRoot) return ROOT_CONTEXT;
    if (headers === undefined) return current.getStore() ?? ROOT_CONTEXT;
    const { traceparent, tracestate } = Object.fromEntries(headers);
    return propagator.extract(ROOT_CONTEXT, { traceparent, tracestate }, defaultTextMapGetter);
  };
  return async (plan, work) => {
    const parent = contextOf(plan);
    const attributes = plan.attributes?.() ?? {};
    const started = sdk.startSpan(plan.name, { kind: KINDS[plan.kind ?? "inner"], attributes }, parent);
    try {
      return await current.run(trace.setSpan(parent, started), work, spanOf(started));
    } catch (error) {
      spanOf(started).fail(typeOf(error));
      throw error;
    } finally {
      started.end();
    }
  };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, inner: SpanKind.INTERNAL } as const;

const spanOf = (span: SdkSpan): Span => ({
  traceId: span.spanContext().traceId,
  set: (attributes) => void span.setAttributes({ ...attributes }),
  rename: (name) => void span.updateName(name),
  fail: (type) => void span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR }),
});

/** The code of a failure, else the name of the error; messages may repeat what a page or a person wrote. */
const typeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};

type CountingExporter = SpanExporter & { readonly waiting: { count: number } };

function createExporter({ url, headers, protocol, onLost, onAnswer }: TracingPlan): CountingExporter {
  const isJson = protocol === "http/json";
  const serializer = isJson ? JsonTraceSerializer : ProtobufTraceSerializer;
  const contentType = isJson ? "application/json" : "application/x-protobuf";
  const waiting = { count: 0 };
  const send = async (spans: ReadableSpan[]): Promise<boolean> => {
    waiting.count -= spans.length;
    const body = serializer.serializeRequest(spans);
    if (!body) return true;
    const problem = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": contentType },
      body: new Uint8Array(body),
      redirect: "manual",
      signal: AbortSignal.timeout(EXPORT_MS),
    }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.ok ? null : `it answers HTTP ${answer.status}`;
      },
      // The error's message may name what was sent.
      (error: Error) =>
        error.name === "TimeoutError" ? `no answer within ${EXPORT_MS} ms` : "it is not reached",
    );
    onAnswer(problem);
    if (problem !== null) onLost(spans.length);
    return problem === null;
  };
  return {
    waiting,
    export: (spans, done) =>
      void send(spans).then((isSent) =>
        done({ code: isSent ? ExportResultCode.SUCCESS : ExportResultCode.FAILED }),
      ),
    shutdown: async () => {},
  };
}

/** Counts what the queue has no room for, which it would drop in silence. */
const bounded = (
  batches: SpanProcessor,
  { waiting }: CountingExporter,
  onLost: (count: number) => void,
): SpanProcessor => ({
  onStart: (span, parent) => batches.onStart(span, parent),
  onEnd: (span) => {
    if (waiting.count >= MAX_WAITING) return onLost(1);
    waiting.count++;
    batches.onEnd(span);
  },
  forceFlush: () => batches.forceFlush(),
  shutdown: () => batches.shutdown(),
});
