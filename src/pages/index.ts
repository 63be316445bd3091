export { createFileStore, type PageStore } from "./file-store.ts";
export { formatFrontMatter, parseFrontMatter } from "./front-matter.ts";
export { anchorsInText, type Page, pageText } from "./page.ts";
