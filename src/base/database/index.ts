export {
  type Database,
  makePrivateDirectory,
  openDatabase,
  openSharedState,
  PRIVATE_FILE_MODE,
  type Query,
} from "./database.ts";
export {
  contendForLead,
  type HeldLease,
  holdLease,
  type LeaseOwner,
  type Leases,
  openLeaseOwner,
  openLeases,
} from "./lease.ts";
