import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { AddressSet } from "../fetching/index.ts";
import { listen, urlOf } from "./listen.ts";
import {
  type Access,
  type AccessOptions,
  createAccess,
  requireGrant,
  serveResourceMetadata,
} from "./middleware/access.ts";
import { type Handler, inLayers, type Layer } from "./middleware/exchange.ts";
import { refusedAtEnd, refuseWhileDraining } from "./middleware/limits.ts";
import { observe } from "./middleware/observe.ts";
import { guardOrigin, type OriginRules } from "./middleware/origin.ts";
import type { UnreadLimits } from "./middleware/unread.ts";

/** A server's listening address, and its rules for callers. */
export type ServerPlace = Pick<OriginRules, "allowedHosts"> &
  AccessOptions &
  UnreadLimits & {
    readonly host: string;
    readonly port: number;
    /** Lets several processes listen on the port. */
    readonly sharesPort: boolean;
    readonly basePath: string;
    readonly trustedProxies: AddressSet;
    /** See `listen`. */
    readonly idleSeconds: number;
  };

/** A server's own part within the common frame. */
export type Service = Pick<OriginRules, "corsOrigins" | "guardedMethods" | "hostsVariable"> & {
  /** Serve files to everybody, before any check of a key. */
  readonly files: readonly Layer[];
  /** Give errors another form, on the paths of other programs' APIs. */
  readonly errorForms?: readonly Layer[];
  /** Paths that are answered at any time, to anybody. */
  readonly probePaths: readonly string[];
  /** Limits on the work, the outermost first. */
  readonly limits: readonly Layer[];
  readonly routes: (state: ServerState) => Handler;
  readonly log: Log;
  readonly metrics: Metrics;
};

type ServerState = {
  readonly access: Access;
  /** False during the shutdown. */
  readonly isReady: () => boolean;
  /** Aborts when the server starts to shut down; event streams close then. */
  readonly draining: AbortSignal;
};

/** A server that answers until it is disposed of. */
export type RunningServer = AsyncDisposable & {
  /** The server's address without base path. */
  readonly url: string;
};

/** How long requests may continue after the signal to end, in ms. */
const GRACE_MS = 8_000;

/**
 * Opens the port and answers until it is disposed of; then new work is refused, and running requests get some
 * time to finish.
 * @throws Failure `invalid_usage` when the port is not available
 */
export function serve(place: ServerPlace, service: Service): RunningServer {
  const { log, corsOrigins, guardedMethods, hostsVariable } = service;
  const { host, allowedHosts } = place;
  const access = createAccess(place);
  const draining = new AbortController();
  const underWay = trackRequests();
  const handler = inLayers(
    [
      observe(service.metrics, service.probePaths),
      guardOrigin({ corsOrigins, guardedMethods, hostsVariable, boundHost: host, allowedHosts }),
      ...(service.errorForms ?? []),
      ...service.files,
      ...(access.resource ? [serveResourceMetadata(access.resource)] : []),
      requireGrant(access, service.probePaths),
      refuseWhileDraining(() => draining.signal.aborted, service.probePaths),
      underWay.layer,
      ...service.limits,
    ],
    service.routes({ access, isReady: () => !draining.signal.aborted, draining: draining.signal }),
  );
  const listener = listen({ ...place, handler, log });
  return {
    url: urlOf(host, listener.port),
    async [Symbol.asyncDispose]() {
      draining.abort();
      log.info("the server ends", { requests: underWay.count(), grace_ms: GRACE_MS });
      await listener.close(GRACE_MS, () => log.warning("requests cut off", { requests: underWay.callOff() }));
    },
  };
}

function trackRequests() {
  const running = new Set<() => void>();
  /** Notes each request that passes, and how to cancel it. */
  const layer: Layer = (next) => async (exchange) => {
    const cut = Promise.withResolvers<never>();
    let work: AbortController | null = null;
    let isCalledOff = false;
    const callOff = (): void => {
      cut.reject(refusedAtEnd());
      isCalledOff = true;
      work?.abort();
    };
    const signal = (): AbortSignal => {
      work ??= new AbortController();
      if (isCalledOff) work.abort();
      return AbortSignal.any([exchange.signal(), work.signal]);
    };
    running.add(callOff);
    try {
      return await Promise.race([next({ ...exchange, signal }), cut.promise]);
    } finally {
      running.delete(callOff);
    }
  };
  return {
    layer,
    count: () => running.size,
    /** Answers all requests under way with 503 and aborts their work; returns how many they were. */
    callOff: (): number => {
      const all = [...running];
      for (const callOff of all) callOff();
      return all.length;
    },
  };
}
