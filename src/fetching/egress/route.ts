import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import type { WireRoute } from "../http/connect.ts";
import type { Egress } from "./egress.ts";
import type { EgressCaller } from "./policy.ts";
import type { ChooseProxy, ChosenProxy } from "./proxy.ts";

/** Finds at least one way to a URL that the egress policy admits, in the order to try them. */
export type RouteFinder = (url: URL, signal: AbortSignal) => Promise<readonly WireRoute[]>;

export type RouteOptions = {
  readonly egress: Egress;
  readonly caller: EgressCaller;
  readonly chooseProxy: ChooseProxy;
  readonly log: Log;
};

/** Finds routes for one caller, and logs each proxy the first time that it is used. */
export function createRouteFinder(options: RouteOptions): RouteFinder {
  const { egress, caller, log } = options;
  const logged = new Set<string>();
  const logOnce = (proxy: ChosenProxy | null): void => {
    const shown = proxy?.url ?? "none";
    if (logged.has(shown)) return;
    logged.add(shown);
    log.info("proxy resolved", { proxy: shown });
  };
  return async (url, signal) => {
    const proxy = options.chooseProxy(url);
    logOnce(proxy);
    if (proxy) {
      egress.admitThroughProxy(url, caller);
      return proxyRoutes(options, proxy, signal);
    }
    const { host, addresses } = await egress.admit(url, caller, signal);
    return addresses.map((address): WireRoute => ({ kind: "direct", host, address }));
  };
}

async function proxyRoutes(
  options: RouteOptions,
  proxy: ChosenProxy,
  signal: AbortSignal,
): Promise<WireRoute[]> {
  const proxyUrl = new URL(proxy.url);
  const caller: EgressCaller = proxy.source === "operator" ? { kind: "operator" } : options.caller;
  const { host, addresses } = await options.egress.admit(proxyUrl, caller, signal);
  // A proxy that is reached over TLS must keep its name for the certificate, so its address cannot be pinned:
  // an outside caller could make the name resolve elsewhere a moment later.
  if (proxyUrl.protocol === "https:") {
    if (caller.kind === "remote_request")
      throw new Failure("egress_refused", "the egress policy refuses a proxy over https in a request");
    return [{ kind: "proxy", proxyUrl: proxy.url, proxyHost: host, authorization: proxy.authorization }];
  }
  return addresses.map((address): WireRoute => {
    const pinned = address.includes(":") ? `[${address}]` : address;
    const url = `http://${pinned}:${proxyUrl.port || "80"}`;
    return { kind: "proxy", proxyUrl: url, proxyHost: host, authorization: proxy.authorization };
  });
}
