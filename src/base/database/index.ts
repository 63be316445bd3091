export { type Database, openDatabase, openSharedState, type Query } from "./database.ts";
export { contendForLead, holdLease, type Leases, openLeases } from "./lease.ts";
export { type LeaseOwner, openLeaseOwner } from "./lease-owner.ts";
export { makePrivateDirectory, PRIVATE_FILE_MODE } from "./private-files.ts";
