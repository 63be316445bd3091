import { Failure } from "../../../base/failure.ts";

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
  throw new Failure(
    "invalid_usage",
    `--max-failures must be a number of pages or a percentage such as 5%, not ${JSON.stringify(written.slice(0, 100))}`,
  );
}

/** The text that `readAllowance` reads. */
export const showAllowance = ({ value, isPercent }: FailureAllowance): string =>
  `${value}${isPercent ? "%" : ""}`;
