import { type EgressCaller, isLoopbackAddress, requestCaller } from "../../fetching/index.ts";
import type { Exchange } from "../middleware/exchange.ts";

/**
 * On whose behalf a request's pages are fetched (DECISIONS section 2, "Egress policy"). A page of another site
 * in somebody's browser also connects from this machine, so the browser's own words count too: its
 * Sec-Fetch-Site, and a Host that is no name of this machine (DNS rebinding).
 */
export function callerOf(exchange: Exchange, hasApiKey: boolean): EgressCaller {
  const { client, request } = exchange;
  const site = request.headers.get("sec-fetch-site");
  const isForeignPage = site !== null && site !== "same-origin" && site !== "none";
  if (isForeignPage || !namesThisMachine(client.host)) return { kind: "remote_request" };
  return requestCaller({
    peerAddress: client.peerAddress,
    wasForwarded: client.wasForwarded,
    apiKeyConfigured: hasApiKey,
  });
}

/** Whether a caller may name paths where no root confines them. */
export const isLocalCaller = (caller: EgressCaller): boolean => caller.kind === "loopback_request";

function namesThisMachine(host: string): boolean {
  const name = URL.parse(`http://${host}/`)?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}
