// What tests and benches use of this room besides its door; nothing of the product does.
export { boolean } from "./values.ts";
