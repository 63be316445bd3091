export type { App, ArticleSession, BrowserMachine } from "./app.ts";
export { DEFAULT_NETWORK, type NetworkOptions, type Person, preferenceOf } from "./network.ts";
export {
  type Host,
  hasDisplay,
  type Overrides,
  openApp,
  type Program,
  readEnvironment,
  readProgram,
  stateDirectoryOf,
} from "./open.ts";
export { openStatsd } from "./statsd.ts";
export {
  type OpenTenants,
  openSources,
  openTenantApp,
  openTenants,
  type PlacedDeployment,
  type Sources,
  sourceProblems,
} from "./tenants.ts";
