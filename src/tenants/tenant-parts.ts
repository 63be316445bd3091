import type { Log } from "../base/log.ts";
import type { DeploymentId } from "./place.ts";
import type { SourceParts } from "./source/open-source.ts";
import type { SyncBook } from "./sync-book.ts";
import type { IndexBuilding } from "./types.ts";

/** What all tenants of a deployment work with. */
export type TenantParts = SourceParts & {
  /** An absolute path; indexes without a place beside their documents are kept there. */
  readonly stateDirectory: string;
  /** The records that all processes which serve the same tenants share. */
  readonly book: SyncBook;
  /** Of all processes of one deployment, one builds and syncs. */
  readonly deployment: DeploymentId;
  readonly building: IndexBuilding;
  /** Whether there are no schedules and no outbound connections. */
  readonly isOffline: boolean;
  readonly onSynced: OnSynced;
  readonly log: Log;
};

/** Is told of each sync that ended, cancelled ones left out. */
export type OnSynced = (codename: string, outcome: "success" | "failure") => void;
