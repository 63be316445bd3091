// What tests and benches use of this room besides its door; nothing of the product does.
export { DOCUMENT_INSTRUCTIONS } from "./api/mcp/tools.ts";
export { reservePort } from "./listen.ts";
