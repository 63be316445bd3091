export { createBrowserFetcher } from "./browser/fetcher.ts";
export type { FindBrowserOptions } from "./browser/find.ts";
export type { BrowserHostOptions } from "./browser/host.ts";
export { type BrowserHosts, createBrowserHosts } from "./browser/hosts.ts";
export { isDownload, isUnusable } from "./browser/navigation-failure.ts";
export { sniffPageType } from "./charset/content-type.ts";
export { decodeText, decodingWarnings } from "./charset/decode.ts";
export { displayUrl } from "./display-url.ts";
export {
  type AddressSet,
  isIpAddress,
  isLoopbackAddress,
  parseAddressSet,
  subscriberNetwork,
} from "./egress/address-set.ts";
export { createEgress, type Egress } from "./egress/egress.ts";
export { openPinningProxy, type PinningProxy } from "./egress/pinning-proxy.ts";
export { type EgressCaller, parseEgressPolicy, requestCaller } from "./egress/policy.ts";
export {
  type ChooseProxy,
  chooseProxy,
  deleteProxyVariables,
  type ProxyEnvironment,
  type ProxySource,
  parseProxyBypass,
  readProxyEnvironment,
} from "./egress/proxy.ts";
export { systemResolve } from "./egress/resolver.ts";
export { createHttpFetcher, type HttpFetcher } from "./http/fetcher.ts";
export {
  backOffDelayMs,
  type Clock,
  isRetryableStatus,
  parseRetryAfterMs,
  systemClock,
} from "./http/tries.ts";
export { PRODUCT_TOKEN, productUserAgent, randomUserAgent } from "./http/user-agent.ts";
export { isTransient } from "./http/wire-failure.ts";
export { DEFAULT_FETCH_LIMITS, type FetchLimits } from "./limits.ts";
export { createRobotsCache, DEFAULT_ROBOTS_TIMES, type RobotsCache } from "./robots/cache.ts";
export { crawlDelayMs, isAllowed, type RobotsRules } from "./robots/rules.ts";
export { type BrowsingSession, createBrowsingSession } from "./session/session.ts";
export { openStorage } from "./session/storage.ts";
export type {
  FetchedPage,
  Fetcher,
  FetchOptions,
  Poster,
  PostResponse,
  StreamFetcher,
  Validators,
} from "./types.ts";
