export {
  type AddressSet,
  isIpAddress,
  isLoopbackAddress,
  parseAddressSet,
  subscriberNetwork,
} from "./address-set.ts";
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
export { type DecodedText, decodeText, decodingWarnings, type EncodingSource } from "./charset.ts";
export { sniffPageType } from "./content-type.ts";
export { type CookieSession, createCookieSession } from "./cookies.ts";
export { displayUrl } from "./display-url.ts";
export { type AdmittedTarget, createEgress, type Egress, type EgressOptions } from "./egress.ts";
export {
  type EgressCaller,
  type EgressPolicy,
  parseEgressPolicy,
  type RequestOrigin,
  requestCaller,
} from "./egress-policy.ts";
export { createHttpFetcher, type HttpFetcher, type HttpFetcherOptions } from "./http.ts";
export { DECIDED_FETCH_LIMITS, type FetchLimits } from "./limits.ts";
export { openPinningProxy, type PinningProxy, type PinningProxyOptions } from "./pinning-proxy.ts";
export {
  type ChooseProxy,
  type ChosenProxy,
  chooseProxy,
  forgetProxyVariables,
  type ProxyEnvironment,
  type ProxyOptions,
  type ProxySource,
  parseProxyBypass,
  readProxyEnvironment,
} from "./proxy.ts";
export { type Resolve, systemResolve } from "./resolver.ts";
export { backOffDelayMs, isRetryableStatus, parseRetryAfterMs } from "./retry.ts";
export {
  crawlDelayMs,
  isAllowed,
  parseRobots,
  type RobotsGroup,
  type RobotsRule,
  type RobotsRules,
} from "./robots.ts";
export {
  createRobotsCache,
  DECIDED_ROBOTS_TIMES,
  type RobotsCache,
  type RobotsCacheOptions,
} from "./robots-cache.ts";
export { type BrowsingSession, createBrowsingSession } from "./session/session.ts";
export { openStorage, type Storage, type StorageOptions } from "./session/storage.ts";
export type { StoredCookie } from "./stored-cookie.ts";
export { type Clock, systemClock } from "./tries.ts";
export type {
  FetchedHeaders,
  FetchedPage,
  FetchedStream,
  Fetcher,
  FetchOptions,
  PostAnswer,
  Poster,
  StreamFetcher,
  StreamPurpose,
  Validators,
} from "./types.ts";
export {
  DESKTOP_BROWSERS,
  DESKTOP_BROWSERS_AS_OF,
  PRODUCT_TOKEN,
  productUserAgent,
  randomUserAgent,
} from "./user-agent.ts";
export { isTransient } from "./wire-failure.ts";
