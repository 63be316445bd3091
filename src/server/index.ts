export type { CrawlSpec } from "./api/extractor/jobs/spec.ts";
export { type ExtractorServerOptions, startExtractorServer } from "./api/extractor/serve.ts";
export { documentation } from "./api/mcp/documentation.ts";
export type { McpOptions } from "./api/mcp/offer.ts";
export { serveMcpStdio } from "./api/mcp/protocol.ts";
export type { ToolOptions } from "./api/mcp/tools.ts";
export { startSearchServer } from "./api/search/serve.ts";
export { normalBasePath } from "./middleware/client.ts";
export { type ServingPart, type ServingProcess, type Supervisor, serveProcesses } from "./processes/serve.ts";
