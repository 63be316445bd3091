import { connect, type Socket } from "node:net";
import { onAbort } from "../../base/abort.ts";
import { keepNewest } from "../../base/bounded-map.ts";
import { steadyNow } from "../../base/clock.ts";
import { endOf } from "../egress/dial.ts";
import type { WireRoute } from "./wire.ts";

/** RFC 8305, section 5: how long an attempt has before the next one begins beside it, in ms. */
const ATTEMPT_DELAY_MS = 250;
/** How long a host's answering address is used without another race, in ms. */
const KEPT_MS = 10 * 60 * 1000;
const MAX_KEPT = 2048;
/** Some hosts have dozens of addresses; trying a few is enough. */
const MAX_ADDRESSES = 4;

const winners = new Map<string, { readonly end: string; readonly until: number }>();

/**
 * Puts the route first whose address answers first, because an address that swallows packets would take the whole time
 * of a request. Every address of the routes was checked by the egress policy; no other is tried.
 */
export async function fastestFirst(
  url: URL,
  routes: readonly WireRoute[],
  signal: AbortSignal,
): Promise<readonly WireRoute[]> {
  if (routes.length < 2) return routes;
  const tried = inTurns(url, routes).slice(0, MAX_ADDRESSES);
  const ends = tried.map((route) => endOf(url, route));
  const key = JSON.stringify([url.host, ends]);
  const kept = winners.get(key);
  const first = kept && steadyNow() < kept.until ? kept.end : await race(ends, signal);
  if (first === null) return tried;
  const until = kept && kept.end === first ? kept.until : steadyNow() + KEPT_MS;
  keepNewest(winners, key, { end: first, until }, MAX_KEPT);
  const isFirst = (route: WireRoute): boolean => endOf(url, route).host === first;
  return [...tried.filter(isFirst), ...tried.filter((route) => !isFirst(route))];
}

/** Orders addresses so that families take turns, beginning with that of the first. */
function inTurns(url: URL, routes: readonly WireRoute[]): WireRoute[] {
  const isSix = (route: WireRoute): boolean => endOf(url, route).host.includes(":");
  const same = routes.filter((route) => isSix(route) === isSix(routes[0]!));
  const other = routes.filter((route) => !same.includes(route));
  return same.flatMap((route, n) => [route, ...other.slice(n, n + 1)]).concat(other.slice(same.length));
}

/** @returns the host whose connection opens first; null when none does, or the signal aborts */
async function race(ends: readonly ReturnType<typeof endOf>[], signal: AbortSignal): Promise<string | null> {
  const sockets: Socket[] = [];
  const { promise, resolve } = Promise.withResolvers<string | null>();
  using _ = onAbort(signal, () => resolve(null));
  let left = ends.length;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const attempt = (): void => {
    clearTimeout(timer);
    const end = ends[sockets.length];
    if (!end) return;
    const socket = connect({ host: end.host, port: end.port });
    sockets.push(socket);
    socket.once("connect", () => resolve(end.host));
    socket.on("error", () => (--left === 0 ? resolve(null) : attempt()));
    timer = setTimeout(attempt, ATTEMPT_DELAY_MS);
  };
  attempt();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}
