import type { OpenTenants } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import { quoteForShell } from "../../../base/text.ts";
import { leftOutText } from "../../../search/index.ts";
import type { TenantStatus } from "../../../tenants/index.ts";
import { wrongUsage } from "../../io.ts";
import { canRedraw, type Run } from "../../shell.ts";
import { describeCut, describeLeftOut, openCommandTenants } from "../../tenants.ts";
import { countedDocuments, type Notices } from "../../terminal/notices.ts";
import { formatDuration, openScreen, type Screen } from "../../terminal/screen.ts";
import { describeFailed } from "../pages/crawl-report.ts";

/**
 * Runs `sync`: syncs tenants and builds their indexes, two at a time; returns the exit code: 1 when one of them failed.
 * @throws Failure `invalid_usage`, `unknown_tenant`, `invalid_settings`, `unreadable_input`, before anything is synced
 */
export const sync: Run = async (shell) => {
  const { typed } = shell;
  const isAll = typed.has("all");
  const isVerbose = typed.has("verbose");
  const retried = typed.many("retry-failed");
  const named = [...new Set([...typed.positionals, ...retried])];
  if (isAll === named.length > 0)
    throw wrongUsage("sync takes the codenames of tenants, or --all for every tenant");
  if (retried.length > 0 && typed.positionals.length > 0)
    throw wrongUsage(
      "--retry-failed takes the codename itself; other tenants are synced with another command",
    );
  using screen = openScreen(shell.io, { isLive: canRedraw(shell) });
  const io = screen.io;
  const notices = shell.openNotices(io);
  await using tenants = await openCommandTenants({ ...shell, io, notices });
  const { registry, sources } = tenants;
  const codenames = isAll ? registry.list().map(({ codename }) => codename) : named;
  for (const codename of codenames)
    if (registry.describe(codename).source !== "online" && retried.length > 0)
      throw wrongUsage("--retry-failed is for websites; a sync reads folders and repositories anew");
  const config = typed.has("config") ? `--config ${quoteForShell(typed.one("config") ?? "")} ` : "";
  for (const problem of await sources.problems(io.signal)) notices.warn(problem);
  using _ = showProgress(codenames, registry, screen, notices);
  // Each sync waits for a free slot.
  const results = await Promise.all(
    codenames.map(async (codename) => {
      try {
        const status = await registry.sync(codename, retried.length > 0);
        const files = isVerbose ? await registry.leftOut(codename) : [];
        const lines = [
          describe(status, isVerbose),
          ...failureLines(status, `${config}--retry-failed ${codename}`),
          ...files.map((file) => `  left out: ${file.path}: ${leftOutText(file)}`),
        ];
        screen.show(""); // the result stands in place of the progress, which is drawn again below it
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

/** How often progress is shown, in ms; less often in a pipe, where each line stays. */
const LIVE_EVERY_MS = 500;
const LINE_EVERY_MS = 60_000;

/** Tells how far syncs are until it is disposed of: on a terminal in one line, else in a line a minute. */
function showProgress(
  codenames: readonly string[],
  registry: OpenTenants["registry"],
  screen: Screen,
  notices: Notices,
): Disposable {
  const startedAt = performance.now();
  const tell = async (): Promise<void> => {
    const statuses = await Promise.all(codenames.map((codename) => registry.status(codename)));
    const busy = statuses.filter(({ state }) => state !== "idle").map(describeProgress);
    const line = `${formatDuration(performance.now() - startedAt)}: ${busy.join("; ")}`;
    if (busy.length === 0) return;
    if (screen.isLive) screen.show(line.slice(0, screen.columns));
    else notices.tell(line);
  };
  // A failure to read the status now will show up with the result.
  const timer = setInterval(() => void tell().catch(() => {}), screen.isLive ? LIVE_EVERY_MS : LINE_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function describeProgress({ codename, state, isBuilding, counts }: TenantStatus): string {
  if (isBuilding) return `${codename} builds its index`;
  if (state === "queued" || counts === null) return `${codename} ${state === "queued" ? "waits" : "begins"}`;
  const { fetched, unchanged, failed } = counts;
  return `${codename} ${fetched} fetched, ${unchanged} unchanged, ${failed} failed`;
}

/** Says what failed, and the words with which `sync` tries only that again. */
function failureLines({ counts }: TenantStatus, again: string): readonly string[] {
  if (!counts?.failures) return [];
  const lines = describeFailed(counts.failures, counts.failed);
  return [...lines, `article-extractor sync ${again} tries only those again`].map((line) => `  ${line}`);
}

function describe({ codename, counts, documentCount, leftOut }: TenantStatus, isVerbose: boolean): string {
  const documents = documentCount === null ? "" : countedDocuments(documentCount);
  const rest = describeLeftOut(leftOut, isVerbose ? "" : " (--verbose lists them)");
  if (!counts || counts.fetched + counts.unchanged + counts.removed + counts.failed === 0)
    return `${codename}: ${documents}${rest}`;
  const { fetched, unchanged, removed, failed } = counts;
  const parts = `${fetched} fetched, ${unchanged} unchanged, ${removed} removed, ${failed} failed`;
  return `${codename}: ${documents === "" ? "" : `${documents}; `}${parts}${describeCut(counts)}${rest}`;
}
