import { FAILURE_OUTCOMES } from "../../../base/failure.ts";
import type { CrawlSummary } from "../../../crawler/index.ts";
import { wrongUsage } from "../../io.ts";
import type { Notices } from "../../terminal/notices.ts";
import { formatCounts, type LineOutput, pageCount } from "./crawl-report.ts";

/** How many failed pages are tolerated, out of those that were tried. */
export type FailureAllowance = { readonly value: number; readonly isPercent: boolean };

/** Tells whether this many failures out of the tried pages are tolerated. */
export const isWithin = ({ value, isPercent }: FailureAllowance, failed: number, tried: number): boolean =>
  isPercent ? failed * 100 <= value * tried : failed <= value;

/** @throws Failure `invalid_usage` */
export function readAllowance(written: string | null): FailureAllowance {
  if (written === null) return { value: 0, isPercent: false };
  const match = /^(\d{1,9})$|^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(written.trim());
  const value = Number(match?.[1] ?? match?.[2]);
  const isPercent = match?.[2] !== undefined;
  if (match && !(isPercent && value > 100)) return { value, isPercent };
  throw wrongUsage(
    `--max-failures must be a number of pages or a percentage such as 5%, not ${JSON.stringify(written.slice(0, 100))}`,
  );
}

/** The text that `readAllowance` reads. */
export const showAllowance = ({ value, isPercent }: FailureAllowance): string =>
  `${value}${isPercent ? "%" : ""}`;

/** The exit code of a crawl that finished with more failed pages than allowed. */
const TOO_MANY_FAILURES = 3;
const INTERRUPTED = FAILURE_OUTCOMES.cancelled.exitCode;

export type CrawlEnd = {
  readonly allowance: FailureAllowance;
  readonly lines: LineOutput | null;
  readonly notices: Notices;
  /** The message of the first page that failed. */
  readonly firstFailure: string | null;
};

/** The exit code of a crawl that ended in order without storing a page. */
export const NOTHING_STORED = 1;

function whyNothing({ progress, skips }: CrawlSummary, firstFailure: string | null): string {
  const { failed, skipped } = progress;
  if (failed > 0)
    return `${pageCount(failed)} failed${firstFailure === null ? "" : `, the first with: ${firstFailure}`}`;
  return skipped > 0 ? `${pageCount(skipped)} skipped (${formatCounts(skips)})` : "there was none to fetch";
}

/** Tells the person why a crawl did not end well, and returns the program's exit code. */
export function exitCodeOf(
  summary: CrawlSummary,
  { allowance, lines, notices, firstFailure }: CrawlEnd,
): number {
  const { state, error, progress } = summary;
  if (state === "cancelled") {
    if (lines?.isClosed) return 0;
    notices.error("interrupted");
    return INTERRUPTED;
  }
  if (state === "failed") {
    notices.error(error?.message ?? "the crawl could not go on");
    return FAILURE_OUTCOMES[error?.code ?? "internal"].exitCode;
  }
  const { successful, failed } = progress;
  if (successful === 0) {
    notices.error(`no page was stored: ${whyNothing(summary, firstFailure)}`);
    return NOTHING_STORED;
  }
  if (isWithin(allowance, failed, successful + failed)) return 0;
  const allowed = showAllowance(allowance);
  notices.error(`${failed} of ${successful + failed} pages failed; --max-failures allows ${allowed}`);
  return TOO_MANY_FAILURES;
}
