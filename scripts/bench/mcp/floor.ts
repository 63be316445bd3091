/**
 * The SDK's bare floor: its server and transport, made for each request as ours are, with one tool that
 * answers a constant. Reads the constant from stdin, prints its port.
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
