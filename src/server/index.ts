export type { CrawlSpec } from "./api/extractor/jobs/spec.ts";
export { type ExtractorServerOptions, startExtractorServer } from "./api/extractor/serve.ts";
export { INSTRUCTIONS, type McpOptions, serveMcpStdio } from "./api/mcp/protocol.ts";
export { type SearchServerOptions, startSearchServer } from "./api/search/serve.ts";
export { reservePort } from "./listen.ts";
export { normalBasePath } from "./middleware/client.ts";
export { type ServingPart, type ServingProcess, type Supervisor, serveProcesses } from "./processes/serve.ts";
