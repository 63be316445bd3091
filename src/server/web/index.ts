export { extractorPage, searchPage } from "./pages.ts";
export { serveApiDocs } from "./serve-docs.ts";
export { servePage } from "./serve-page.ts";
export type { WebPage } from "./web-page.ts";
