import type { S3Encryption } from "../base/objects.ts";
import * as kinds from "../options/index.ts";
import {
  type Kind,
  type OptionTable,
  problemOf,
  readWritten,
  toInside,
  type ValueOf,
  writeValue,
} from "../options/index.ts";

/** A value read from text, or what was expected instead, in words that complete "must be …". */
export type Parsed<T> = { readonly value: T } | { readonly expected: string };

/** Reads one setting or option from a person's text. */
export type ValueParser<T> = (text: string) => Parsed<T>;

/** Reads a value of a kind. */
export function parserOf<K extends Kind>(kind: K): ValueParser<ValueOf<K>> {
  return (written) => {
    const value = readWritten(kind, written);
    const expected = problemOf(kind, value);
    // A value without a problem is one of the kind.
    return expected === null ? { value: toInside(kind, value) as ValueOf<K> } : { expected };
  };
}

/** Reads any text that is not blank, without white space at its ends. */
export const text = parserOf(kinds.text(Number.POSITIVE_INFINITY));
export const boolean = parserOf(kinds.SWITCH);
export const headerText = parserOf(kinds.HEADER_TEXT);
export const byteCount = parserOf(kinds.BYTES);
/** Reads a whole number from `min` to `max`, both included. */
export const integer = (min: number, max: number) => parserOf(kinds.whole(min, max));
/** Reads a number from `min` to `max`, both included, in decimal notation. */
export const decimal = (min: number, max: number) => parserOf(kinds.decimal(min, max));
/** Reads one of the given words, in upper or lower case. */
export const choice = <const T extends string>(words: readonly T[]) => parserOf(kinds.choice(...words));

/** Reads who encrypts objects at rest; after `aws:kms:` stands the id, name or ARN of a key. */
export const s3Encryption: ValueParser<S3Encryption> = (written) => {
  const trimmed = written.trim();
  if (/^aes256$/i.test(trimmed)) return { value: { kind: "AES256" } };
  const [isKms, , key = null] = /^aws:kms(:([\x21-\x7e]{1,2048}))?$/.exec(trimmed) ?? [];
  return isKms === undefined
    ? { expected: "be AES256, aws:kms or aws:kms:KEY" }
    : { value: { kind: "aws:kms", key } };
};

/**
 * Says what was expected and what was written instead; it follows the name of the option or variable.
 * @param written shortened, and left out when there is nothing to show
 */
export function describeMismatch(expected: string, written: string): string {
  const shown = written.trim() === "" ? "" : `, not ${JSON.stringify(written.slice(0, 100))}`;
  return `must ${expected}${shown}`;
}

/** A setting of the environment. */
export type Variable<T> = {
  readonly variable: string;
  readonly parse: ValueParser<NonNullable<T>>;
  readonly fallback: T;
  readonly meaning: string;
  /** The default as the documentation shows it, where it is not the fallback itself. */
  readonly shown?: string | null;
};

/** A setting that has a default; what it means follows. */
export const setting = <T>(variable: string, parse: ValueParser<NonNullable<T>>, fallback: T) => ({
  means: (meaning: string): Variable<T> => ({ variable, parse, fallback, meaning }),
});

/** A setting without a default. */
export const optional = <T extends string | number | boolean | object>(
  variable: string,
  parse: ValueParser<T>,
) => setting<T | null>(variable, parse as ValueParser<NonNullable<T>>, null);

export const optionalText = (variable: string) => optional(variable, text);

/** The settings of a table: its options that have a variable, by their names. */
type OptionVariables<T extends OptionTable> = {
  readonly [Name in keyof T as T[Name] extends { readonly variable: string } ? Name : never]: Variable<
    T[Name]["byDefault"] extends null ? ValueOf<T[Name]["kind"]> | null : ValueOf<T[Name]["kind"]>
  >;
};

/** Makes settings of the options of a table that have a variable. */
export const settingsOf = <T extends OptionTable>(table: T): OptionVariables<T> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, { variable, kind, byDefault, means }]) =>
      variable === undefined
        ? []
        : [
            [
              name,
              {
                variable,
                parse: parserOf(kind),
                fallback: byDefault,
                meaning: /^[A-Z][a-z]/.test(means) ? means.charAt(0).toLowerCase() + means.slice(1) : means,
                shown: byDefault === null ? null : writeValue(kind, byDefault),
              },
            ],
          ],
    ),
    // The options with a variable, each read as its kind.
  ) as OptionVariables<T>;
