export { serveApiDocs } from "./api-docs.ts";
export type { WebPage } from "./pages.ts";
export { extractorPage, searchPage } from "./pages.ts";
export { servePage } from "./serve-page.ts";
