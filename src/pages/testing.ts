// What tests and benches use of this room besides its door; nothing of the product does.
export { fileNameKey, pageFileName } from "./catalog.ts";
export { formatPage, parsePage } from "./page.ts";
