import { didYouMean, didYouMeanAny } from "../base/nearest.ts";
import {
  flagName,
  type Kind,
  type Option,
  type OptionTable,
  problemOf,
  text as textOfAtMost,
  unmarked,
} from "../options/index.ts";
import { choice, describeMismatch, integer, parserOf, text, type ValueParser } from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import { wrongUsage } from "./io.ts";

/** Reads the value of an option; null when it was not given. Throws `Failure` `invalid_usage`. */
export const optionValue = {
  text: (typed: Typed, name: string): string | null => one(typed, name, text),
  texts: (typed: Typed, name: string): string[] => typed.many(name).map((value) => parse(name, value, text)),
  /** A path keeps the white space at its ends. */
  path: (typed: Typed, name: string): string | null => one(typed, name, path),
  paths: (typed: Typed, name: string): string[] => typed.many(name).map((value) => parse(name, value, path)),
  integer: (typed: Typed, name: string, { min, max }: { readonly min: number; readonly max: number }) =>
    one(typed, name, integer(min, max)),
  choice: <const T extends string>(typed: Typed, name: string, words: readonly T[]): T | null => {
    const value = typed.one(name);
    return value === null ? null : parse(name, value, choice(words), words);
  },
} as const;

/**
 * Reads the options of a table; one that was not given has the value that it has otherwise.
 * @throws Failure `invalid_usage`
 */
export function readOptions<V extends object>(typed: Typed, table: OptionTable, otherwise: V): V {
  const values = Object.entries(table).map(([key, option]) => [
    key,
    readOption(typed, option) ?? otherwise[key as keyof V],
  ]);
  return Object.fromEntries(values); // of the same names, each read as its kind
}

/** Reads one option inside the program's own unit; null when it was not given. @throws Failure `invalid_usage` */
export function readOption(typed: Typed, option: Option): unknown {
  const { kind, flag } = option;
  const name = flagName(option);
  if (name === null || flag === undefined || !typed.has(name)) return null;
  if (kind.type === "switch") return !unmarked(flag).isContrary;
  if (kind.type === "headers") return typed.many(name).map(readHeader);
  return kind.type === "texts" ? readTexts(typed, name, kind) : read(typed, name, kind);
}

function one<T>(typed: Typed, name: string, parser: ValueParser<T>): T | null {
  const value = typed.one(name);
  return value === null ? null : parse(name, value, parser);
}

function readTexts(typed: Typed, name: string, kind: Extract<Kind, { readonly type: "texts" }>): string[] {
  const one = textOfAtMost(kind.maxCharacters);
  const all = typed.many(name).map((written) => parse(name, written, parserOf(one)));
  const expected = problemOf(kind, all);
  if (expected !== null) throw wrongUsage(`--${name} must ${expected}`);
  return all;
}

function readHeader(written: string): readonly [name: string, value: string] {
  const colon = written.indexOf(":");
  // The value may be a secret, so the message only names the form; the fetcher checks the content.
  if (colon < 1) throw wrongUsage('--header must have the form "Name: value"');
  return [written.slice(0, colon), written.slice(colon + 1).trim()];
}

const path: ValueParser<string> = (written) =>
  written.trim() === "" ? { expected: "not be empty" } : { value: written };

function read(typed: Typed, name: string, kind: Kind): unknown {
  const words = kind.type === "choice" ? kind.words : [];
  return parse(name, typed.one(name) ?? "", parserOf(kind), words);
}

function parse<T>(name: string, value: string, parser: ValueParser<T>, words: readonly string[] = []): T {
  const parsed = parser(value);
  if ("value" in parsed) return parsed.value;
  const guess = didYouMean(value, words) || didYouMeanAny(value, words);
  throw wrongUsage(`--${name} ${describeMismatch(parsed.expected, value)}${guess}`);
}
