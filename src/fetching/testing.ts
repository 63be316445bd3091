// What tests and benches use of this room besides its door; nothing of the product does.
export type { BrowserFetcherOptions } from "./browser/fetcher.ts";
export { type BrowserHost, createBrowserHost } from "./browser/host.ts";
export { findBrowser } from "./browser/hosts.ts";
export { binaryBody, sniffPageType } from "./charset/content-type.ts";
export type { Resolve } from "./egress/egress.ts";
export { formatIpAddress, networkHolds, parseIpAddress, parseIpNetwork } from "./egress/policy.ts";
export type { HttpFetcherOptions } from "./http/fetcher.ts";
export { DESKTOP_BROWSERS } from "./http/request-headers.ts";
export { parseRobots } from "./robots/robots.ts";
export { type CookieChange, createCookieSession, type StoredCookie } from "./session/cookies.ts";
export type { StorageOptions } from "./session/storage.ts";
export type { FetchedStream, StreamPurpose } from "./types.ts";
