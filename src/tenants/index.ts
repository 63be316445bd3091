export { describeTenant, type TenantDetail, type TenantSummary } from "./describe.ts";
export { createTenantFinder, type TenantFinder } from "./find.ts";
export type {
  FilesystemTenant,
  GitTenant,
  OnlineTenant,
  TenantSearch,
  TenantSettings,
} from "./settings.ts";
