import { type EgressCaller, isLoopbackAddress, requestCaller } from "../../fetching/index.ts";
import type { Exchange, Layer } from "./exchange.ts";
import { answered } from "./observe.ts";
import { ProblemError } from "./problem.ts";

export type OriginRules = {
  /** The address that the server is bound to. */
  readonly boundHost: string;
  /** Names that Host may contain besides those of this machine; null allows any unless bound to loopback. */
  readonly allowedHosts: readonly string[] | null;
  /** The variable that has these names. */
  readonly hostsVariable: string;
  /** Origins (`https://app.example`) whose pages may send requests and read the answers; `*` means every origin. */
  readonly corsOrigins: readonly string[];
  /** Methods that are refused for foreign origins; reading does no harm when the answer stays unreadable. */
  readonly guardedMethods: readonly string[];
};

/**
 * Keeps pages of other sites in somebody's browser from using the server: a Host that is not the server's
 * (DNS rebinding) and a foreign Origin are refused with 403; listed origins get CORS headers.
 */
export function guardOrigin(rules: OriginRules): Layer {
  const allowsHost = hostRule(rules);
  return (next) => async (exchange) => {
    const { request, client } = exchange;
    const host = request.headers.get("host") ?? "";
    const foreign = [host, client.host].find((name) => !allowsHost(name));
    if (foreign !== undefined) {
      exchange.notes.refused = `${foreign.slice(0, MAX_SHOWN_HOST)} is not in ${rules.hostsVariable}`;
      throw refusal(
        `the Host header names no host of this server; its operator can add it to ${rules.hostsVariable}`,
      );
    }
    const origin = request.headers.get("origin");
    if (origin === null) return next(exchange);
    const isListed = rules.corsOrigins.includes(origin) || rules.corsOrigins.includes("*");
    if (isListed && isPreflight(request))
      return withCors(new Response(null, { status: 204 }), exchange, origin);
    if (!isListed && !isSameOrigin(origin, exchange) && rules.guardedMethods.includes(request.method))
      throw refusal("requests of other sites are refused; the operator can allow an origin");
    // Pages of listed origins may read errors too.
    return isListed ? withCors(await answered(next, exchange), exchange, origin) : next(exchange);
  };
}

const MAX_SHOWN_HOST = 200;

const refusal = (detail: string): ProblemError => new ProblemError(403, "origin_refused", detail);

function hostRule({ boundHost, allowedHosts }: OriginRules): (host: string) => boolean {
  if (allowedHosts === null && boundHost !== "localhost" && !isLoopbackAddress(boundHost)) return () => true;
  const names = new Set((allowedHosts ?? []).map((name) => name.toLowerCase()));
  return (host) => {
    const name = hostName(host);
    if (name === null) return false;
    if (names.has("*") || names.has(host.toLowerCase()) || names.has(name)) return true;
    // This holds whatever the server is bound to: local probes use localhost, and no foreign name resolves to
    // such a name.
    return isLoopbackName(name);
  };
}

const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);

/** The name of `name:port`, in lower case and without a trailing dot or brackets. */
function hostName(host: string): string | null {
  const url = URL.parse(`http://${host}/`);
  if (!url || url.host === "" || /[/?#@\\]/.test(host)) return null;
  return url.hostname.replace(/\.$/, "").replace(/^\[|\]$/g, "");
}

/** Whether a page of this server sends the request; `null` and files are foreign. */
const isSameOrigin = (origin: string, { client }: Exchange): boolean =>
  URL.parse(origin)?.host === URL.parse(`${client.scheme}://${client.host}/`)?.host && URL.canParse(origin);

const isPreflight = (request: Request): boolean =>
  request.method === "OPTIONS" && request.headers.has("access-control-request-method");

function withCors(response: Response, { request }: Exchange, origin: string): Response {
  const { headers } = response;
  headers.set("access-control-allow-origin", origin);
  headers.append("vary", "Origin");
  headers.set(
    "access-control-expose-headers",
    "Location, Retry-After, X-Request-ID, WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version",
  );
  if (isPreflight(request)) {
    headers.set("access-control-allow-methods", "GET, POST, DELETE");
    headers.set("access-control-allow-headers", request.headers.get("access-control-request-headers") ?? "");
    headers.set("access-control-max-age", "600");
  }
  return response;
}

/**
 * On whose behalf a request's pages are fetched. A page of another site in somebody's browser also connects
 * from this machine, so the browser's headers count too: Sec-Fetch-Site, and a Host that is no name of this
 * machine (DNS rebinding, or a proxy that passes the Host on).
 */
export function callerOf({ client, request }: Exchange, hasApiKey: boolean): EgressCaller {
  const site = request.headers.get("sec-fetch-site");
  const isForeignPage = site !== null && site !== "same-origin" && site !== "none";
  const name = hostName(request.headers.get("host") ?? "");
  if (isForeignPage || name === null || !isLoopbackName(name)) return { kind: "remote_request" };
  return requestCaller({
    peerAddress: client.peerAddress,
    wasForwarded: client.wasForwarded,
    apiKeyConfigured: hasApiKey,
  });
}
