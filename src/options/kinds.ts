/** What the value of an option may be; a table can be written with these, and every door made of them. */
export type Kind =
  | { readonly type: "switch" }
  | { readonly type: "whole"; readonly min: number; readonly max: number }
  | { readonly type: "decimal"; readonly min: number; readonly max: number }
  /** Seconds, with decimals; milliseconds inside the program, and for programs that use the library. */
  | { readonly type: "seconds"; readonly min: number; readonly max: number }
  | { readonly type: "choice"; readonly words: readonly string[] }
  | { readonly type: "text"; readonly maxCharacters: number }
  /** Text that an HTTP header can hold. */
  | { readonly type: "header_text"; readonly maxCharacters: number }
  | {
      readonly type: "texts";
      readonly maxCharacters: number;
      readonly maxCount: number;
      /** Whether each is the address of a page, or its beginning. */
      readonly areAddresses?: true;
    }
  /** A number of bytes, for people with a unit: `500k`. */
  | { readonly type: "bytes"; readonly max: number }
  /** Fields of requests with their values. */
  | { readonly type: "headers" };

export const SWITCH = { type: "switch" } as const;
export const HEADERS = { type: "headers" } as const;
export const whole = (min: number, max: number) => ({ type: "whole", min, max }) as const;
export const decimal = (min: number, max: number) => ({ type: "decimal", min, max }) as const;
export const seconds = (min: number, max: number) => ({ type: "seconds", min, max }) as const;
export const choice = <const W extends string>(...words: readonly W[]) =>
  ({ type: "choice", words }) as const;
export const text = (maxCharacters: number) => ({ type: "text", maxCharacters }) as const;
export const texts = (maxCharacters: number, maxCount: number) =>
  ({ type: "texts", maxCharacters, maxCount }) as const;
export const HEADER_TEXT = { type: "header_text", maxCharacters: 1024 } as const;
export const BYTES = { type: "bytes", max: 4 * 1024 ** 3 } as const;

/** A value of a kind, inside the program. */
export type ValueOf<K extends Kind> = K extends { readonly type: "switch" }
  ? boolean
  : K extends { readonly words: readonly (infer Word)[] }
    ? Word
    : K extends { readonly type: "text" | "header_text" }
      ? string
      : K extends { readonly type: "texts" }
        ? readonly string[]
        : K extends { readonly type: "headers" }
          ? readonly (readonly [name: string, value: string])[]
          : number;

/** Characters of a header's value: Latin-1 without control characters (RFC 9110, 5.5). */
export const HEADER_CHARACTERS = /^[\t ]*[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*$/;

/**
 * Says what is wrong with a value, in words that complete "must …"; null for one that is right.
 * @param value as JSON has it: seconds in seconds
 * @param unit what numbers of seconds are given in
 */
export function problemOf(kind: Kind, value: unknown, unit: "s" | "ms" = "s"): string | null {
  const isRight = CHECKS[kind.type] as (kind: Kind, value: unknown, factor: number) => boolean; // of its own kind
  return isRight(kind, value, unit === "s" ? 1 : 1000) ? null : expectationOf(kind, value, unit);
}

/** The whole refusal of a wrong value; it follows the name of the option. Texts are not repeated: they may be secret. */
export function refusalOf(kind: Kind, value: unknown, unit: "s" | "ms" = "s"): string {
  const mayBeSecret = typeof value === "string" && SECRET.has(kind.type);
  const shown = mayBeSecret ? "" : `, not ${showValue(value)}`;
  return `must ${problemOf(kind, value, unit)}${shown}`;
}

const SECRET: ReadonlySet<Kind["type"]> = new Set(["text", "texts", "headers"]);

function showValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

const isBetween = (value: unknown, min: number, max: number): boolean =>
  typeof value === "number" && value >= min && value <= max;
const isText = (value: unknown, max: number): boolean =>
  typeof value === "string" && value.trim() !== "" && value.length <= max;

const CHECKS: {
  readonly [Type in Kind["type"]]: (
    kind: Extract<Kind, { readonly type: Type }>,
    value: unknown,
    factor: number,
  ) => boolean;
} = {
  switch: (_, value) => typeof value === "boolean",
  whole: ({ min, max }, value) => Number.isInteger(value) && isBetween(value, min, max),
  decimal: ({ min, max }, value) => isBetween(value, min, max),
  seconds: ({ min, max }, value, factor) => isBetween(value, min * factor, max * factor),
  choice: ({ words }, value) => words.some((word) => word === value),
  text: ({ maxCharacters }, value) => isText(value, maxCharacters),
  header_text: ({ maxCharacters }, value) =>
    isText(value, maxCharacters) && HEADER_CHARACTERS.test(String(value)),
  texts: ({ maxCharacters, maxCount }, value) =>
    Array.isArray(value) && value.length <= maxCount && value.every((one) => isText(one, maxCharacters)),
  bytes: ({ max }, value) => Number.isInteger(value) && isBetween(value, 1, max),
  headers: (_, value) =>
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => typeof one === "string"),
};

function expectationOf(kind: Kind, value: unknown, unit: "s" | "ms"): string {
  const { type } = kind;
  if (type === "switch") return "be true or false";
  if (type === "choice") return `be one of ${kind.words.join(", ")}`;
  if (type === "headers") return "be an object of texts";
  if (type === "bytes") return "be a size such as 500k, 20M or 1G";
  if (type === "whole") return `be a whole number from ${kind.min} to ${kind.max}`;
  if (type === "decimal" || type === "seconds") {
    const factor = type === "seconds" && unit === "ms" ? 1000 : 1;
    return `be a number from ${kind.min * factor} to ${kind.max * factor}`;
  }
  const { maxCharacters: most } = kind;
  if (type === "header_text") return `be 1 to ${most} Latin characters without line breaks`;
  if (type === "texts") return textsExpectation(kind, value);
  if (typeof value !== "string") return "be text";
  return value.trim() === "" ? "not be empty" : `have at most ${most} characters`;
}

function textsExpectation(
  { maxCharacters, maxCount }: Extract<Kind, { readonly type: "texts" }>,
  value: unknown,
): string {
  if (!Array.isArray(value) || value.some((one) => typeof one !== "string")) return "be a list of texts";
  if (value.length > maxCount) return `have at most ${maxCount} entries`;
  return value.some((one) => one.trim() === "")
    ? "have no empty entry"
    : `have at most ${maxCharacters} characters in each entry`;
}

/** Reads what a person wrote, as JSON has it; a text that is none of the kind stays text, which `problemOf` refuses. */
export function readWritten(kind: Kind, written: string): unknown {
  const trimmed = written.trim();
  const { type } = kind;
  if (type === "texts") return [trimmed];
  if (type === "choice") return kind.words.find((word) => word === trimmed.toLowerCase()) ?? trimmed;
  if (type === "switch") return SWITCH_WORDS[trimmed.toLowerCase()] ?? trimmed;
  if (type === "bytes") return bytesIn(trimmed) ?? trimmed;
  const notation = NOTATIONS[type];
  return notation?.test(trimmed) ? Number(trimmed) : trimmed;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;
const NOTATIONS: Readonly<Record<string, RegExp>> = {
  whole: /^[+-]?\d+$/,
  decimal: DECIMAL,
  seconds: DECIMAL,
};

const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  ...{ 1: true, true: true, yes: true, on: true },
  ...{ 0: false, false: false, no: false, off: false },
};

const UNITS = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const;

function bytesIn(written: string): number | null {
  const [, size, unit = ""] = /^(\d+(?:\.\d+)?)(?:([kmg])i?b?|b)?$/.exec(written.toLowerCase()) ?? [];
  return size === undefined ? null : Math.round(Number(size) * (UNITS[unit as keyof typeof UNITS] ?? 1));
}

/** Turns a value that is right into the program's own. */
export const toInside = (kind: Kind, value: unknown): unknown =>
  kind.type === "seconds" ? Math.round(Number(value) * 1000) : value;

/** Turns a value of the program into that of JSON. */
export const toOutside = (kind: Kind, value: unknown): unknown =>
  kind.type === "seconds" && typeof value === "number" ? value / 1000 : value;

/** Writes a value as a person would type it. */
export function writeValue(kind: Kind, value: unknown): string {
  const isWholeMegabytes = kind.type === "bytes" && Number(value) % UNITS.m === 0;
  return isWholeMegabytes ? `${Number(value) / UNITS.m}M` : String(toOutside(kind, value));
}
