export { isDownload, isUnusable } from "./browser/chromium.ts";
export { createBrowserFetcher } from "./browser/fetcher.ts";
export type { BrowserHostOptions } from "./browser/host.ts";
export { type BrowserHosts, createBrowserHosts, type FindBrowserOptions } from "./browser/hosts.ts";
export { isFileBody, sniffPageType } from "./charset/content-type.ts";
export { decodeText, decodingWarnings } from "./charset/decode.ts";
export { createEgress, type Egress, systemResolve } from "./egress/egress.ts";
export { openPinningProxy, type PinningProxy } from "./egress/pinning-proxy.ts";
export {
  type AddressSet,
  type EgressCaller,
  isIpAddress,
  isLoopbackAddress,
  parseAddressSet,
  parseEgressPolicy,
  requestCaller,
  subscriberNetwork,
} from "./egress/policy.ts";
export {
  type ChooseProxy,
  chooseProxy,
  deleteProxyVariables,
  type ProxyEnvironment,
  parseProxyBypass,
  readProxyEnvironment,
} from "./egress/proxy.ts";
export { authorityFiles } from "./http/authorities.ts";
export { createHttpFetcher, type FetcherOptions, type HttpFetcher } from "./http/fetcher.ts";
export { fetchPicture } from "./http/picture.ts";
export { unpackGzipFile } from "./http/read-answer.ts";
export {
  checkCustomHeaders,
  PRODUCT_TOKEN,
  productUserAgent,
  randomUserAgent,
} from "./http/request-headers.ts";
export {
  backOffDelayMs,
  type Clock,
  displayUrl,
  isRetryableStatus,
  isTransient,
  retryAfterMsOf,
  systemClock,
} from "./http/tries.ts";
export {
  crawlDelayMs,
  createRobotsCache,
  DEFAULT_ROBOTS_TIMES,
  groupName,
  isAllowed,
  type RobotsAnswer,
  type RobotsCache,
  type RobotsRules,
  type RobotsStore,
} from "./robots/robots.ts";
export { readCookiesFile } from "./session/cookies-file.ts";
export { type BrowsingSession, createBrowsingSession } from "./session/session.ts";
export { openStorage } from "./session/storage.ts";
export {
  type BeforeRequest,
  DEFAULT_FETCH_LIMITS,
  type FetchedPage,
  type Fetcher,
  type FetchLimits,
  type FetchOptions,
  type Poster,
  type PostResponse,
  type StreamFetcher,
  type Validators,
} from "./types.ts";
