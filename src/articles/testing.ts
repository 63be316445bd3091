// What tests and benches use of this room besides its door; nothing of the product does.
export { emptyShell } from "./empty-shell.ts";
export type { ArticleResult } from "./result.ts";
export type { ArticleServiceParts } from "./service.ts";
