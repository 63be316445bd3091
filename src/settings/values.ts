import type { S3Encryption } from "../base/objects.ts";
import type { Engine, Favor } from "../extraction/index.ts";
import type { Range } from "../options/index.ts";

/** The words of options that take one of a few. */
export const FAVORS = ["balanced", "precision", "recall"] as const satisfies readonly Favor[];
export const ENGINES = ["article-extractor", "readability"] as const satisfies readonly Engine[];

/** A value read from text, or what was expected instead, in words that complete "must be …". */
export type Parsed<T> = { readonly value: T } | { readonly expected: string };

/** Reads one setting or option from a person's text. */
export type ValueParser<T> = (text: string) => Parsed<T>;

/** Reads any text that is not blank, without white space at its ends. */
export const text: ValueParser<string> = parser("not be empty", (written) => written || undefined);

const MAX_HEADER_CHARACTERS = 1024;

/** Reads text that an HTTP header can hold: Latin-1 without control characters (RFC 9110, 5.5). */
export const headerText: ValueParser<string> = parser(
  `be 1 to ${MAX_HEADER_CHARACTERS} Latin characters without line breaks`,
  (written) =>
    /^[\t\x20-\x7e\x80-\xff]+$/.test(written) && written.length <= MAX_HEADER_CHARACTERS
      ? written
      : undefined,
);

/** Reads a whole number from `min` to `max`, both included. */
export const integer = (min: number, max: number): ValueParser<number> =>
  parser(`be a whole number from ${min} to ${max}`, (written) => within(min, max, /^[+-]?\d+$/, written));

/** Reads a number from `min` to `max`, both included, in decimal notation. */
export const decimal = (min: number, max: number): ValueParser<number> =>
  parser(`be a number from ${min} to ${max}`, (written) =>
    within(min, max, /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/, written),
  );

/** Reads a whole number of a range that all doors share. */
export const integerIn = ({ min, max }: Range): ValueParser<number> => integer(min, max);
/** Reads a decimal number of a range that all doors share. */
export const decimalIn = ({ min, max }: Range): ValueParser<number> => decimal(min, max);

function within(min: number, max: number, notation: RegExp, written: string): number | undefined {
  const value = notation.test(written) ? Number(written) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

const TRUE_WORDS = ["1", "true", "yes", "on"];
const FALSE_WORDS = ["0", "false", "no", "off"];

/** Reads `1 true yes on` or `0 false no off`, in any case. */
export const boolean: ValueParser<boolean> = parser(
  `be one of ${[...TRUE_WORDS, ...FALSE_WORDS].join(", ")}`,
  (written) => {
    const word = written.toLowerCase();
    return TRUE_WORDS.includes(word) || (FALSE_WORDS.includes(word) ? false : undefined);
  },
);

/** Reads one of the given words, in upper or lower case. */
export const choice = <const T extends string>(words: readonly T[]): ValueParser<T> =>
  parser(`be one of ${words.join(", ")}`, (written) => words.find((word) => word === written.toLowerCase()));

/** Reads who encrypts objects at rest; after `aws:kms:` stands the id, name or ARN of a key. */
export const s3Encryption: ValueParser<S3Encryption> = parser(
  "be AES256, aws:kms or aws:kms:KEY",
  (written) => {
    if (/^aes256$/i.test(written)) return { kind: "AES256" };
    const [isKms, , key = null] = /^aws:kms(:([\x21-\x7e]{1,2048}))?$/.exec(written) ?? [];
    return isKms === undefined ? undefined : { kind: "aws:kms", key };
  },
);

const MAX_BYTE_COUNT = 4 * 1024 ** 3;

/** Reads a number of bytes with an optional unit (`k`, `M`, `G`, powers of 1024), from 1 byte to 4 GiB. */
export const byteCount: ValueParser<number> = parser("be a size such as 500k, 20M or 1G", (written) => {
  const [, size, unit = ""] = /^(\d+(?:\.\d+)?)(?:([kmg])i?b?|b)?$/.exec(written.toLowerCase()) ?? [];
  const bytes = Math.round(Number(size) * (UNIT_BYTES[unit] ?? 1)); // NaN where the text is no size
  return bytes >= 1 && bytes <= MAX_BYTE_COUNT ? bytes : undefined;
});

const UNIT_BYTES: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/**
 * Says what was expected and what was written instead; it follows the name of the option or variable.
 * @param written shortened, and left out when there is nothing to show
 */
export function describeMismatch(expected: string, written: string): string {
  const shown = written.trim() === "" ? "" : `, not ${JSON.stringify(written.slice(0, 100))}`;
  return `must ${expected}${shown}`;
}

/** @param read returns the value of text without white space at its ends, or undefined when it is invalid */
function parser<T>(expected: string, read: (written: string) => T | undefined): ValueParser<T> {
  return (input) => {
    const value = read(input.trim());
    return value === undefined ? { expected } : { value };
  };
}

/** A setting of the environment. */
export type Variable<T> = {
  readonly variable: string;
  readonly parse: ValueParser<NonNullable<T>>;
  readonly fallback: T;
  readonly meaning: string;
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
