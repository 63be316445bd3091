import { join } from "node:path";
import type { Failure, FailureCode } from "../../../base/failure.ts";
import { type Notices, pageCount } from "../../terminal/notices.ts";
import { MANIFEST_NAME } from "./list-place.ts";

/** The most addresses that are named of the pages that failed in the same way. */
export const NAMED_FAILURES = 5;

/** Pages of a list about which the same is to be told. */
type Group = { count: number; readonly lines: string[] };

/** Collects what is to be told of a list's pages, so that it is told at the end: a line for each kind, errors last. */
export function createListReport(notices: Notices) {
  const warnings = new Map<string, Group>();
  const failures = new Map<FailureCode, Group>();
  let failed = 0;
  return {
    warn(name: string, warning: string): void {
      // Warnings of a kind differ in their numbers.
      note(warnings, warning.replace(/\d+/g, "#"), { line: `${name}: ${warning}`, most: 1 });
    },
    fail({ code }: Failure, line: string): void {
      failed++;
      note(failures, code, { line, most: NAMED_FAILURES });
    },
    get failed(): number {
      return failed;
    },
    /**
     * @param end.folder gets a summary, between the warnings and the errors
     * @param end.again what tries the failed pages again, as the start of a sentence; null says how that is prepared
     */
    tell({ total, written, folder, again }: ListEnd): void {
      for (const { count, lines } of warnings.values())
        notices.warn(count === 1 ? `${lines[0]}` : `${pageCount(count)}, the first ${lines[0]}`);
      if (folder !== null && written > 0)
        notices.tell(
          `${pageCount(written - failed)} stored in ${folder}, ${failed} failed; every page and its outcome: ${join(folder, MANIFEST_NAME)}`,
        );
      let isCut = false;
      for (const [code, { count, lines }] of failures) {
        for (const line of lines) notices.error(line);
        const more = count - lines.length;
        if (more > 0) notices.error(`${pageCount(more)} more failed with ${code}`);
        isCut ||= more > 0;
      }
      if (failed === 0 || !(isCut || again !== null)) return;
      const kinds = [...failures].sort(([, a], [, b]) => b.count - a.count);
      const counts = kinds.map(([code, { count }]) => `${count} ${code}`).join(", ");
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

function note<Kind>(
  groups: Map<Kind, Group>,
  kind: Kind,
  { line, most }: { readonly line: string; readonly most: number },
): void {
  const group = groups.get(kind) ?? { count: 0, lines: [] };
  groups.set(kind, group);
  group.count++;
  if (group.lines.length < most) group.lines.push(line);
}
