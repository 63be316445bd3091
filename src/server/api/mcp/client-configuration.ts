import { quoteForShell, wordsIn } from "../../../base/text.ts";

/** Clients whose forms of a configuration are known; `generic` is the form that most others read. */
export const MCP_CLIENTS = wordsIn("claude-code claude-desktop cursor vscode zed codex generic");
export type McpClient = (typeof MCP_CLIENTS)[number];

/** How a client reaches the server: it starts a program, or asks an address. */
type McpAccess = { readonly name: string } & (
  | { readonly kind: "program"; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: "address"; readonly url: string; readonly needsKey: boolean }
);

/** The lines that people put into a client's file, or type. */
export type ClientConfiguration = {
  readonly type: "application/json" | "application/toml" | "text/plain";
  readonly text: string;
};

/** The configuration of a client, exactly as it takes it. */
export const clientConfiguration = (client: McpClient, access: McpAccess): ClientConfiguration =>
  FORMS[client](access);

const FORMS: Readonly<Record<McpClient, (access: McpAccess) => ClientConfiguration>> = {
  "claude-code": (access) => ({ type: "text/plain", text: claudeCommand(access) }),
  "claude-desktop": (access) => inJson("mcpServers", access, programOf(access)),
  cursor: (access) => inJson("mcpServers", access, untypedOf(access)),
  vscode: (access) => inJson("servers", access, typedOf(access)),
  zed: (access) =>
    inJson("context_servers", access, {
      ...untypedOf(access),
      env: access.kind === "program" ? {} : undefined,
    }),
  codex: (access) => ({ type: "application/toml", text: inToml(access) }),
  generic: (access) => inJson("mcpServers", access, typedOf(access)),
};

const inJson = (root: string, { name }: McpAccess, server: object): ClientConfiguration => ({
  type: "application/json",
  text: `{\n  "${root}": {\n    "${name}": ${onOneLine(server)}\n  }\n}`,
});

// Line breaks inside texts are escaped.
const onOneLine = (value: object): string => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");

const KEY = "Bearer YOUR_KEY";

function untypedOf(access: McpAccess) {
  if (access.kind === "program") return { command: access.command, args: access.args };
  return { url: access.url, headers: access.needsKey ? { Authorization: KEY } : undefined };
}

const typedOf = (access: McpAccess) => ({
  type: access.kind === "program" ? "stdio" : "http",
  ...untypedOf(access),
});

/** Claude Desktop starts programs only, so one of npm's carries the messages to an address. */
function programOf(access: McpAccess) {
  if (access.kind === "program") return untypedOf(access);
  const insecure = access.url.startsWith("http:") ? ["--allow-http"] : [];
  return { command: "npx", args: ["-y", "mcp-remote", access.url, ...insecure, ...headerOf(access)] };
}

const headerOf = ({ needsKey }: { readonly needsKey: boolean }): readonly string[] =>
  needsKey ? ["--header", `Authorization: ${KEY}`] : [];

function claudeCommand(access: McpAccess): string {
  const words =
    access.kind === "program"
      ? ["stdio", access.name, "--", access.command, ...access.args]
      : ["http", access.name, access.url, ...headerOf(access)];
  return ["claude", "mcp", "add", "--transport", ...words].map(quoteForShell).join(" ");
}

function inToml(access: McpAccess): string {
  const lines =
    access.kind === "program"
      ? [`command = ${inQuotes(access.command)}`, `args = [${access.args.map(inQuotes).join(", ")}]`]
      : [
          `url = ${inQuotes(access.url)}`,
          ...(access.needsKey ? [`bearer_token_env_var = "ARTICLE_EXTRACTOR_KEY"`] : []),
        ];
  return [`[mcp_servers.${access.name}]`, ...lines].join("\n");
}

// TOML escapes strings in the way of JSON.
const inQuotes = (text: string): string => JSON.stringify(text);
