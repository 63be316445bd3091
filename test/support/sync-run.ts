import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary } from "./binary.ts";
import { outputOf } from "./local.ts";

export type SyncDeployment = { readonly infrastructure?: object; readonly tenants: readonly object[] };

/** A new directory with a deployment file. */
export async function writeSyncDeployment({ infrastructure = {}, tenants }: SyncDeployment): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "sync-run-"));
  rewriteSyncDeployment(root, { infrastructure, tenants });
  return root;
}

export function rewriteSyncDeployment(root: string, { infrastructure = {}, tenants }: SyncDeployment): void {
  mkdirSync(root, { recursive: true });
  const json = {
    infrastructure: {
      mcp_host: "127.0.0.1",
      mcp_port: 1024,
      allow_index_builds: true,
      crawler_browser_first: false,
      ...infrastructure,
    },
    tenants,
  };
  writeFileSync(join(root, "deployment.json"), JSON.stringify(json));
}

/** These variables let the program sync from loopback without waiting. */
export const SYNC_ENVIRONMENT = {
  DOCS_SEARCH_GIT_PROTOCOLS: "https,http",
  ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
  ARTICLE_EXTRACTOR_RETRIES: "0",
};

export type SyncProcess = {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly done: Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;
};

/** Starts the built program's `sync` in the directory. */
export function startSync(
  root: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): SyncProcess {
  requireBinary();
  const child = Bun.spawn([BINARY, "sync", ...words], {
    cwd: root,
    env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state"), ...SYNC_ENVIRONMENT, ...env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { child, done: outputOf(child) };
}

export const gitTenant = (url: string, fields: object = {}): object => ({
  source_type: "git",
  codename: "handbook",
  docs_name: "Handbook",
  docs_root_dir: "handbook",
  git_repo_url: url,
  git_subpaths: ["docs"],
  ...fields,
});

export const webTenant = (sitemap: string, fields: object = {}): object => ({
  source_type: "online",
  codename: "manual",
  docs_name: "Manual",
  docs_root_dir: "manual",
  docs_sitemap_url: sitemap,
  ...fields,
});
