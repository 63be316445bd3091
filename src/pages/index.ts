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
export {
  isPictureName,
  PICTURES_FOLDER,
  PictureFolder,
  type PicturePlace,
  picturePathsIn,
  picturesIn,
} from "./pictures.ts";
