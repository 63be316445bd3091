/** The arguments of a tool call as the client sent them. */
export type RawArguments = Readonly<Record<string, unknown>>;

/** An error in the arguments of a call, in words that a model can act on. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

// Clients, and the models behind them, confuse these names; they mean the same everywhere.
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  codename: ["tenant_codename", "tenant"],
  tenant_codename: ["codename", "tenant", "tenants", "tenant_codenames"],
  uri: ["url"],
};

function given(raw: RawArguments, name: string): unknown {
  const key = [name, ...(ALIASES[name] ?? [])].find((one) => Object.hasOwn(raw, one) && raw[one] !== null);
  return key === undefined ? undefined : raw[key];
}

const MAX_TEXT = 10_000;

/** @throws ArgumentError when it is missing, no text, or longer than 10 000 characters */
export function requiredText(raw: RawArguments, name: string): string {
  const value = given(raw, name);
  if (value === undefined) throw new ArgumentError(`${name} is required`);
  if (typeof value !== "string") throw new ArgumentError(`${name} must be a string`);
  if (value.length > MAX_TEXT) throw new ArgumentError(`${name} must have at most ${MAX_TEXT} characters`);
  return value.trim();
}

/** @throws ArgumentError as `requiredText`, and when it is blank */
export function requiredWords(raw: RawArguments, name: string): string {
  const value = requiredText(raw, name);
  if (value === "") throw new ArgumentError(`${name} is required`);
  return value;
}

/** @throws ArgumentError for another kind of value */
export function optionalText(raw: RawArguments, name: string): string | null {
  return given(raw, name) === undefined ? null : requiredText(raw, name);
}

/**
 * Reads names: one text, texts in an array, or a text with commas between them; null when there are none.
 * @throws ArgumentError for another kind of value
 */
export function names(raw: RawArguments, name: string): readonly string[] | null {
  const value = given(raw, name);
  if (value === undefined) return null;
  const texts = Array.isArray(value) ? value : [requiredText(raw, name)];
  if (!texts.every((one) => typeof one === "string")) throw new ArgumentError(`${name} must be strings`);
  const found = texts.flatMap((one) => one.split(",")).flatMap((one) => one.trim() || []);
  if (found.length > MAX_NAMES) throw new ArgumentError(`${name} must be at most ${MAX_NAMES} names`);
  return found.length === 0 ? null : [...new Set(found)];
}

const MAX_NAMES = 1000;

/**
 * Reads a whole number; text of digits is accepted because some clients send it.
 * @throws ArgumentError
 */
export function integer(
  raw: RawArguments,
  name: string,
  range: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = given(raw, name);
  if (value === undefined) return range.fallback;
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < range.min || number > range.max) {
    const { min, max } = range;
    const allowed = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `between ${min} and ${max}`;
    throw new ArgumentError(`${name} must be ${allowed}`);
  }
  return number;
}

/** @throws ArgumentError for anything but true and false */
export function flag(raw: RawArguments, name: string): boolean {
  const value = given(raw, name);
  if (value === undefined || value === false || value === "false") return false;
  if (value === true || value === "true") return true;
  throw new ArgumentError(`${name} must be true or false`);
}

/**
 * Reads one of a few words; undefined when it is absent.
 * @throws ArgumentError that names the words
 */
export function choice<T extends string>(
  raw: RawArguments,
  name: string,
  words: readonly T[],
): T | undefined {
  const value = given(raw, name);
  if (value === undefined) return undefined;
  const word = words.find((one) => one === value);
  if (word === undefined) throw new ArgumentError(`${name} must be one of ${words.join(", ")}`);
  return word;
}
