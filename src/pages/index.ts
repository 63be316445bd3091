export { fileNameKey, pageFileName } from "./file-name.ts";
export { createFileStore } from "./file-store.ts";
export {
  type FrontMatter,
  type FrontMatterValue,
  formatFrontMatter,
  parseFrontMatter,
} from "./front-matter.ts";
export { formatPage, formatPageText, type Page, parsePage } from "./page.ts";
export type { PageStore } from "./store.ts";
