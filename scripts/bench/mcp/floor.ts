/**
 * The least that the SDK costs: its server and transport, made for each request like ours, with one tool that
 * answers a constant. It reads the constant from stdin and prints its port.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const constant = await Bun.stdin.json();
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const mcp = new Server({ name: "floor", version: "1" }, { capabilities: { tools: {} } });
    mcp.setRequestHandler(CallToolRequestSchema, () => constant);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await mcp.connect(transport);
    return transport.handleRequest(request);
  },
});
console.log(server.port);
