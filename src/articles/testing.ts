// What tests and benches use of this room besides its door; nothing of the product does.

export type { ArticleResult } from "./fetched-article.ts";
export { MakeHistory, type Released } from "./make-history.ts";
export type { ArticleServiceParts } from "./service.ts";
export { emptyShell } from "./shell.ts";
