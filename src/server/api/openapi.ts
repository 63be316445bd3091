import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { BLOCK_KINDS } from "../../base/failure.ts";
import { defined } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import type { Exchange } from "../middleware/exchange.ts";
import { type InvalidField, ProblemError } from "../middleware/problem.ts";

/** This is the only file that knows the framework; everything else consists of handlers of exchanges, and schemas. */
export { z };

type ApiEnvironment = { readonly Bindings: { readonly exchange: Exchange } };
type Schema = z.ZodType;

/** One possible answer of an operation. */
type ApiAnswer = {
  readonly description: string;
  /** Schemas by media type; absent for an empty body. */
  readonly content?: Readonly<Record<string, Schema>>;
  readonly headers?: Readonly<Record<string, { readonly description: string }>> | undefined;
};

/** An operation: its description for the document, and its handler. */
export type ApiOperation = {
  readonly method: "get" | "post" | "delete";
  /** The path in the document's form: `/crawl/{job_id}`. */
  readonly path: string;
  /** The path in the router's form, if it differs. */
  readonly pattern?: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** The JSON that the operation reads, with a value that it takes, which the documentation offers to send. */
  readonly body?: { readonly schema: Schema; readonly example: unknown };
  /** Answers by status; the answers that every operation may give are added. */
  readonly answers: Readonly<Record<number, ApiAnswer>>;
  /** Whether the operation needs no key. */
  readonly isOpen?: boolean;
  readonly handle: (call: ApiCall) => Promise<Response>;
};

/** An operation of another program's API, which its own documentation describes and ours does not. */
export type ApiRoute = Pick<ApiOperation, "path" | "pattern" | "handle"> & {
  readonly methods: readonly (typeof METHODS)[number][];
};

/** A request to an operation. */
export type ApiCall = {
  readonly exchange: Exchange;
  /** Returns a decoded parameter of the path. */
  param(name: string): string;
  /** The parameters of the query, each with its first value. */
  readonly query: Readonly<Record<string, string>>;
};

type ApiOptions = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly operations: readonly ApiOperation[];
  /** Routes that the document leaves out; those of operations go before them. */
  readonly routes?: readonly ApiRoute[] | undefined;
};

export type Api = {
  readonly handle: (exchange: Exchange) => Promise<Response>;
  /** The OpenAPI 3.1 document, for a server below this base path. */
  readonly document: (basePath: string) => object;
};

const METHODS = ["GET", "POST", "DELETE"] as const;

/** Mounts operations; errors that they throw are passed on. */
export function createApi(options: ApiOptions): Api {
  const app = new OpenAPIHono<ApiEnvironment>({
    // The layers have already removed the base path.
    getPath: (_, context) => pathOf(context),
  });
  for (const operation of options.operations) mount(app, operation);
  for (const { methods, path, pattern = path, handle } of options.routes ?? [])
    route(app, { methods, pattern, name: path }, handle);
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", { type: "http", scheme: "bearer" });
  app.onError((error) => {
    throw error;
  });
  app.notFound((context) => {
    throw unknownRoute(app, context.env.exchange);
  });
  return {
    handle: async (exchange) => app.fetch(exchange.request, { exchange }),
    document: (basePath) =>
      app.getOpenAPI31Document({
        openapi: "3.1.0",
        info: { title: options.title, version: options.version, description: options.description },
        servers: [{ url: basePath || "/" }],
      }),
  };
}

// The router passes on the `env` of `fetch` with a type of its own.
const pathOf = (context: unknown): string =>
  (context as { readonly env: { readonly exchange: Exchange } }).env.exchange.path;

function mount(app: OpenAPIHono<ApiEnvironment>, operation: ApiOperation): void {
  const { method, path, params, query, headers, body } = operation;
  const described = createRoute({
    method,
    path,
    operationId: operationIdOf(method, path),
    summary: operation.summary,
    tags: [operation.tag],
    ...(operation.description !== undefined && { description: operation.description }),
    request: defined({
      params,
      query,
      headers,
      body: body && { required: true, content: { "application/json": body } },
    }),
    security: operation.isOpen ? [] : [{}, { apiKey: [] }],
    responses: mapValues(
      { ...EVERYWHERE, ...(!operation.isOpen && GUARDED), ...operation.answers },
      toResponse,
    ),
  });
  app.openAPIRegistry.registerPath(described);
  const pattern = operation.pattern ?? described.getRoutingPath();
  route(app, { methods: [method.toUpperCase()], pattern, name: path }, (call) => {
    if (query) refuseUnknown(Object.keys(call.query), Object.keys(query.shape));
    return operation.handle(call);
  });
}

type RoutePlace = {
  readonly methods: readonly string[];
  /** The path in the router's form. */
  readonly pattern: string;
  /** The name of the route in metrics and traces. */
  readonly name: string;
};

function route(
  app: OpenAPIHono<ApiEnvironment>,
  { methods, pattern, name }: RoutePlace,
  handle: ApiOperation["handle"],
): void {
  app.on([...methods], pattern, async (context) => {
    context.env.exchange.notes.route = name;
    const response = await handle(toCall(context));
    return context.env.exchange.request.method === "HEAD" ? withoutBody(response) : response;
  });
}

/** Refuses a mistyped parameter, without which another answer would be given than was asked for. @throws ProblemError 422 */
function refuseUnknown(given: readonly string[], known: readonly string[]): void {
  const wrong = given.find((name) => !known.includes(name))?.slice(0, 100);
  if (wrong === undefined) return;
  const there = didYouMean(wrong, known) || `; there are ${known.join(", ")}`;
  const message = `there is no parameter ${JSON.stringify(wrong)}${there}`;
  throw invalidRequest(message, [{ path: wrong, message }]);
}

/** Names an operation for generators of clients: `getCrawlJobIdEvents` for GET /crawl/{job_id}/events. */
const operationIdOf = (method: string, path: string): string =>
  path
    .split(/[^A-Za-z0-9]+/)
    .reduce((name, word) => name + word.slice(0, 1).toUpperCase() + word.slice(1), method);

/** The answer to HEAD: that of GET with its length. The framework would drop the body, and say that it has none. */
async function withoutBody(response: Response): Promise<Response> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  // A stream would never notice that nobody reads it.
  if (isStream) await response.body?.cancel();
  else if (response.body)
    response.headers.set("content-length", String((await response.arrayBuffer()).byteLength));
  return new Response(null, response);
}

const toResponse = ({ description, content, headers }: ApiAnswer) =>
  defined({
    description,
    content: content && mapValues(content, (schema) => ({ schema })),
    headers:
      headers &&
      mapValues(headers, ({ description }) => ({ description, schema: { type: "string" as const } })),
  });

const mapValues = <From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

const toCall = (context: Context<ApiEnvironment>): ApiCall => ({
  exchange: context.env.exchange,
  param: (name) => context.req.param(name as never) ?? "",
  get query() {
    return context.req.query();
  },
});

function unknownRoute(app: OpenAPIHono<ApiEnvironment>, { path, request }: Exchange): ProblemError {
  const allowed = METHODS.filter((method) => app.router.match(method, path)[0].length > 0);
  const shown = path.slice(0, 200);
  if (allowed.length === 0) return new ProblemError(404, "not_found", `there is nothing at ${shown}`);
  const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
  const detail = `${shown} answers ${allow}, not ${request.method.slice(0, 20)}`;
  return new ProblemError(405, "method_not_allowed", detail, { headers: { allow } });
}

/** The most fields of a body that an answer names. */
const MAX_NAMED_FIELDS = 50;

/** Parses a value with a schema. @throws ProblemError 422 that names every wrong field, unknown ones included */
export function parseWith<S extends Schema>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap(toInvalidFields).slice(0, MAX_NAMED_FIELDS);
  throw invalidRequest(`the ${what} is not valid: ${errors[0]?.message ?? "it has another form"}`, errors);
}

/** The problem of a request with wrong fields. */
export const invalidRequest = (
  detail: string,
  errors: readonly InvalidField[],
  code = "invalid_request",
): ProblemError => new ProblemError(422, code, detail.slice(0, 500), { errors });

function toInvalidFields(issue: z.core.$ZodIssue): InvalidField[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined"))
    return [{ path, message: withPath(path, "it is missing") }];
  if (issue.code === "invalid_value") return [{ path, message: withPath(path, unknownValue(issue)) }];
  if (issue.code !== "unrecognized_keys") return [{ path, message: withPath(path, issue.message) }];
  return issue.keys.map((key) => {
    const full = path === "" ? key : `${path}.${key}`;
    return { path: full.slice(0, 200), message: `there is no field ${JSON.stringify(full.slice(0, 100))}` };
  });
}

function unknownValue({ input, values, message }: z.core.$ZodIssueInvalidValue): string {
  const known = values.map(String);
  const guess = typeof input === "string" ? didYouMean(input, known) : "";
  // Options have words of their own.
  if (message.startsWith("must ")) return `${message}${guess}`;
  const given =
    typeof input === "string" ? JSON.stringify(input.slice(0, 100)) : `a value of type ${typeof input}`;
  return `${given} is not one of its values${guess === "" ? ": they" : `${guess} They`} are ${known.join(", ")}`;
}

const withPath = (path: string, message: string): string =>
  path === "" ? message : `${path.slice(0, 200)}: ${message}`;

const block = z
  .object({ kind: z.enum(BLOCK_KINDS), signs: z.array(z.string()) })
  .optional()
  .openapi({ description: "Of code blocked: what the site shows instead of the page, and the signs of it" });

/** The schema of a failure's record. */
export const failure = z.object({ code: z.string(), message: z.string(), block }).nullable();

const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: "For people" }),
    code: z.string().openapi({ description: "Stable, for programs", example: "no_content" }),
    request_id: z.string(),
    http_status: z
      .int()
      .optional()
      .openapi({ description: "HTTP status that the page itself answered with, where it answered" }),
    target_status: z.int().optional().openapi({ description: "The same as http_status" }),
    block,
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: "The fields that are wrong" }),
  })
  .openapi("Problem", { description: "RFC 9457" });

/** Describes an answer that is JSON. */
export const answerOf = (description: string, schema: Schema): ApiAnswer => ({
  description,
  content: { "application/json": schema },
});

/** Describes an answer that is a problem. */
export const problem = (description: string, headers?: ApiAnswer["headers"]): ApiAnswer => ({
  description,
  content: { "application/problem+json": Problem },
  headers,
});

export const RETRY_AFTER = { "Retry-After": { description: "Seconds to wait" } };

/** Problems that any operation may answer with, including probes. */
const EVERYWHERE: Readonly<Record<number, ApiAnswer>> = {
  403: problem("The Host or Origin is not one that the server answers to"),
  500: problem("A fault inside the server, or its disk"),
};

/** The problem of operations that tell of all tenants together. */
export const LIMITED = problem(
  "The API key or token is for some tenants only; or the Host or Origin is not one that the server answers to",
);

/** Problems of operations that need the key. */
const GUARDED: Readonly<Record<number, ApiAnswer>> = {
  401: problem("The API key is missing or wrong", {
    "WWW-Authenticate": { description: "How to send it" },
  }),
  429: problem("More requests or unread answers at once than the server takes", RETRY_AFTER),
  503: problem("The server is ending", RETRY_AFTER),
};

/** Problems of reading a JSON body. */
export const BODY_PROBLEMS: Readonly<Record<number, ApiAnswer>> = {
  400: problem("The body is not JSON"),
  408: problem("The body took longer than 10 s to arrive"),
  413: problem("The body is over 2 MiB"),
  415: problem("The body is not application/json"),
  422: problem("Fields are wrong; `errors` names each"),
};

/** Problems of fetching and extracting a page. */
export const PAGE_PROBLEMS: Readonly<Record<number, ApiAnswer>> = {
  403: problem("The egress policy refuses an address, or the Origin is foreign"),
  422: problem("Fields are wrong, or the page holds nothing to extract"),
  502: problem("The target could not be reached or answered with an error; `target_status` has its status"),
  504: problem("The target or the extraction took too long"),
};

export const UNKNOWN_JOB = problem("There is no such job");
