export { INSTRUCTIONS, type McpOptions, serveMcpStdio } from "./mcp/protocol.ts";
export { type SearchServer, type SearchServerOptions, startSearchServer } from "./search/serve.ts";
