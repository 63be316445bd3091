export type { CrawlSpec } from "./api/extractor/jobs/spec.ts";
export {
  type ExtractorServer,
  type ExtractorServerOptions,
  startExtractorServer,
} from "./api/extractor/serve.ts";
export { INSTRUCTIONS, type McpOptions, serveMcpStdio } from "./api/mcp/protocol.ts";
export { type SearchServer, type SearchServerOptions, startSearchServer } from "./api/search/serve.ts";
export { reservePort, urlOf } from "./listen.ts";
export { normalBasePath } from "./middleware/client.ts";
export { openProcessBoard, type ProcessBoard } from "./processes/board.ts";
export {
  type ProcessCopy,
  type StartCopy,
  type SuperviseOptions,
  superviseProcesses,
} from "./processes/supervise.ts";
