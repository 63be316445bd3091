import { didYouMean, didYouMeanAny } from "../base/nearest.ts";
import type { Range } from "../options/index.ts";
import {
  byteCount,
  choice,
  decimal,
  describeMismatch,
  headerText,
  integer,
  text,
  type ValueParser,
} from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import { wrongUsage } from "./io.ts";

/** Reads the value of an option; null when it was not given. Throws `Failure` `invalid_usage`. */
export const optionValue = {
  text: (typed: Typed, name: string): string | null => read(typed, name, text),
  texts: (typed: Typed, name: string): string[] => typed.many(name).map((value) => parse(name, value, text)),
  /** A path keeps the white space at its ends. */
  path: (typed: Typed, name: string): string | null => read(typed, name, path),
  paths: (typed: Typed, name: string): string[] => typed.many(name).map((value) => parse(name, value, path)),
  headerText: (typed: Typed, name: string): string | null => read(typed, name, headerText),
  integer: (typed: Typed, name: string, { min, max }: Range): number | null =>
    read(typed, name, integer(min, max)),
  decimal: (typed: Typed, name: string, { min, max }: Range): number | null =>
    read(typed, name, decimal(min, max)),
  bytes: (typed: Typed, name: string): number | null => read(typed, name, byteCount),
  choice: <const T extends string>(typed: Typed, name: string, words: readonly T[]): T | null => {
    const value = typed.one(name);
    return value === null ? null : parse(name, value, choice(words), words);
  },
} as const;

const path: ValueParser<string> = (written) =>
  written.trim() === "" ? { expected: "not be empty" } : { value: written };

function read<T>(typed: Typed, name: string, parser: ValueParser<T>): T | null {
  const value = typed.one(name);
  return value === null ? null : parse(name, value, parser);
}

function parse<T>(name: string, value: string, parser: ValueParser<T>, words: readonly string[] = []): T {
  const parsed = parser(value);
  if ("value" in parsed) return parsed.value;
  const guess = didYouMean(value, words) || didYouMeanAny(value, words);
  throw wrongUsage(`--${name} ${describeMismatch(parsed.expected, value)}${guess}`);
}
