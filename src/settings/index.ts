export {
  DEFAULT_CRAWL,
  DEFAULT_EXTRACTION,
  DEFAULT_SEARCH,
  EXTRACTION_LIMITS,
  extractionDefaults,
  GARBAGE_COLLECTION,
  INDEX_BUILD,
} from "./defaults.ts";
export { type TenantFields, withoutTenant, withTenant } from "./deployment/edit.ts";
export { MAX_DEPLOYMENT_BYTES, readDeployment } from "./deployment/read.ts";
export { deploymentJsonSchema } from "./deployment/schema.ts";
export type { Deployment, FallbackSettings } from "./deployment/types.ts";
export { withDotenv } from "./dotenv.ts";
export {
  type Environment,
  readSettings,
  type SettingChecks,
  type Settings,
  VARIABLES,
} from "./environment.ts";
export { misspeltVariables } from "./misspelt.ts";
export {
  byteCount,
  choice,
  decimal,
  describeMismatch,
  ENGINES,
  FAVORS,
  headerText,
  integer,
  text,
  type ValueParser,
} from "./values.ts";
