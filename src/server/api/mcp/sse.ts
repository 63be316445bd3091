import { onAbort } from "../../../base/abort.ts";
import type { Exchange, Grant } from "../../middleware/exchange.ts";
import { ClientCounts } from "../../middleware/limits.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { type ApiOperation, problem, z } from "../openapi.ts";
import { ClientConnection } from "./connection.ts";
import type { McpOptions } from "./offer.ts";
import type { ToolCall } from "./tool.ts";

export type SseOptions = {
  readonly offerTo: (exchange: Exchange) => McpOptions;
  readonly callOf: (exchange: Exchange, signal: () => AbortSignal) => ToolCall;
  /** What a request is granted now; null for nothing any more. */
  readonly grantOf: (request: Request) => Promise<Grant | null>;
  /** Aborts when the server starts to shut down. */
  readonly draining: AbortSignal;
};

type Session = { readonly connection: ClientConnection; readonly owner: string };

/** The most sessions of one process, and of one client. */
const MAX_SESSIONS = 200;
const MAX_PER_CLIENT = 20;
/** How often a silent stream sends a sign of life, in ms; proxies cut streams that are silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** How often a session's key is looked at again, in ms. */
const GRANT_CHECK_MS = 2000;
/** An answer that waits while the client does not read; a client that lets more wait is cut off. In bytes. */
const MAX_UNREAD = 16 * 1024 * 1024;

const SessionQuery = z.object({ sessionId: z.string().max(100) });

/**
 * The transport of revision 2024-11-05, for clients that know no other: answers come over the stream of `GET
 * /sse`, whose first event says where messages are posted. Its sessions are in the memory of this process.
 */
export function sseOperations(options: SseOptions): ApiOperation[] {
  const sessions = new Map<string, Session>();
  const counts = new ClientCounts();
  return [
    {
      method: "get",
      path: "/sse",
      tag: "mcp",
      summary: "The stream of a client of MCP's first transport",
      answers: {
        200: { description: "Answers, as events", content: { "text/event-stream": z.string() } },
        429: problem("Too many streams"),
      },
      handle: async ({ exchange }) => {
        const place = counts.total < MAX_SESSIONS ? counts.take(exchange.client, MAX_PER_CLIENT) : null;
        if (!place) throw tooMany();
        exchange.keepOpen();
        return await openSession(exchange, { ...options, sessions, place });
      },
    },
    {
      method: "post",
      path: "/messages",
      tag: "mcp",
      summary: "A message of such a client",
      query: SessionQuery,
      body: {
        schema: z.record(z.string(), z.unknown()),
        example: { jsonrpc: "2.0", id: 1, method: "ping" },
      },
      answers: {
        202: { description: "It is answered over the stream" },
        404: problem("There is no such session"),
      },
      handle: async ({ exchange, query }) => {
        const session = sessions.get(query.sessionId ?? "");
        if (!session || session.owner !== ownerOf(exchange)) throw noSession();
        session.connection.receive(exchange.body);
        return new Response("Accepted", { status: 202 });
      },
    },
  ];
}

const tooMany = (): ProblemError =>
  new ProblemError({
    status: 429,
    code: "too_many_streams",
    detail: `more than ${MAX_SESSIONS} streams at once, or ${MAX_PER_CLIENT} of one client`,
    headers: { "retry-after": "10" },
  });

const noSession = (): ProblemError =>
  new ProblemError({ status: 404, code: "not_found", detail: "there is no such session; open /sse first" });

/** Who has opened a session: only the same caller may post to it. */
const ownerOf = ({ grant }: Exchange): string => grant?.name ?? "";

/** Whether a caller may still do what it could when its session began; a server without keys asks for none. */
const isSameGrant = (now: Grant | null, then: Grant | null): boolean =>
  then === null || (now?.name === then.name && JSON.stringify(now.tenants) === JSON.stringify(then.tenants));

async function openSession(
  exchange: Exchange,
  {
    offerTo,
    callOf,
    grantOf,
    draining,
    sessions,
    place,
  }: SseOptions & { readonly sessions: Map<string, Session>; readonly place: Disposable },
): Promise<Response> {
  const { connectClient } = await import("./modern.ts");
  const id = crypto.randomUUID();
  const encoder = new TextEncoder();
  const stream = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const send = async (text: string): Promise<void> => {
    const controller = await stream.promise;
    if ((controller.desiredSize ?? 0) < -MAX_UNREAD) throw new Error("the client does not read");
    controller.enqueue(encoder.encode(text));
  };
  const connection = new ClientConnection((text) => send(`event: message\ndata: ${text}\n\n`));
  const server = connectClient(offerTo(exchange), connection, (signal) => callOf(exchange, () => signal));
  const beat = setInterval(() => void send(": beat\n\n").catch(() => connection.close()), HEARTBEAT_MS);
  const check = setInterval(() => {
    // While the issuer of tokens is down, what was granted holds.
    void grantOf(exchange.request)
      .then((grant) => isSameGrant(grant, exchange.grant) || close())
      .catch(() => {});
  }, GRANT_CHECK_MS);
  const close = (): void => {
    if (!sessions.delete(id)) return;
    clearInterval(beat);
    clearInterval(check);
    place[Symbol.dispose]();
    void server.close();
    void stream.promise.then((controller) => controller.close()).catch(() => {});
  };
  sessions.set(id, { connection, owner: ownerOf(exchange) });
  // The SDK has set its own when it connected.
  const { onclose } = connection;
  connection.onclose = () => {
    onclose?.();
    close();
  };
  onAbort(AbortSignal.any([exchange.signal(), draining]), close);
  const body = new ReadableStream<Uint8Array>(
    { start: (controller) => stream.resolve(controller), cancel: close },
    { highWaterMark: 0, size: (piece) => piece?.byteLength ?? 0 },
  );
  void send(`event: endpoint\ndata: ${exchange.basePath}/messages?sessionId=${id}\n\n`).catch(close);
  return new Response(body, {
    // Without the last header nginx holds events back until its buffer is full.
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
