export type { CrawlSpec } from "./extractor/jobs/spec.ts";
export {
  type ExtractorServer,
  type ExtractorServerOptions,
  startExtractorServer,
} from "./extractor/serve.ts";
export { INSTRUCTIONS, type McpOptions, serveMcpStdio } from "./mcp/protocol.ts";
export { normalBasePath } from "./middleware/client.ts";
export { type SearchServer, type SearchServerOptions, startSearchServer } from "./search/serve.ts";
