export { describeTenant, type TenantDetail, type TenantSummary } from "./describe.ts";
export { createTenantFinder, type TenantFinder } from "./find.ts";
export { type GitAccess, requireAllowedUrl } from "./git/access.ts";
export { gitSource as openGitSource } from "./git/source.ts";
export { type RemoteExtractor, requireReachable } from "./online/fallback.ts";
export type { TenantCrawler, WebAccess } from "./online/parts.ts";
export type { CrawlPoliteness } from "./online/plan.ts";
export { onlineSource as openOnlineSource } from "./online/source.ts";
export {
  createTenantRegistry,
  type RegistryOptions,
  type TenantRegistry,
} from "./registry.ts";
export type {
  FilesystemTenant,
  GitTenant,
  OnlineTenant,
  TenantSearch,
  TenantSettings,
} from "./settings.ts";
export { filesystemSource as openFolderSource } from "./source/filesystem.ts";
export type { DocumentsContext, Source, SourceWatch, SyncContext, SyncCounts } from "./source/source.ts";
export type { IndexBuilding, SearchAnswer, TenantSearchOptions, TenantStatus } from "./types.ts";
