import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { BINARY, cleanEnvironment, requireBinary } from "./binary.ts";
import { freePort, untilReady } from "./local.ts";
import { callMcp, connectMcp } from "./mcp.ts";

/** Makes a directory with a deployment file for one folder, `docs`, which holds one document besides those given. */
export function writeDeployment(
  infrastructure: object = {},
  tenant: object = {},
  documents: Readonly<Record<string, string>> = {},
): string {
  const root = mkdtempSync(join(tmpdir(), "serve-"));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "docs/proxies.md"), "# Proxies\n\nNO_PROXY lists hosts that go without.\n");
  for (const [name, text] of Object.entries(documents)) writeFileSync(join(root, "docs", name), text);
  const json = {
    infrastructure: {
      mcp_host: "127.0.0.1",
      mcp_port: 1024,
      allow_index_builds: true,
      log_level: "info",
      ...infrastructure,
    },
    tenants: [
      { source_type: "filesystem", codename: "tool", docs_name: "Tool", docs_root_dir: "docs", ...tenant },
    ],
  };
  writeFileSync(join(root, "deployment.json"), JSON.stringify(json));
  return root;
}

export type ServeOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  /** The port; 0, the default, takes a free one, and null leaves it to the deployment file. */
  readonly port?: number | null;
  /** Its log's level hides where it listens. */
  readonly isSilent?: boolean;
  /** A command that starts the program, such as a container's; killing the command kills the program. */
  readonly within?: readonly string[];
};

/** The built program as a server. */
export class Served implements AsyncDisposable {
  readonly child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  /** All that it has said so far. */
  said = "";
  /** Its origin. */
  url = "";

  private constructor(child: Bun.Subprocess<"ignore", "ignore", "pipe">) {
    this.child = child;
  }

  /** Starts `serve search` in the directory, on a free port. @throws when it ends instead */
  static async start(
    root: string,
    {
      env = {},
      words = [],
      isSilent = false,
      port = isSilent ? freePort() : 0,
      within = [],
    }: ServeOptions = {},
  ): Promise<Served> {
    requireBinary();
    const flags = port === null ? words : ["--port", String(port), ...words];
    const child = Bun.spawn([...within, BINARY, "serve", "search", ...flags], {
      cwd: root,
      env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state"), ...env }),
      stdio: ["ignore", "ignore", "pipe"],
    });
    const served = new Served(child);
    const isServing = Promise.withResolvers<void>();
    void served.#listen(isServing);
    if (isSilent && port !== null)
      void untilReady(port).then((origin) => {
        served.url = origin;
        isServing.resolve();
      });
    await isServing.promise;
    return served;
  }

  async #listen(isServing: PromiseWithResolvers<void>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of this.child.stderr) {
      this.said += decoder.decode(piece, { stream: true });
      this.url ||= /serving documentation\b[^\n]*?\burl[":=]+(http:\S+?)\/mcp/.exec(this.said)?.[1] ?? "";
      if (this.url !== "") isServing.resolve();
    }
    isServing.reject(new Error(`it ended: ${this.said}`));
  }

  /** An MCP client over HTTP; close it after use. */
  connect(headers: Readonly<Record<string, string>> = {}): Promise<Client> {
    return connectMcp(`${this.url}/mcp`, headers);
  }

  /** Calls a tool over a connection of its own and gives the structured result. */
  async call(name: string, args: object): Promise<ToolAnswer> {
    return await callMcp(this.url, name, args, { connection: "close" });
  }

  /** Searches the tenant `tool`. */
  search(query: string): Promise<ToolAnswer> {
    return this.call("root_search", { tenant_codename: "tool", query });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.child.exited;
  }
}

export type ToolAnswer = {
  readonly error: string | null;
  readonly results: readonly { readonly url: string; readonly title: string; readonly snippet: string }[];
  readonly content: string;
};
