export { openPostgres, type Parameter, type Postgres, type Queries } from "./postgres.ts";
export {
  checkReady,
  type DatabaseReport,
  inspect,
  migrate,
  WANTED_VERSION,
} from "./schema.ts";
export { checkSchema, parseDatabaseUrl } from "./target.ts";
