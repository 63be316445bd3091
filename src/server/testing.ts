// What tests and benches use of this room besides its door; nothing of the product does.
export { INSTRUCTIONS } from "./api/mcp/protocol.ts";
export { reservePort } from "./listen.ts";
