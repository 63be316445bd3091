import * as v from "valibot";

/** A value read from text, or what was expected instead, as the end of "must be …". */
export type Parsed<T> = { readonly value: T } | { readonly expected: string };

/** Reads one setting or option from the text that a person typed. */
export type ValueParser<T> = (text: string) => Parsed<T>;

/** Any text that is not blank; white space at the ends does not count. */
export const text: ValueParser<string> = parser("not be empty", v.pipe(v.string(), v.trim(), v.nonEmpty()));

const MAX_HEADER_CHARACTERS = 1024;

/** Text that an HTTP header can hold: Latin-1 without control characters (RFC 9110, 5.5). */
export const headerText: ValueParser<string> = parser(
  `be 1 to ${MAX_HEADER_CHARACTERS} Latin characters without line breaks`,
  v.pipe(v.string(), v.trim(), v.regex(/^[\t\x20-\x7e\x80-\xff]+$/), v.maxLength(MAX_HEADER_CHARACTERS)),
);

/** A whole number of `min` to `max`, both included. */
export const integer = (min: number, max: number): ValueParser<number> =>
  parser(
    `be a whole number from ${min} to ${max}`,
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[+-]?\d+$/),
      v.transform(Number),
      v.minValue(min),
      v.maxValue(max),
    ),
  );

/** A number of `min` to `max`, both included, in decimal notation. */
export const decimal = (min: number, max: number): ValueParser<number> =>
  parser(
    `be a number from ${min} to ${max}`,
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[+-]?(?:\d+\.?\d*|\.\d+)$/),
      v.transform(Number),
      v.minValue(min),
      v.maxValue(max),
    ),
  );

const TRUE_WORDS = ["1", "true", "yes", "on"];
const FALSE_WORDS = ["0", "false", "no", "off"];

/** `1 true yes on` or `0 false no off`, in any case. */
export const boolean: ValueParser<boolean> = parser(
  `be one of ${[...TRUE_WORDS, ...FALSE_WORDS].join(", ")}`,
  v.pipe(
    v.string(),
    v.trim(),
    v.toLowerCase(),
    v.picklist([...TRUE_WORDS, ...FALSE_WORDS]),
    v.transform((word) => TRUE_WORDS.includes(word)),
  ),
);

/** One of these words, in any case. */
export const choice = <const T extends string>(words: readonly T[]): ValueParser<T> =>
  parser(`be one of ${words.join(", ")}`, v.pipe(v.string(), v.trim(), v.toLowerCase(), v.picklist(words)));

/** A number of bytes with an optional unit (`k`, `M`, `G`, powers of 1024), 1 byte to 4 GiB. */
export const byteCount: ValueParser<number> = parser(
  "be a size such as 500k, 20M or 1G",
  v.pipe(
    v.string(),
    v.trim(),
    v.toLowerCase(),
    v.regex(/^\d+(?:\.\d+)?(?:[kmg]i?b?|b)?$/),
    v.transform(toBytes),
    v.minValue(1),
    v.maxValue(4 * 1024 ** 3),
  ),
);

const UNIT_BYTES: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

function toBytes(size: string): number {
  const unit = /[kmg]/.exec(size)?.[0] ?? "";
  return Math.round(Number.parseFloat(size) * (UNIT_BYTES[unit] ?? 1));
}

/**
 * What was expected and what stands there instead, after the name of the option or variable.
 * @param written shortened, and left out when there is nothing to show
 */
export function describeMismatch(expected: string, written: string): string {
  const shown = written.trim() === "" ? "" : `, not ${JSON.stringify(written.slice(0, 100))}`;
  return `must ${expected}${shown}`;
}

function parser<T>(expected: string, schema: v.GenericSchema<string, T>): ValueParser<T> {
  return (input) => {
    const result = v.safeParse(schema, input);
    return result.success ? { value: result.output } : { expected };
  };
}
