import { afterEach, describe, expect, test } from "bun:test";
import { runBinary } from "../support/binary.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

type SentSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** A collector of OpenTelemetry on loopback. */
function startCollector(status = 200) {
  const spans: SentSpan[] = [];
  const resources: Record<string, unknown>[] = [];
  const requests: { readonly path: string; readonly headers: Headers; readonly body: Buffer }[] = [];
  const server = serveLocal(async (request) => {
    const body = Buffer.from(await request.arrayBuffer());
    requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
    if (request.headers.get("content-type") === "application/json") read(JSON.parse(body.toString()));
    return new Response("{}", { status });
  });
  type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
  const valuesOf = (attributes: readonly Attribute[] = []) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  const read = (message: {
    resourceSpans: {
      resource: { attributes: Attribute[] };
      scopeSpans: { spans: (SentSpan & { attributes: Attribute[] })[] }[];
    }[];
  }) => {
    for (const { resource, scopeSpans } of message.resourceSpans) {
      resources.push(valuesOf(resource.attributes));
      for (const scope of scopeSpans)
        for (const span of scope.spans) spans.push({ ...span, attributes: valuesOf(span.attributes) });
    }
  };
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: "x-token=hunter%202,x-other=1",
  };
  const named = (name: string): SentSpan[] => spans.filter((span) => span.name === name);
  return { spans, resources, requests, env, named, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** The fields of a message in protobuf by number; a field that holds bytes may be a message again. */
function protobufFields(message: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const kind = tag & 7;
    const start = at;
    if (kind === 0) varint();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    const length = kind === 2 ? varint() : 0;
    const value = kind === 2 ? message.subarray(at, at + length) : message.subarray(start, at);
    at += length;
    fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), value]);
  }
  return fields;
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const site = forAllTests(serveNumberedSite({ pages: 3, answerMs: 1 }));
const opened: AsyncDisposable[] = [];
const open = <T extends AsyncDisposable>(one: T): T => {
  opened.push(one);
  return one;
};
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

describe("traces of serve extractor", () => {
  test("continue the caller's, have the fetch and the extraction of a page, and tell no secrets", async () => {
    const collector = open(startCollector());
    const server = open(
      await startExtractor({
        env: { ...collector.env, OTEL_SERVICE_NAME: "reader", OTEL_RESOURCE_ATTRIBUTES: "team=docs%20one" },
      }),
    );
    const url = `${site.origin.replace("//", "//me:secret@")}/p/1?token=secret#secret`;
    const traced = { traceparent: `00-${TRACE}-${PARENT}-01` };
    expect((await server.post("/", { url }, traced)).status).toBe(200);
    expect((await server.get("/crawl/none?token=secret")).status).toBe(404);
    await server.get("/health");
    await untilTrue(() => collector.named("GET /crawl/{job_id}").length === 1);
    const [request] = collector.named("POST /");
    expect(request).toMatchObject({
      traceId: TRACE,
      parentSpanId: PARENT,
      kind: 2,
      attributes: { "http.route": "/", "http.response.status_code": 200, "client.address": "127.0.0.1" },
    });
    for (const [name, kind] of [
      ["fetch page", 3],
      ["extract page", 1],
    ] as const)
      expect(collector.named(name)).toMatchObject([
        {
          traceId: TRACE,
          parentSpanId: request?.spanId,
          kind,
          attributes: { "url.full": expect.stringContaining("/p/1") },
        },
      ]);
    expect(collector.resources[0]).toMatchObject({ "service.name": "reader", team: "docs one" });
    expect(collector.requests[0]?.path).toBe("/v1/traces");
    expect(collector.requests[0]?.headers.get("x-token")).toBe("hunter 2");
    // Probes fill no traces, and what a stranger wrote into an address is left out.
    expect(collector.spans.map(({ name }) => name).filter((name) => name.includes("health"))).toEqual([]);
    expect(JSON.stringify([collector.spans, server.stderr()])).not.toContain("secret");
    // The site was asked, and told nothing of the trace.
    expect(site.visits.some(({ path }) => path.startsWith("/p/1"))).toBe(true);
    for (const { headers } of site.visits) expect(Object.keys(headers)).not.toContain("traceparent");
    expect(JSON.parse(server.lines(TRACE)[0] ?? "{}")).toMatchObject({
      message: "request",
      route: "/",
      trace_id: TRACE,
    });
    // What is wrong with a caller's header is the caller's loss.
    expect((await server.post("/", { url }, { traceparent: `00-${"z".repeat(5000)}` })).status).toBe(200);
  });

  test("begin anew with each page of a crawl", async () => {
    const collector = open(startCollector());
    const server = open(await startExtractor({ env: collector.env }));
    const id = await submitJob(server, { output_dir: "out", seeds: [`${site.origin}/`] });
    expect((await untilJob(server, id, isOver)).successful).toBe(3);
    await untilTrue(() => collector.named("crawl page").length === 3);
    const pages = collector.named("crawl page");
    expect(new Set(pages.map(({ traceId }) => traceId)).size).toBe(3);
    for (const page of pages) {
      expect(page.parentSpanId ?? "").toBe("");
      expect(
        collector.spans.filter(({ parentSpanId }) => parentSpanId === page.spanId).map(({ name }) => name),
      ).toEqual(["fetch page", "extract page"]);
    }
  });

  test("are counted as lost when the collector is away or refuses, and hurt no request", async () => {
    for (const collector of [
      startCollector(503),
      {
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_HEADERS: "x=hunter3" },
        [Symbol.asyncDispose]: async () => {},
      },
    ]) {
      open(collector);
      await using server = await startExtractor({ env: collector.env });
      for (let asked = 0; asked < 5; asked++) expect((await server.get("/crawl")).status).toBe(200);
      await untilTrue(async () =>
        /^article_extractor_trace_spans_lost_total [1-9]/m.test(await (await server.get("/metrics")).text()),
      );
      const told = () => server.lines("the collector of traces cannot be reached");
      await untilTrue(() => told().length > 0);
      for (let asked = 0; asked < 5; asked++) expect((await server.get("/crawl")).status).toBe(200);
      expect(told()).toHaveLength(1);
      expect(server.stderr()).not.toContain("hunter");
      server.signal("SIGTERM");
      expect(await server.exited).toBe(0);
    }
  });
});

test("traces of serve search have the call and the search, and not what was searched for; in protobuf", async () => {
  const collector = open(startCollector());
  const { OTEL_EXPORTER_OTLP_PROTOCOL: _, ...env } = collector.env;
  const served = open(await Served.start(writeDeployment(), { env }));
  await untilTrue(async () => (await served.search("proxies").catch(() => null))?.results.length === 1);
  const spans = (): string[][] =>
    collector.requests.flatMap(({ body }) =>
      (protobufFields(body).get(1) ?? [])
        .flatMap((resource) => protobufFields(resource).get(2) ?? [])
        .flatMap((scope) => protobufFields(scope).get(2) ?? [])
        .map((span) => [1, 2, 4, 5].map((field) => protobufFields(span).get(field)?.[0] ?? Buffer.of()))
        .map(([trace, span, parent, name]) => [
          `${name}`,
          trace?.toString("hex") ?? "",
          span?.toString("hex") ?? "",
          parent?.toString("hex") ?? "",
        ]),
    );
  await untilTrue(() => spans().some(([name]) => name === "search"));
  await untilTrue(
    () =>
      spans().filter(([name]) => name === "POST /mcp").length >=
      spans().filter(([name]) => name === "search").length,
  );
  const [, trace, , parent] = spans().find(([name]) => name === "search") ?? [];
  const call = spans().find(([, , span]) => span === parent);
  expect(call?.slice(0, 2)).toEqual(["call root_search", trace ?? ""]);
  expect(
    spans()
      .find(([, , span]) => span === call?.[3])
      ?.slice(0, 2),
  ).toEqual(["POST /mcp", trace ?? ""]);
  expect(collector.requests[0]?.headers.get("content-type")).toBe("application/x-protobuf");
  expect(Buffer.concat(collector.requests.map(({ body }) => body)).toString("latin1")).not.toContain(
    "proxies",
  );
});

describe("a command", () => {
  const extract = async (env: Readonly<Record<string, string>>) =>
    await runBinary([`${site.origin}/p/1`, "--output", "text", "--prefer-http", "-q"], { env });

  test("sends its traces before it ends, as many as the sampler wants", async () => {
    const collector = open(startCollector());
    expect((await extract(collector.env)).exitCode).toBe(0);
    expect(collector.spans.map(({ name }) => name).sort()).toEqual(["extract page", "fetch page"]);
    for (const env of [
      { OTEL_TRACES_SAMPLER: "always_off" },
      { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" },
      { OTEL_SDK_DISABLED: "TRUE" },
    ]) {
      const before = collector.spans.length;
      expect(await extract({ ...collector.env, ...env })).toMatchObject({ exitCode: 0, stderr: "" });
      expect(collector.spans.length).toBe(before);
    }
  });

  test.each([
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "be one of http/protobuf, http/json"],
    [
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      "http://me:hunter@127.0.0.1:1",
      "be an http or https URL without credentials or query",
    ],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "be an http or https URL without credentials or query"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "hunter", "be NAME=VALUE with commas between"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=hunter%0d%0ab", "be NAME=VALUE with commas between"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%hunter", "be NAME=VALUE with commas between"],
    ["OTEL_RESOURCE_ATTRIBUTES", "=x", "be NAME=VALUE with commas between"],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote", "be one of always_on"],
    ["OTEL_TRACES_SAMPLER_ARG", "2", "be a number from 0 to 1"],
  ])("warns of %s=%s, shows no secret and works", async (variable, value, expected) => {
    const { exitCode, stderr } = await extract({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      [variable]: value,
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      level: "warning",
      message: "no traces are sent",
      reason: expect.stringContaining(`${variable} must ${expected}`),
    });
    expect(stderr).not.toContain("hunter");
  });
});
