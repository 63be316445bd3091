// What tests use of this room besides its door; nothing of the product does.
export { folderOf, type S3Options } from "./store.ts";
