import { join } from "node:path";
import type { Failure, FailureCode } from "../../../base/failure.ts";
import { type Notices, pageCount } from "../../terminal/notices.ts";
import { MANIFEST_NAME } from "./list-place.ts";

/** More failures than these, or any with warnings behind them, are summed up, since their own lines have gone by. */
const FEW_FAILURES = 5;

/** Pages of a list with the same warning, and what the first of them has. */
type Group = { count: number; readonly line: string };

/**
 * Tells of a list's pages: each failure at once, so that none is lost, and at the end a line for each kind of warning, the
 * count of each kind of failure last.
 */
export function createListReport(notices: Notices) {
  const warnings = new Map<string, Group>();
  const failures = new Map<FailureCode, number>();
  let failed = 0;
  return {
    warn(name: string, warning: string): void {
      // Warnings of a kind differ in their numbers.
      const kind = warning.replace(/\d+/g, "#");
      const group = warnings.get(kind) ?? { count: 0, line: `${name}: ${warning}` };
      warnings.set(kind, group);
      group.count++;
    },
    fail({ code }: Failure, line: string): void {
      failed++;
      failures.set(code, (failures.get(code) ?? 0) + 1);
      notices.error(line);
    },
    get failed(): number {
      return failed;
    },
    /**
     * @param end.folder gets a summary, between the warnings and the errors
     * @param end.again what tries the failed pages again, as the start of a sentence; null says how that is prepared
     */
    tell({ total, written, folder, again }: ListEnd): void {
      for (const { count, line } of warnings.values())
        notices.warn(count === 1 ? line : `${pageCount(count)}, the first ${line}`);
      if (folder !== null && written > 0)
        notices.tell(
          `${pageCount(written - failed)} stored in ${folder}, ${failed} failed; every page and its outcome: ${join(folder, MANIFEST_NAME)}`,
        );
      const isClear = failed <= FEW_FAILURES && warnings.size === 0 && again === null;
      if (failed === 0 || isClear) return;
      const kinds = [...failures].sort(([, a], [, b]) => b - a);
      const counts = kinds.map(([code, count]) => `${count} ${code}`).join(", ");
      const how = again ?? "with --output-dir DIR or --resume FILE, --retry-failed";
      notices.error(`${failed} of ${pageCount(total)} failed: ${counts}; ${how} tries only those again`);
    },
  };
}

type ListEnd = {
  readonly total: number;
  readonly written: number;
  readonly folder: string | null;
  readonly again: string | null;
};

export type ListReport = ReturnType<typeof createListReport>;
