// What tests and benches use of this room besides its door; nothing of the product does.
export type { BrowserMachine } from "./app.ts";
export { openStatsd } from "./statsd.ts";
export type { Sources } from "./tenants.ts";
