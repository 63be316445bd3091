// What tests and benches use of this room besides its door; nothing of the product does.
export { describeTenant } from "./describe.ts";
export { createTenantFinder } from "./find.ts";
export { gitSource as openGitSource } from "./git/source.ts";
export { chooseLocked, chooseMentioned, chooseVersion } from "./library.ts";
export { dueAt, nextRunAt, takeSyncSlot, withoutFutureTimes } from "./schedule.ts";
export type { FilesystemTenant, GitTenant, OnlineTenant } from "./settings.ts";
export {
  filesystemSource as openFolderSource,
  onlineSource as openOnlineSource,
} from "./source/open-source.ts";
export type { Source, SyncCounts } from "./source/source.ts";
export { leaseOf, recordOf, type SyncBook, type SyncRecord } from "./sync-book.ts";
export { openSharedSyncBook } from "./sync-book-postgres.ts";
