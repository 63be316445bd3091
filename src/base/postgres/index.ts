export { openSharedLeases } from "./leases.ts";
export { openPostgres, type Parameter, type Patience, type Postgres, type Queries } from "./postgres.ts";
export {
  checkReady,
  type DatabaseReport,
  inspect,
  migrate,
  schemaVersion,
  WANTED_VERSION,
} from "./schema.ts";
export { checkSchema, parseDatabaseUrl } from "./target.ts";
