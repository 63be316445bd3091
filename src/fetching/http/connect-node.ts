import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import zlib from "node:zlib";
import { Agent, type Dispatcher, ProxyAgent, request as send } from "undici";
import { keepNewest } from "../../base/bounded-map.ts";
import { defined } from "../../base/json.ts";
import {
  type Connect,
  type ConnectOptions,
  type WireRequest,
  type WireResponse,
  type WireRoute,
  withBuiltIn,
} from "./wire.ts";

/** The time limit for opening a connection; the whole request has its own. */
const CONNECT_TIMEOUT_MS = 30_000;
const MAX_KEPT_NAMES = 4096;
const MAX_KEPT_PROXIES = 32;

/** Sends by undici: Node's `fetch` cannot pin an address; here the lookup knows only the checked one. */
export function createNodeConnect(options: ConnectOptions): Connect {
  const ca = withBuiltIn(options.extraCertificates);
  const checked = new Map<string, string>();
  const direct = new Agent({
    connect: defined({ ca, lookup: lookupIn(checked), timeout: CONNECT_TIMEOUT_MS }),
  });
  const proxies = new Map<string, ProxyAgent>();

  const proxyFor = (route: ProxyRoute, isTunnel: boolean): ProxyAgent => {
    const key = `${isTunnel} ${route.proxyUrl} ${route.authorization}`;
    const kept = proxies.get(key);
    if (kept) return kept;
    const given = defined({
      uri: route.proxyUrl,
      proxyTunnel: isTunnel,
      requestTls: defined({ ca }),
      proxyTls: defined({ ca, servername: route.proxyHost }),
      token: route.authorization ?? undefined,
    });
    const agent = new ProxyAgent(given);
    void keepNewest(proxies, key, agent, MAX_KEPT_PROXIES)?.close();
    return agent;
  };

  const dispatcherFor = ({ route, url }: WireRequest): Dispatcher => {
    if (route.kind === "proxy") return proxyFor(route, url.protocol === "https:");
    keepNewest(checked, url.hostname, route.address, MAX_KEPT_NAMES);
    return direct;
  };

  return {
    acceptEncoding: "createZstdDecompress" in zlib ? "gzip, deflate, br, zstd" : "gzip, deflate, br",
    async request(wire) {
      const answer = await send(wire.url, {
        dispatcher: dispatcherFor(wire),
        method: wire.body === undefined ? "GET" : "POST",
        body: wire.body ?? null,
        headers: wire.headers,
        signal: wire.signal,
      });
      return toWireResponse(answer);
    },
    async close() {
      await Promise.all([direct.destroy(), ...[...proxies.values()].map((agent) => agent.destroy())]);
    },
  };
}

type ProxyRoute = Extract<WireRoute, { readonly kind: "proxy" }>;

function lookupIn(checked: ReadonlyMap<string, string>): LookupFunction {
  return (name, options, done) => {
    const address = checked.get(name);
    if (address === undefined) return done(new Error(`${name} was not checked`), "", 0);
    const family = address.includes(":") ? 6 : 4;
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

function toWireResponse(answer: Dispatcher.ResponseData): WireResponse {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  // The reader of an aborted body reports the error; without a listener Node would end the process.
  answer.body.on("error", () => {});
  return {
    status: answer.statusCode,
    headers,
    // Node's types for its web streams differ from the global ones, but the objects are the same.
    stream: () => Readable.toWeb(answer.body) as unknown as ReadableStream<Uint8Array>,
    bytes: async () => new Uint8Array(await answer.body.arrayBuffer()),
  };
}
