export { hashedPageFileName } from "./catalog.ts";
export { createFileStore, type PageStore } from "./file-store.ts";
export {
  anchorsInText,
  formatFrontMatter,
  formatPage,
  type Page,
  pageText,
  parseFrontMatter,
  parsePage,
} from "./page.ts";
export { PictureFolder, picturesIn } from "./pictures.ts";
