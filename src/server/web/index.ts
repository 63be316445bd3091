export { serveApiDocs } from "./api-docs.ts";
export { extractorPages, searchPages, type WebPages } from "./pages.ts";
export { servePages } from "./serve-page.ts";
