import { type EgressCaller, requestCaller } from "../../fetching/index.ts";
import type { Exchange } from "../middleware/exchange.ts";
import { isLoopbackHost } from "../middleware/origin.ts";

/**
 * On whose behalf a request's pages are fetched. A page of another site in somebody's browser also connects
 * from this machine, so the browser's headers count too: Sec-Fetch-Site, and a Host that is no name of this
 * machine (DNS rebinding, or a proxy that passes the Host on).
 */
export function callerOf({ client, request }: Exchange, hasApiKey: boolean): EgressCaller {
  const site = request.headers.get("sec-fetch-site");
  const isForeignPage = site !== null && site !== "same-origin" && site !== "none";
  if (isForeignPage || !isLoopbackHost(request.headers.get("host") ?? "")) return { kind: "remote_request" };
  return requestCaller({
    peerAddress: client.peerAddress,
    wasForwarded: client.wasForwarded,
    apiKeyConfigured: hasApiKey,
  });
}

/** Whether a caller may name paths although no root confines them. */
export const isLocalCaller = (caller: EgressCaller): boolean => caller.kind === "loopback_request";
