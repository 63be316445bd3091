import { setting, text } from "./values.ts";

/**
 * OpenTelemetry's own variables. They are read as text, because a machine may have them for other programs: what is wrong
 * with them is a warning when traces are asked for, and no reason not to run.
 */
export const TRACING = {
  otelDisabled: setting<string | null>(
    "OTEL_SDK_DISABLED",
    text,
    null,
    "true: no traces, whatever else is set",
  ),
  otelEndpoint: setting<string | null>(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    text,
    null,
    "collector that gets traces over HTTP, such as http://127.0.0.1:4318; unset: no traces",
  ),
  otelHeaders: setting<string | null>(
    "OTEL_EXPORTER_OTLP_HEADERS",
    text,
    null,
    "headers for it, as NAME=VALUE with commas between, values percent-encoded",
  ),
  otelProtocol: setting<string | null>(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    text,
    null,
    "http/protobuf or http/json; unset: http/protobuf",
  ),
  otelServiceName: setting<string | null>(
    "OTEL_SERVICE_NAME",
    text,
    null,
    "name of the service in traces; unset: service.name of the next variable, else article-extractor",
  ),
  otelResourceAttributes: setting<string | null>(
    "OTEL_RESOURCE_ATTRIBUTES",
    text,
    null,
    "more about the service, as NAME=VALUE with commas between, values percent-encoded",
  ),
  otelSampler: setting<string | null>(
    "OTEL_TRACES_SAMPLER",
    text,
    null,
    "always_on, always_off, traceidratio, or one of them after parentbased_; unset: parentbased_always_on",
  ),
  otelSamplerArg: setting<string | null>(
    "OTEL_TRACES_SAMPLER_ARG",
    text,
    null,
    "share of the traces with traceidratio, from 0 to 1; unset: 1",
  ),
} as const;
