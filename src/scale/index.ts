export { openPostgresFrontier } from "./frontier/open.ts";
export { openSharedHosts, type SharedHosts } from "./hosts.ts";
export { openPostgresJobQueue, type PostgresQueueOptions } from "./job-queue.ts";
export { DEFAULT_S3_LIMITS, openObjectStore } from "./objects/open.ts";
export { openPostgres, type Postgres } from "./postgres/postgres.ts";
export {
  checkReady,
  checkSessions,
  type DatabaseReport,
  inspect,
  migrate,
  WANTED_VERSION,
} from "./postgres/schema.ts";
export { openStoreOutput } from "./store-output.ts";
