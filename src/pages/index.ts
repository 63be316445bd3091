export { createFileStore, type PageStore } from "./file-store.ts";
export { formatFrontMatter, parseFrontMatter } from "./front-matter.ts";
export { formatPageText, type Page } from "./page.ts";
