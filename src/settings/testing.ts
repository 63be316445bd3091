// What tests and benches use of this room besides its door; nothing of the product does.
export { parseJsonc, withElement, withoutElement } from "./deployment/jsonc.ts";
export { boolean } from "./values.ts";
