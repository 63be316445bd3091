// What tests and benches use of this room besides its door; nothing of the product does.
export type { BrowserMachine } from "./app.ts";
export { openStatsd } from "./statsd.ts";
export { openSources, type Sources } from "./tenants.ts";
