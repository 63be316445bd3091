// What tests and benches use of this room besides its door; nothing of the product does.
export { type DocsUrl, parseDocsUrl } from "./document-url.ts";
