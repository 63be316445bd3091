export { extractorPage, searchPage } from "./pages.ts";
export { servePage } from "./serve-page.ts";
