import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { htmlReader, openSources } from "../../src/app/index.ts";
import { openSharedState } from "../../src/base/database/index.ts";
import { createLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { parseAddressSet } from "../../src/fetching/index.ts";
import { countSearches, startSearchServer } from "../../src/server/index.ts";
import { createPrometheusSink } from "../../src/server/processes/prometheus.ts";
import { INDEX_BUILD, readDeployment } from "../../src/settings/index.ts";
import { createTenantRegistry, openSyncBook, type TenantRegistry } from "../../src/tenants/index.ts";
import { openTestTenantApp, testProgram } from "./program.ts";
import { INDEX_WORKER_URL } from "./workers.ts";

/** Writes files below a new directory; gives its path. */
export function writeTree(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = mkdtempSync(join(tmpdir(), "tenant-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** A tenant of a folder as a deployment has it: of a new folder with these files, or of the one at this path. */
export const folderTenant = (
  codename: string,
  docs: string | Parameters<typeof writeTree>[0],
  more = {},
) => ({
  source_type: "filesystem",
  codename,
  docs_name: codename,
  docs_root_dir: typeof docs === "string" ? docs : writeTree(docs),
  ...more,
});

export type TestRegistry = TenantRegistry & { readonly stateDirectory: string; readonly lines: string[] };

/** The tenants of a deployment, as the program opens them, with real index workers. */
export function openRegistry(deployment: object, directory = "/"): TestRegistry {
  const stateDirectory = mkdtempSync(join(tmpdir(), "state-"));
  const lines: string[] = [];
  const read = readDeployment(JSON.stringify(deployment), { name: "d.json", directory });
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  let tail: Promise<unknown> = Promise.resolve();
  const program = testProgram({
    PATH: process.env.PATH,
    DOCS_SEARCH_GIT_PROTOCOLS: "https,http,file",
    ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
  });
  const app = openTestTenantApp(program, { log });
  const registry = createTenantRegistry({
    tenants: read.tenants,
    access: openSources(program, { deployment: read, app }),
    isOffline: read.infrastructure.isOffline,
    stateDirectory,
    book: openSyncBook(openSharedState(stateDirectory, log).database, log),
    deployment: { name: null, file: join(directory, "d.json") },
    building: {
      workerUrl: INDEX_WORKER_URL,
      ...INDEX_BUILD,
      turn: (work) => {
        const result = tail.then(work, work);
        tail = result.catch(() => {});
        return result;
      },
    },
    extractHtml: htmlReader(app.extractor, program.settings),
    onSynced: () => {},
    log,
  });
  return Object.assign(registry, { stateDirectory, lines });
}

/** The registry of these tenants, all of which have their indexes. */
export async function openIndexed(...tenants: readonly object[]): Promise<TestRegistry> {
  const registry = openRegistry({ infrastructure: { allow_index_builds: true }, tenants });
  for (const { codename } of registry.list()) await registry.build(codename);
  return registry;
}

export type TestServerOptions = Partial<Parameters<typeof startSearchServer>[0]>;

/** The search server on a free port of loopback. */
export function openSearchServer(registry: TestRegistry, options: TestServerOptions = {}) {
  const prometheus = createPrometheusSink("article_extractor");
  const metrics = createMetrics([prometheus.sink]);
  return startSearchServer({
    name: "article-extractor",
    version: "0.0.0",
    registry,
    searchTimeoutMs: 30_000,
    includeStats: true,
    fetchMode: "surrounding",
    fetchSurroundingChars: 1000,
    maxFetchChars: 400_000,
    queries: null,
    problems: async () => [],
    onSearched: countSearches(metrics),
    onCall: (tool, outcome) => metrics.count("mcp_calls", { tool, outcome }),
    isOffline: false,
    deploymentState: () => ({ takenAt: new Date(0), error: null, needRestart: [] }),
    pages: null,
    defaultClientModel: null,
    renderMetrics: (gauges) => prometheus.render([], gauges),
    processes: { configured: 1, alive: () => 1 },
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    trustedProxies: parseAddressSet(""),
    allowedHosts: null,
    corsOrigins: [],
    apiKey: null,
    maxConcurrentRequests: 20,
    maxConnections: 200,
    maxPerClient: 200,
    idleSeconds: 75,
    maxUnreadBytes: 512 * 1024 * 1024,
    maxUnreadBytesPerClient: 64 * 1024 * 1024,
    httpTimeoutMs: 120_000,
    sharesPort: false,
    log: createLog({ level: "debug", format: "json", write: (line) => registry.lines.push(line) }),
    metrics,
    ...options,
  });
}
