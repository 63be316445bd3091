export { DEFAULT_S3_LIMITS, openObjectStore } from "./open.ts";
export {
  folderOf,
  isStoreUrl,
  type ObjectStore,
  parseStoreUrl,
  type S3Encryption,
  type StoreLocation,
} from "./store.ts";
