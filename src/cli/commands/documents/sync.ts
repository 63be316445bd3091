import { Failure } from "../../../base/failure.ts";
import { leftOutText } from "../../../search/index.ts";
import type { TenantStatus } from "../../../tenants/index.ts";
import { wrongUsage } from "../../io.ts";
import type { Run } from "../../shell.ts";
import { describeCut, describeLeftOut, openCommandTenants } from "../../tenants.ts";
import { countedDocuments } from "../../terminal/notices.ts";

/**
 * Runs `sync`: syncs tenants and builds their indexes, two at a time; returns the exit code: 1 when one of them failed.
 * @throws Failure `invalid_usage`, `unknown_tenant`, `invalid_settings`, `unreadable_input`, before anything is synced
 */
export const sync: Run = async (shell) => {
  const { typed, io, notices } = shell;
  const isAll = typed.has("all");
  const isVerbose = typed.has("verbose");
  const named = [...new Set(typed.positionals)];
  if (isAll === named.length > 0)
    throw wrongUsage("sync takes the codenames of tenants, or --all for every tenant");
  await using tenants = await openCommandTenants(shell);
  const { registry, sources } = tenants;
  const codenames = isAll ? registry.list().map(({ codename }) => codename) : named;
  for (const codename of codenames) registry.describe(codename);
  for (const problem of await sources.problems(io.signal)) notices.warn(problem);
  // Each sync waits for a free slot.
  const results = await Promise.all(
    codenames.map(async (codename) => {
      try {
        const status = await registry.sync(codename);
        const files = isVerbose ? await registry.leftOut(codename) : [];
        const lines = [
          describe(status, isVerbose),
          ...files.map((file) => `  left out: ${file.path}: ${leftOutText(file)}`),
        ];
        await io.stdout.write(`${lines.join("\n")}\n`);
        return true;
      } catch (error) {
        if (!(error instanceof Failure) || io.signal.aborted) throw error;
        notices.error(`${codename}: ${error.message}`);
        return false;
      }
    }),
  );
  return results.every(Boolean) ? 0 : 1;
};

function describe({ codename, counts, documentCount, leftOut }: TenantStatus, isVerbose: boolean): string {
  const documents = documentCount === null ? "" : countedDocuments(documentCount);
  const rest = describeLeftOut(leftOut, isVerbose ? "" : " (--verbose lists them)");
  if (!counts || counts.fetched + counts.unchanged + counts.removed + counts.failed === 0)
    return `${codename}: ${documents}${rest}`;
  const { fetched, unchanged, removed, failed } = counts;
  const parts = `${fetched} fetched, ${unchanged} unchanged, ${removed} removed, ${failed} failed`;
  return `${codename}: ${documents === "" ? "" : `${documents}; `}${parts}${describeCut(counts)}${rest}`;
}
