import { Failure } from "../../../base/failure.ts";
import type { TenantStatus } from "../../../tenants/index.ts";
import type { Typed } from "../../arguments.ts";
import { countedDocuments } from "../../counted.ts";
import { openCommandTenants } from "../../deployment.ts";
import type { CommandParts } from "../../program.ts";
import { optionValue } from "../../values.ts";

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

/**
 * Syncs tenants and builds their indexes, two at a time; returns the exit code: 1 when one of them failed.
 * @throws Failure `unknown_tenant`, `invalid_settings`, `unreadable_input`, before anything is synced
 */
export async function runSync(command: SyncCommand, parts: CommandParts): Promise<number> {
  const { io, notices } = parts;
  await using tenants = await openCommandTenants(parts, command.config);
  const { registry, sources } = tenants;
  const codenames =
    command.codenames.length > 0 ? command.codenames : registry.list().map(({ codename }) => codename);
  for (const codename of codenames) registry.describe(codename);
  for (const problem of await sources.problems(io.signal)) notices.warn(problem);
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
