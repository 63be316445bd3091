import { Failure } from "../../base/failure.ts";
import { decodeLoosely } from "../../base/text.ts";
import { networkHolds, normalizeHost, parseIpAddress, parseIpNetwork } from "./policy.ts";

/** The source of a proxy's address. It decides whether the proxy may be in an inner network. */
type ProxySource = "caller" | "operator";

/** A proxy to use. Only `authorization` holds the credentials. */
export type ChosenProxy = {
  /** `http://host:port` or `https://host:port` without credentials; logs show this. */
  readonly url: string;
  /** The value of Proxy-Authorization, null when the proxy's URL has no credentials. */
  readonly authorization: string | null;
  readonly source: ProxySource;
};

/** The contents of the eight proxy variables, read once. */
export type ProxyEnvironment = {
  readonly http: ChosenProxy | null;
  readonly https: ChosenProxy | null;
  /** The entries of NO_PROXY. */
  readonly bypass: readonly string[];
};

/**
 * Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, preferring lower case, and DELETES all eight
 * from `env`: Bun's fetch reads them at every request, and its NO_PROXY would override an explicit proxy.
 * @throws Failure `invalid_settings` with a line for every variable whose value is not a proxy address
 */
export function readProxyEnvironment(env: Record<string, string | undefined>): ProxyEnvironment {
  const take = (name: string): { readonly name: string; readonly value: string } | null => {
    const lower = env[name.toLowerCase()]?.trim();
    const value = lower || env[name]?.trim() || "";
    return value === "" ? null : { name, value };
  };
  const [http, https, all, no] = PROXY_VARIABLES.map(take);
  deleteProxyVariables(env);
  const wrong = new Set<string>();
  const read = (variable: typeof http): ChosenProxy | null => {
    if (!variable) return null;
    const proxy = parseProxyUrl(variable.value, "operator");
    if (!proxy) wrong.add(`${variable.name}: ${whyNoProxy(variable.value)}`);
    return proxy;
  };
  const proxies = { http: read(http ?? all), https: read(https ?? all) };
  if (wrong.size > 0) throw new Failure("invalid_settings", [...wrong].join("\n"));
  return { ...proxies, bypass: parseProxyBypass(no?.value ?? "") };
}

const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] as const;

/** Deletes all eight proxy variables from `env`, so that the runtime does not act on them. */
export function deleteProxyVariables(env: Record<string, string | undefined>): void {
  for (const name of PROXY_VARIABLES) {
    delete env[name];
    delete env[name.toLowerCase()];
  }
}

/** Says what is wrong with an address without repeating it, because it may hold a password. */
function whyNoProxy(text: string): string {
  const form = "(http://[user:password@]host[:port])";
  const socks = /^socks\d?(?=[a-z]?:\/\/)/i.exec(text.trim())?.[0].toUpperCase();
  return socks
    ? `${socks} proxies are not supported; HTTP and HTTPS proxies are taken ${form}`
    : `not the address of an http or https proxy ${form}`;
}

/** Splits a NO_PROXY value at commas and spaces. */
export const parseProxyBypass = (text: string): string[] =>
  text.split(/[\s,]+/).filter((entry) => entry !== "");

type ProxyOptions = {
  /** The proxy that a request, flag or setting names; it takes precedence over the environment's. */
  readonly explicit: string | null;
  readonly explicitSource: ProxySource;
  /** Hosts that are reached without any proxy, in NO_PROXY's grammar. */
  readonly bypass: readonly string[];
  readonly environment: ProxyEnvironment;
};

/** Finds the proxy for a URL; null means a direct connection. */
export type ChooseProxy = (url: URL) => ChosenProxy | null;

/**
 * Returns the rule for choosing a proxy: the explicit one, else the environment's for the URL's scheme. The
 * bypass list applies to both, NO_PROXY only to the environment's proxies.
 * @throws Failure `invalid_usage` when the explicit proxy is not a proxy address; the message does not repeat
 * it, because it may hold a password
 */
export function chooseProxy(options: ProxyOptions): ChooseProxy {
  const explicit = options.explicit?.trim() ? parseProxyUrl(options.explicit, options.explicitSource) : null;
  if (options.explicit?.trim() && !explicit)
    throw new Failure("invalid_usage", `proxy: ${whyNoProxy(options.explicit)}`);
  const isBypassed = compileBypass(options.bypass);
  const isBypassedByEnvironment = compileBypass(options.environment.bypass);
  return (url) => {
    if (isBypassed(url)) return null;
    if (explicit) return explicit;
    if (isBypassedByEnvironment(url)) return null;
    return url.protocol === "https:" ? options.environment.https : options.environment.http;
  };
}

/**
 * Reads the URL of an http or https proxy; without a scheme it means http.
 * @returns null for anything else
 */
function parseProxyUrl(text: string, source: ProxySource): ChosenProxy | null {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "") return null;
  const pair = `${decodeLoosely(url.username)}:${decodeLoosely(url.password)}`;
  const bytes = new TextEncoder().encode(pair);
  return {
    url: `${url.protocol}//${url.host}`,
    authorization: pair === ":" ? null : `Basic ${btoa(String.fromCharCode(...bytes))}`,
    source,
  };
}

/**
 * Compiles bypass entries: `*` is every host, `host` that host, `.suffix` (or `*.suffix`) every name below it, and an
 * address or CIDR network covers the literal addresses in it; each may end in `:port`. Other entries match nothing.
 */
export function compileBypass(entries: readonly string[]): (url: URL) => boolean {
  const matchers = entries.map(compileEntry);
  return (url) => {
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    const target = { host: normalizeHost(url.hostname), port };
    return matchers.some((matches) => matches(target));
  };
}

function compileEntry(entry: string): (target: { readonly host: string; readonly port: string }) => boolean {
  if (entry === "*") return () => true;
  const [hostText, port] = splitPort(entry.toLowerCase());
  const network = parseIpNetwork(hostText);
  if (network) {
    return (target) => {
      const address = parseIpAddress(target.host);
      return address !== null && networkHolds(network, address) && (port === null || port === target.port);
    };
  }
  const pattern = normalizeHost(hostText.startsWith("*.") ? hostText.slice(1) : hostText);
  return (target) =>
    (pattern.startsWith(".") ? target.host.endsWith(pattern) : target.host === pattern) &&
    (port === null || port === target.port);
}

function splitPort(entry: string): readonly [host: string, port: string | null] {
  const match = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(entry);
  return match ? [match[1] ?? "", match[2] ?? null] : [entry, null];
}
