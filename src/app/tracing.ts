import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { wordsIn } from "../base/text.ts";
import { type Tracer, useTracer } from "../base/tracing.ts";
import type { Settings } from "../settings/index.ts";
import { parseServiceUrl } from "../urls/index.ts";
import type { TracingPlan } from "./opentelemetry.ts";

const SAMPLERS: readonly TracingPlan["sampler"][] = wordsIn(
  "always_on always_off traceidratio parentbased_always_on parentbased_always_off parentbased_traceidratio",
);
const PROTOCOLS = ["http/protobuf", "http/json"] as const satisfies readonly TracingPlan["protocol"][];

type Parts = { readonly settings: Settings; readonly log: Log; readonly metrics: Metrics };

/**
 * Sends traces where OpenTelemetry's variables name a collector, until it is disposed of. The code for it is loaded only
 * then. The collector's address is the operator's, so the egress policy has no say in it.
 */
export function openTracing({ settings, log, metrics }: Parts): AsyncDisposable {
  const nothing = { [Symbol.asyncDispose]: async () => {} };
  const plan = readPlan(settings, (reason) => log.always("warning", "no traces are sent", { reason }));
  if (plan === null) return nothing;
  let isAway = false;
  const loading = import("./opentelemetry.ts").then(({ openOpenTelemetry }) =>
    openOpenTelemetry({
      ...plan,
      onLost: (count) => metrics.count("trace_spans_lost", {}, count),
      onAnswer: (reason) => {
        if (reason !== null && !isAway)
          log.always("warning", "the collector of traces cannot be reached", { reason });
        if (reason === null && isAway) log.always("warning", "the collector of traces is back");
        isAway = reason !== null;
      },
    }),
  );
  const tracer: Tracer = async (span, work) => (await loading).tracer(span, work);
  const use = useTracer(tracer);
  return {
    async [Symbol.asyncDispose]() {
      use[Symbol.dispose]();
      await (await loading).close();
    },
  };
}

/** Null without a collector, or where the variables cannot be used. */
function readPlan(
  settings: Settings,
  onProblem: (reason: string) => void,
): Omit<TracingPlan, "onLost" | "onAnswer"> | null {
  const { otelEndpoint, otelDisabled } = settings;
  if (otelEndpoint === null || otelDisabled?.toLowerCase() === "true") return null;
  const problem = (variable: string, expected: string): null => {
    onProblem(`${variable} must ${expected}`);
    return null;
  };
  const url = parseServiceUrl(`${otelEndpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`);
  if (!url)
    return problem("OTEL_EXPORTER_OTLP_ENDPOINT", "be an http or https URL without credentials or query");
  const protocol = PROTOCOLS.find((one) => one === (settings.otelProtocol ?? "http/protobuf"));
  if (!protocol) return problem("OTEL_EXPORTER_OTLP_PROTOCOL", `be one of ${PROTOCOLS.join(", ")}`);
  const sampler = SAMPLERS.find((one) => one === (settings.otelSampler ?? "parentbased_always_on"));
  if (!sampler) return problem("OTEL_TRACES_SAMPLER", `be one of ${SAMPLERS.join(", ")}`);
  const samplerRatio = Number(settings.otelSamplerArg ?? 1);
  if (!(samplerRatio >= 0 && samplerRatio <= 1))
    return problem("OTEL_TRACES_SAMPLER_ARG", "be a number from 0 to 1");
  const headers = readPairs(settings.otelHeaders);
  if (!headers || !areHeaders(headers))
    return problem("OTEL_EXPORTER_OTLP_HEADERS", "be NAME=VALUE with commas between");
  const attributes = readPairs(settings.otelResourceAttributes);
  if (!attributes) return problem("OTEL_RESOURCE_ATTRIBUTES", "be NAME=VALUE with commas between");
  const resource = {
    "service.name": "article-extractor",
    ...attributes,
    ...(settings.otelServiceName !== null && { "service.name": settings.otelServiceName }),
  };
  return { url: url.href, headers, protocol, resource, sampler, samplerRatio };
}

/** Reads `a=1,b=x%20y`; null for anything else. */
function readPairs(text: string | null): Record<string, string> | null {
  const pairs: Record<string, string> = {};
  for (const part of (text ?? "").split(",").filter((one) => one.trim() !== "")) {
    const equals = part.indexOf("=");
    const name = part.slice(0, Math.max(0, equals)).trim();
    if (name === "") return null;
    try {
      pairs[name] = decodeURIComponent(part.slice(equals + 1).trim());
    } catch {
      return null;
    }
  }
  return pairs;
}

function areHeaders(pairs: Readonly<Record<string, string>>): boolean {
  try {
    return new Headers(pairs) !== null;
  } catch {
    return false;
  }
}
