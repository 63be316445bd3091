// Plain values: the type `Flag` checks them where flags.ts puts them into the command.

/** What only `serve` takes. */
export const SERVE_ONLY_FLAGS = [
  {
    name: "config",
    placeholder: "FILE",
    isPath: true,
    group: "Input",
    help: "search: deployment file (default DEPLOYMENT_CONFIG, then ./deployment.json)",
  },
  {
    name: "host",
    placeholder: "ADDRESS",
    group: "Serving",
    help: "Address to bind; wins over HOST and mcp_host",
  },
  {
    name: "port",
    placeholder: "N",
    group: "Serving",
    help: "Port; wins over PORT and mcp_port; 0: any free one",
  },
  {
    name: "stdio",
    group: "Serving",
    help: "search: serve one MCP client over stdin and stdout instead of HTTP",
  },
  {
    name: "lenient",
    group: "Serving",
    help: "search: start although a token is not set or the fallback extractor does not answer",
  },
  {
    name: "egress",
    placeholder: "POLICY",
    group: "Fetching",
    help: "extractor: addresses that pages may be fetched from: auto (default), open, public, or a list",
  },
] as const;
