// What tests and benches use of this room besides its door; nothing of the product does.
export { fileNameKey, pageFileName } from "./file-name.ts";
export { formatPage, parsePage } from "./page.ts";
