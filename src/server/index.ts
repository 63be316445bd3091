export type { CrawlSpec } from "./api/extractor/jobs/spec.ts";
export { type ExtractorServerOptions, startExtractorServer } from "./api/extractor/serve.ts";
export { type McpOptions, serveMcpStdio } from "./api/mcp/protocol.ts";
export { DOCUMENT_INSTRUCTIONS, documentTools, type ToolOptions } from "./api/mcp/tools.ts";
export { startSearchServer } from "./api/search/serve.ts";
export { normalBasePath } from "./middleware/client.ts";
export { type ServingPart, type ServingProcess, type Supervisor, serveProcesses } from "./processes/serve.ts";
