export type { CrawlSpec } from "./extractor/jobs/spec.ts";
export {
  type ExtractorServer,
  type ExtractorServerOptions,
  startExtractorServer,
} from "./extractor/serve.ts";
export { reservePort, urlOf } from "./listen.ts";
export { INSTRUCTIONS, type McpOptions, serveMcpStdio } from "./mcp/protocol.ts";
export { normalBasePath } from "./middleware/client.ts";
export { openProcessBoard, type ProcessBoard } from "./processes/board.ts";
export {
  type ProcessCopy,
  type StartCopy,
  type SuperviseOptions,
  superviseProcesses,
} from "./processes/supervise.ts";
export { type SearchServer, type SearchServerOptions, startSearchServer } from "./search/serve.ts";
