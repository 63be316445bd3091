import type { Server } from "bun";
import { within } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { systemCode } from "../base/system-error.ts";
import type { AddressSet } from "../fetching/index.ts";
import { clientOf, forwardedPrefix } from "./middleware/client.ts";
import type { Exchange, Handler } from "./middleware/exchange.ts";

type ListenOptions = {
  readonly host: string;
  /** The port; 0 takes any free one. */
  readonly port: number;
  /** The prefix under which a reverse proxy shows the server, in the form of `normalBasePath`. */
  readonly basePath: string;
  readonly trustedProxies: AddressSet;
  readonly handler: Handler;
  readonly log: Log;
  /** A connection that is silent, or whose client takes nothing of an answer, for this long is closed; at most 255. */
  readonly idleSeconds: number;
  /** Whether several processes may listen on the port; the kernel chooses between them. */
  readonly sharesPort: boolean;
};

export type Listener = {
  readonly port: number;
  /**
   * Accepts nothing more and waits for running requests, at most this long; then connections are cut.
   * @param onGraceOver cancels what still runs; the answers are sent before the cut
   */
  close(graceMs: number, onGraceOver?: () => void): Promise<void>;
};

/**
 * For this long before the port is closed, answers announce that their connection ends. Closing the port
 * closes every idle connection, and a request that is on its way over one would be lost.
 */
const LEAVING_MS = 300;

/** How long the answers of cancelled requests may take to be sent; they are short. */
const LAST_ANSWERS_MS = 500;

/** Far above the limit of the handlers, whose own answer says more than the runtime's. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;

/** Passes requests to the handler as exchanges. @throws Failure `invalid_usage` when the address cannot be bound */
export function listen(options: ListenOptions): Listener {
  const { host, port, sharesPort } = options;
  let isLeaving = false;
  const server = bind(host, port, () =>
    Bun.serve({
      hostname: host,
      port,
      reusePort: sharesPort,
      development: false,
      idleTimeout: options.idleSeconds,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      fetch: async (request, running) => {
        const response = await options.handler(toExchange(request, running, options));
        // A connection may be silent during work, but not after it.
        running.timeout(request, options.idleSeconds);
        if (isLeaving) response.headers.set("connection", "close");
        return response;
      },
      // The outermost layer answers every error; an error here is a bug in that layer, and is not shown.
      error: () => new Response(null, { status: 500 }),
    }),
  );
  return {
    port: server.port ?? port,
    async close(graceMs, onGraceOver) {
      isLeaving = true;
      await Bun.sleep(LEAVING_MS);
      const drained = server.stop().then(() => true);
      if (!(await within(graceMs, drained, () => false)) && onGraceOver) {
        onGraceOver();
        await within(LAST_ANSWERS_MS, drained, () => false);
      }
      await server.stop(true);
    },
  };
}

/**
 * Checks that nobody listens there, so that the processes which share the port share it with nobody else.
 * @returns the port, a free one for 0
 * @throws Failure `invalid_usage` when the address cannot be bound
 */
export async function reservePort(host: string, port: number): Promise<number> {
  const server = bind(host, port, () => Bun.serve({ hostname: host, port, fetch: () => new Response() }));
  const found = server.port ?? port;
  await server.stop(true);
  return found;
}

/** The origin of a server as people type it. */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

function bind<T>(host: string, port: number, start: () => T): T {
  try {
    return start();
  } catch (error) {
    const found = systemCode(error) ?? "";
    // For a name that does not resolve, Bun has the code of whatever failed last.
    const isUnsure = !/^[\d.]+$|:|^localhost$/.test(host) && found !== "EACCES";
    const code = isUnsure ? "unsure" : found;
    const why = BIND_ERRORS[code] ?? (error instanceof Error ? error.message : "unknown error");
    throw new Failure("invalid_usage", `cannot listen on ${host} port ${port}: ${why.slice(0, 200)}`, {
      cause: error,
    });
  }
}

const BIND_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EACCES: "the port needs more rights (ports below 1024 usually do)",
  EADDRNOTAVAIL: "the machine has no such address",
  unsure: "the name has no address of this machine, or the port is in use",
};

function toExchange(request: Request, server: Server<undefined>, options: ListenOptions): Exchange {
  const peerAddress = server.requestIP(request)?.address ?? "";
  const written = URL.parse(request.url)?.pathname ?? "/";
  const prefix = options.basePath || forwardedPrefix(request, peerAddress, options.trustedProxies);
  const requestId = requestIdOf(request.headers.get("x-request-id"));
  return {
    request,
    body: "",
    // A proxy may or may not remove the prefix before it passes the request on.
    path: isBelow(written, prefix) ? written.slice(prefix.length) || "/" : written,
    basePath: prefix,
    requestId,
    client: clientOf(request, peerAddress, options.trustedProxies),
    log: options.log.with({ request_id: requestId }),
    grant: null,
    notes: {},
    signal: () => request.signal,
    keepOpen: () => server.timeout(request, 0),
  };
}

const isBelow = (path: string, prefix: string): boolean =>
  prefix !== "" && (path === prefix || path.startsWith(`${prefix}/`));

/** The caller's own id if it is 1 to 128 visible ASCII characters, else a new one. */
const requestIdOf = (asked: string | null): string =>
  asked !== null && /^[\x21-\x7e]{1,128}$/.test(asked) ? asked : crypto.randomUUID();
