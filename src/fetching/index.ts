export {
  type BrowserFetcherOptions,
  createBrowserFetcher,
} from "./browser/fetcher.ts";
export { type FindBrowserOptions, findBrowser } from "./browser/find.ts";
export { type BrowserHost, type BrowserHostOptions, createBrowserHost } from "./browser/host.ts";
export { type BrowserHosts, type BrowserHostsOptions, createBrowserHosts } from "./browser/hosts.ts";
export { isDownload, isUnusable } from "./browser/navigation-failure.ts";
export type { Pause } from "./browser/pause.ts";
export type { BrowserBehaviour } from "./browser/read-page.ts";
export { sniffPageType } from "./charset/content-type.ts";
export { type DecodedText, decodeText, decodingWarnings, type EncodingSource } from "./charset/decode.ts";
export { displayUrl } from "./display-url.ts";
export {
  type AddressSet,
  isIpAddress,
  isLoopbackAddress,
  parseAddressSet,
  subscriberNetwork,
} from "./egress/address-set.ts";
export { type AdmittedTarget, createEgress, type Egress, type EgressOptions } from "./egress/egress.ts";
export { openPinningProxy, type PinningProxy, type PinningProxyOptions } from "./egress/pinning-proxy.ts";
export {
  type EgressCaller,
  type EgressPolicy,
  parseEgressPolicy,
  type RequestOrigin,
  requestCaller,
} from "./egress/policy.ts";
export {
  type ChooseProxy,
  type ChosenProxy,
  chooseProxy,
  deleteProxyVariables,
  type ProxyEnvironment,
  type ProxyOptions,
  type ProxySource,
  parseProxyBypass,
  readProxyEnvironment,
} from "./egress/proxy.ts";
export { type Resolve, systemResolve } from "./egress/resolver.ts";
export { createHttpFetcher, type HttpFetcher, type HttpFetcherOptions } from "./http/fetcher.ts";
export {
  backOffDelayMs,
  type Clock,
  isRetryableStatus,
  parseRetryAfterMs,
  systemClock,
} from "./http/tries.ts";
export {
  DESKTOP_BROWSERS,
  DESKTOP_BROWSERS_AS_OF,
  PRODUCT_TOKEN,
  productUserAgent,
  randomUserAgent,
} from "./http/user-agent.ts";
export { isTransient } from "./http/wire-failure.ts";
export { DEFAULT_FETCH_LIMITS, type FetchLimits } from "./limits.ts";
export {
  createRobotsCache,
  DEFAULT_ROBOTS_TIMES,
  type RobotsCache,
  type RobotsCacheOptions,
} from "./robots/cache.ts";
export {
  crawlDelayMs,
  isAllowed,
  parseRobots,
  type RobotsGroup,
  type RobotsRule,
  type RobotsRules,
} from "./robots/rules.ts";
export { type CookieSession, createCookieSession } from "./session/cookies.ts";
export { type BrowsingSession, createBrowsingSession } from "./session/session.ts";
export { openStorage, type Storage, type StorageOptions } from "./session/storage.ts";
export type { StoredCookie } from "./session/stored-cookie.ts";
export type {
  FetchedHeaders,
  FetchedPage,
  FetchedStream,
  Fetcher,
  FetchOptions,
  Poster,
  PostResponse,
  StreamFetcher,
  StreamPurpose,
  Validators,
} from "./types.ts";
