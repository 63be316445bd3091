export {
  crawlDefaults,
  DEFAULT_EXTRACTION,
  DEFAULT_SEARCH,
  EXTRACTION_LIMITS,
  extractionDefaults,
  GARBAGE_COLLECTION,
  INDEX_BUILD,
} from "./defaults.ts";
export {
  MAX_DEPLOYMENT_BYTES,
  readDeployment,
  type TenantFields,
  withFields,
  withoutTenant,
  withTenant,
} from "./deployment/read.ts";
export { deploymentJsonSchema } from "./deployment/schema.ts";
export type { Deployment, FallbackSettings } from "./deployment/translate.ts";
export { misspeltVariables, withDotenv } from "./dotenv.ts";
export {
  type Environment,
  readSettings,
  SERVER_ROLES,
  type SettingChecks,
  type Settings,
  VARIABLES,
} from "./environment.ts";
export {
  choice,
  describeMismatch,
  integer,
  parserOf,
  text,
  type ValueParser,
} from "./values.ts";
