export type { TenantDetail } from "./describe.ts";
export { type GitAccess, type GitPermissions, requireAllowedUrl } from "./git/access.ts";
export type { LockedPackage } from "./library.ts";
export { type RemoteExtractor, requireReachable } from "./online/fallback.ts";
export type { WebAccess } from "./online/plan.ts";
export { createTenantRegistry, type TenantRegistry } from "./registry.ts";
export type { TenantSearch, TenantSettings } from "./settings.ts";
export type { TenantStatus } from "./types.ts";
