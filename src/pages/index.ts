export { createFileStore, type PageStore } from "./file-store.ts";
export { createObjectPageStore } from "./object-store.ts";
export { anchorsInText, formatFrontMatter, type Page, pageText, parseFrontMatter } from "./page.ts";
