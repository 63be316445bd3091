export { DEFAULT_S3_LIMITS, openObjectStore } from "./open.ts";
export {
  folderOf,
  isStoreUrl,
  type ObjectOptions,
  type ObjectStore,
  parseStoreUrl,
  type S3Encryption,
  type StoreLocation,
} from "./store.ts";
