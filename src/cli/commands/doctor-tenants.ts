import { existsSync } from "node:fs";
import { type App, openTenants, type Program } from "../../app/index.ts";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import type { TenantStatus } from "../../tenants/index.ts";
import { countedDocuments } from "../counted.ts";
import { chooseDeployment, DEFAULT_CONFIG } from "../deployment.ts";
import type { Io } from "../io.ts";
import type { Finding } from "./finding.ts";

export type TenantsLook = {
  /** What `--config` says. */
  readonly config: string | null;
  readonly app: App;
  readonly program: Program;
  readonly io: Io;
  readonly log: Log;
};

/** How the tenants of the deployment file are, what keeps them from being synced; nothing where there is no file. */
export async function lookAtTenants(look: TenantsLook): Promise<Finding[]> {
  const { config, program, io } = look;
  const { settings } = program;
  if (config === null && settings.deploymentConfig === null && !existsSync(DEFAULT_CONFIG)) return [];
  try {
    const deployment = await chooseDeployment({ config, settings, io });
    await using tenants = openTenants(program, { ...look, deployment });
    const { registry, sources } = tenants;
    const problems = await sources.problems(io.signal);
    return [
      ...problems.map((detail) => ({ name: "sources", status: "problem" as const, detail })),
      ...registry.list().map(({ codename }) => findingOf(registry.status(codename))),
    ];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message.split("\n").map((detail) => ({ name: "deployment", status: "problem", detail }));
  }
}

function findingOf(status: TenantStatus): Finding {
  const { codename, lastError, builtAt, documentCount, isSearchEnabled, testQueries } = status;
  const name = `tenant ${codename}`;
  if (lastError !== null) return { name, status: "problem", detail: lastError.message };
  if (!isSearchEnabled) return { name, status: "note", detail: "search is disabled" };
  if (builtAt === null) return { name, status: "note", detail: "no search index yet" };
  // The number is not known where another state directory has seen the index built.
  const documents = documentCount === null ? "" : `${countedDocuments(documentCount)}, `;
  const what = `${documents}indexed ${builtAt.toISOString()}`;
  const without = testQueries.filter(({ hits }) => hits === 0).map(({ query }) => JSON.stringify(query));
  if (without.length > 0)
    return { name, status: "note", detail: `${what}; test queries that find nothing: ${without.join(", ")}` };
  const queries = testQueries.length > 0 ? `; all ${testQueries.length} test queries find something` : "";
  return { name, status: "ok", detail: what + queries };
}
