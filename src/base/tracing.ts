type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace. */
export interface Span {
  /** 32 hexadecimal digits; null where nothing is traced. */
  readonly traceId: string | null;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Marks the work as failed, with a short word for the kind of error. */
  fail(type: string): void;
}

export type SpanPlan = {
  readonly name: string;
  /** This end's role in a call over the network; absent for work inside the program. */
  readonly kind?: "server" | "client";
  /** Called only where the work is traced. Addresses have neither credentials nor queries. */
  readonly attributes?: () => SpanAttributes;
  /** Whether a trace begins here, whatever the work was started by: a crawl is longer than the request for it. */
  readonly isRoot?: boolean;
  /** Headers of a request, which may name the trace that it belongs to (W3C Trace Context). */
  readonly headers?: Headers;
};

/** Does the work inside of a span, which ends with it; an error of the work fails the span and is passed on. */
export type Tracer = <T>(plan: SpanPlan, work: (span: Span) => Promise<T>) => Promise<T>;

const NO_SPAN: Span = { traceId: null, set() {}, rename() {}, fail() {} };

let tracer: Tracer | null = null;

/**
 * Does the work inside of a span of the tracer in use; without one it costs nothing. The tracer is the one state of the
 * whole process here: handed from part to part it would be a parameter of nearly every function.
 */
export const traced: Tracer = (plan, work) => (tracer === null ? work(NO_SPAN) : tracer(plan, work));

/** Uses a tracer until it is disposed of. */
export function useTracer(next: Tracer): Disposable {
  const before = tracer;
  tracer = next;
  return {
    [Symbol.dispose]() {
      tracer = before;
    },
  };
}
