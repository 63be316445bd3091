import { createLog } from "../../src/base/log.ts";
import {
  chooseProxy,
  createEgress,
  type EgressCaller,
  openPinningProxy,
  parseEgressPolicy,
  systemResolve,
} from "../../src/fetching/index.ts";
import type { SourceDocument } from "../../src/search/index.ts";
import { readDocuments } from "../../src/search/reading/read-document.ts";
import { DEFAULT_SEARCH } from "../../src/settings/index.ts";
import { gitSource as openGitSource } from "../../src/tenants/git/source.ts";
import type { GitAccess } from "../../src/tenants/index.ts";
import type { GitTenant } from "../../src/tenants/settings.ts";
import type { Source, SyncCounts } from "../../src/tenants/source/source.ts";

const egress = createEgress({ policy: parseEgressPolicy("auto"), resolve: systemResolve, resolverTtlMs: 0 });
const NO_PROXY = { http: null, https: null, bypass: [] };

export type GitTenantOptions = {
  readonly rootDir: string;
  readonly url: string;
  readonly tenant?: Partial<GitTenant>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  readonly caller?: EgressCaller;
  readonly knownHostsFile?: string;
};

/** A git source as the program opens it, and what it wrote to the log. */
export function gitTenantSource(options: GitTenantOptions): { source: Source; logText: () => string } {
  let text = "";
  const log = createLog({
    level: "debug",
    format: "text",
    write: (line) => {
      text += line;
    },
  });
  const access: GitAccess = {
    environment: { PATH: process.env.PATH ?? "", ...options.environment },
    protocols: options.protocols ?? ["https", "http", "file", "ssh"],
    knownHostsFile: options.knownHostsFile ?? null,
    resolveHost: async (host) => {
      const caller = options.caller ?? { kind: "configured_source", hosts: [host] };
      return (await egress.admit(new URL(`https://${host}`), caller)).addresses[0]!;
    },
    certificateFile: null,
    silenceLimitMs: 30_000,
    readVariable: (name) => options.variables?.[name] ?? null,
    openProxy: (host) =>
      openPinningProxy({
        egress,
        caller: options.caller ?? { kind: "configured_source", hosts: [host] },
        chooseProxy: chooseProxy({
          explicit: null,
          explicitSource: "operator",
          bypass: [],
          environment: NO_PROXY,
        }),
        log,
        connectTimeoutMs: 5000,
        idleTimeoutMs: 30_000,
      }),
  };
  const tenant: GitTenant = {
    ...TENANT,
    rootDir: options.rootDir,
    repositoryUrl: options.url,
    ...options.tenant,
  };
  const stateDirectory = `${options.rootDir}/.article-extractor`;
  return {
    source: openGitSource(tenant, { access, stateDirectory, extractHtml: async () => null, log }),
    logText: () => text,
  };
}

const TENANT: Omit<GitTenant, "rootDir" | "repositoryUrl"> = {
  source: "git",
  codename: "handbook",
  docsName: "Handbook",
  description: null,
  library: null,
  version: null,
  allowIndexBuilds: true,
  maxFailedPercent: 1,
  testQueries: { natural: [], phrases: [], words: [] },
  group: null,
  search: { ...DEFAULT_SEARCH, isEnabled: true },
  revision: "main",
  subpaths: ["docs"],
  rules: { include: [], exclude: [] },
  stripPrefix: null,
  tokenVariable: null,
  sshKeyFile: null,
  schedule: null,
  syncIntervalMinutes: null,
};

export const runSync = (source: Source, signal = new AbortController().signal): Promise<SyncCounts> =>
  source.sync({ signal, onProgress: () => {} });

/** The documents of a source by address; what was left out goes into `skipped`. */
export async function documentsOf(
  source: Source,
  skipped: string[] = [],
): Promise<Map<string, SourceDocument>> {
  const documents = new Map<string, SourceDocument>();
  for await (const document of source.documents(({ path }) => void skipped.push(path)))
    for (const read of readDocuments(document)) documents.set(read.url, read);
  return documents;
}
