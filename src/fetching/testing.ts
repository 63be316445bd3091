// What tests and benches use of this room besides its door; nothing of the product does.
export type { BrowserFetcherOptions } from "./browser/fetcher.ts";
export { findBrowser } from "./browser/find.ts";
export { type BrowserHost, createBrowserHost } from "./browser/host.ts";
export type { Resolve } from "./egress/resolver.ts";
export type { HttpFetcherOptions } from "./http/fetcher.ts";
export { DESKTOP_BROWSERS } from "./http/user-agent.ts";
export { parseRobots } from "./robots/rules.ts";
export { createCookieSession } from "./session/cookies.ts";
export type { StorageOptions } from "./session/storage.ts";
export type { StoredCookie } from "./session/stored-cookie.ts";
export type { FetchedStream, StreamPurpose } from "./types.ts";
