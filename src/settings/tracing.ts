import { optionalText } from "./values.ts";

/**
 * OpenTelemetry's own variables. They are read as text, because a machine may have them for other programs: what is wrong
 * with them is a warning when traces are asked for, and no reason not to run.
 */
export const TRACING = {
  otelDisabled: optionalText("OTEL_SDK_DISABLED", "true: no traces, whatever else is set"),
  otelEndpoint: optionalText(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "collector that gets traces over HTTP, such as http://127.0.0.1:4318; unset: no traces",
  ),
  otelHeaders: optionalText(
    "OTEL_EXPORTER_OTLP_HEADERS",
    "headers for it, as NAME=VALUE with commas between, values percent-encoded",
  ),
  otelProtocol: optionalText(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "http/protobuf or http/json; unset: http/protobuf",
  ),
  otelServiceName: optionalText(
    "OTEL_SERVICE_NAME",
    "name of the service in traces; unset: service.name of the next variable, else article-extractor",
  ),
  otelResourceAttributes: optionalText(
    "OTEL_RESOURCE_ATTRIBUTES",
    "more about the service, as NAME=VALUE with commas between, values percent-encoded",
  ),
  otelSampler: optionalText(
    "OTEL_TRACES_SAMPLER",
    "always_on, always_off, traceidratio, or one of them after parentbased_; unset: parentbased_always_on",
  ),
  otelSamplerArg: optionalText(
    "OTEL_TRACES_SAMPLER_ARG",
    "share of the traces with traceidratio, from 0 to 1; unset: 1",
  ),
} as const;
