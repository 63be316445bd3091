export { createFileStore, type PageStore } from "./file-store.ts";
export { anchorsInText, formatFrontMatter, type Page, pageText, parseFrontMatter } from "./page.ts";
