export type { App, ArticleSession } from "./app.ts";
export {
  checkDatabase,
  checkSessions,
  type DatabaseReport,
  inspectDatabase,
  migrateDatabase,
  openDatabase,
  openReadyDatabase,
  openSharedJobQueue,
  type Postgres,
} from "./database.ts";
export { htmlReader } from "./html-reader.ts";
export {
  authorityPlacesOf,
  DEFAULT_NETWORK,
  type NetworkOptions,
  type Person,
  preferenceOf,
  type UrlRequest,
} from "./network.ts";
export {
  crawlStateDirectoryOf,
  type Host,
  hasDisplay,
  type Overrides,
  openApp,
  openIssuer,
  type Program,
  readEnvironment,
  readProgram,
  stateDirectoryOf,
} from "./open.ts";
export { openStore, storeOutput } from "./store.ts";
export {
  foreignStates,
  type OpenTenants,
  openSources,
  openTenantApp,
  openTenants,
  type PlacedDeployment,
  queryLogOf,
  sourceProblems,
} from "./tenants.ts";
