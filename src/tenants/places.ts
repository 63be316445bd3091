import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../base/system-error.ts";
import type { TenantSettings } from "./settings.ts";

/**
 * The directory of a tenant's index and state: a hidden one in its own directory or, for folders that
 * somebody else fills and directories that cannot be written, one below the state directory.
 */
export function stateDirectoryOf(tenant: TenantSettings, stateDirectory: string): string {
  const isOurs = tenant.source !== "filesystem" && isWritable(tenant.rootDir);
  return isOurs ? join(tenant.rootDir, ".article-extractor") : join(stateDirectory, tenant.codename);
}

/** The index file of a tenant. */
export const indexPathOf = (tenant: TenantSettings, stateDirectory: string): string =>
  join(stateDirectoryOf(tenant, stateDirectory), "search.index");

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch (error) {
    // The first sync creates a missing directory.
    return isMissing(error);
  }
}
