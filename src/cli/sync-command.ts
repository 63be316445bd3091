import { openMetrics } from "../app/index.ts";
import { Failure } from "../base/failure.ts";
import { readSettings } from "../settings/index.ts";
import type { TenantStatus } from "../tenants/index.ts";
import type { Typed } from "./arguments.ts";
import { countedDocuments } from "./counted.ts";
import { openLog, readEnvironment, warnOfMisspelt } from "./environment.ts";
import type { Io } from "./io.ts";
import type { Notices } from "./notices.ts";
import { chooseDeployment, openTenants } from "./open-tenants.ts";
import { optionValue } from "./values.ts";

/** `sync`, ready to run. */
export type SyncCommand = {
  readonly config: string | null;
  /** Empty for every tenant. */
  readonly codenames: readonly string[];
};

/** @throws Failure `invalid_usage` */
export function readSyncCommand(typed: Typed): SyncCommand {
  const isAll = typed.has("all");
  const codenames = [...new Set(typed.positionals)];
  if (isAll === codenames.length > 0)
    throw new Failure("invalid_usage", "sync takes the codenames of tenants, or --all for every tenant");
  return { config: optionValue.text(typed, "config"), codenames };
}

type SyncParts = {
  readonly typed: Typed;
  readonly io: Io;
  readonly notices: Notices;
};

/**
 * Syncs tenants and builds their indexes, two at a time; returns the exit code: 1 when one of them failed.
 * @throws Failure `unknown_tenant`, `invalid_settings`, `unreadable_input`, before anything is synced
 */
export async function runSync(command: SyncCommand, parts: SyncParts): Promise<number> {
  const { io, notices, typed } = parts;
  const environment = readEnvironment(typed, io);
  const settings = readSettings(environment);
  const deployment = await chooseDeployment({ config: command.config, settings, io });
  warnOfMisspelt(environment, { io, notices, deployment });
  const log = openLog(settings, { typed, io, usual: "critical" });
  await using open = openMetrics(settings, { log });
  await using tenants = openTenants({ deployment, settings, environment, io, log, metrics: open.metrics });
  const { registry, sources } = tenants;
  const codenames =
    command.codenames.length > 0 ? command.codenames : registry.list().map(({ codename }) => codename);
  for (const codename of codenames) registry.describe(codename);
  for (const problem of await sources.problems(io.signal)) notices.warn(problem);
  const stop = (): void => void registry[Symbol.asyncDispose]();
  io.signal.addEventListener("abort", stop, { once: true });
  // Each waits for one of the places that syncs have.
  const results = await Promise.all(
    codenames.map(async (codename) => {
      try {
        const status = await registry.sync(codename);
        await io.stdout.write(`${describe(status)}\n`);
        return true;
      } catch (error) {
        if (!(error instanceof Failure) || io.signal.aborted) throw error;
        notices.error(`${codename}: ${error.message}`);
        return false;
      }
    }),
  );
  io.signal.removeEventListener("abort", stop);
  return results.every(Boolean) ? 0 : 1;
}

function describe({ codename, counts, documentCount }: TenantStatus): string {
  const documents = documentCount === null ? "" : countedDocuments(documentCount);
  if (!counts || counts.fetched + counts.unchanged + counts.removed + counts.failed === 0)
    return `${codename}: ${documents}`;
  const { fetched, unchanged, removed, failed } = counts;
  const parts = `${fetched} fetched, ${unchanged} unchanged, ${removed} removed, ${failed} failed`;
  return `${codename}: ${documents === "" ? "" : `${documents}; `}${parts}`;
}
