export { type Database, type DatabaseOptions, openDatabase, type Query } from "./database.ts";
export {
  contendForLead,
  type HoldOptions,
  holdLease,
  type LeadershipOptions,
  type Leases,
  openLeases,
} from "./lease.ts";
export { type LeaseOwner, openLeaseOwner } from "./lease-owner.ts";
export { makePrivateDirectory, PRIVATE_FILE_MODE } from "./private-files.ts";
export { openSharedState, type SharedState } from "./state-file.ts";
