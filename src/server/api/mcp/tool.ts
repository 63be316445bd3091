import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import { didYouMean } from "../../../base/nearest.ts";
import type { EgressCaller } from "../../../fetching/index.ts";

/** The fields of a result; every answer of the tool has all of them, with or without an error. */
export type ToolResult = Readonly<Record<string, unknown>> & { readonly error: string | null };

/** A result that has content may have an error too. */
export type ToolFields = Omit<ToolResult, "error"> & { readonly error?: string };

/** One call of a tool, as far as it is not in the arguments. */
export type ToolCall = {
  /** Aborts when nobody waits for the result any more. It is made on demand, because that takes time. */
  readonly signal: () => AbortSignal;
  /** On whose behalf pages are fetched. */
  readonly caller: () => EgressCaller;
  /** Whose turn it is at the workers, at which turns rotate among clients. */
  readonly client: () => string;
  /** Takes what a bug throws; over HTTP its lines carry the id of the request. */
  readonly log: Log;
};

/** A tool as the protocol shows and calls it. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: object;
  /** Known failures become a result whose `error` describes them. */
  readonly call: (raw: RawArguments, call: ToolCall) => ToolResult | Promise<ToolResult>;
};

type FieldSchema = { readonly type?: string; readonly [more: string]: unknown };

/** A tool before it is given the parts that it works with. */
export type ToolDefinition<Parts> = Omit<Tool, "call" | "annotations" | "outputSchema"> & {
  /** Schemas of the fields of a result besides `error`. */
  readonly result: Readonly<Record<string, FieldSchema>>;
  /** Fields that a result may lack. */
  readonly optional?: readonly string[];
  /** Arguments that are read although the schema, which every client pays for, does not name them; `*` for any. */
  readonly unlisted?: readonly string[];
  /** Whether the schema names only `error` as always there, which takes a third of its words. */
  readonly isLoose?: boolean;
  /** By default a tool changes nothing, and calling it twice is as good as once. */
  readonly annotations?: object;
  /** @throws ArgumentError, Failure */
  readonly answer: (raw: RawArguments, parts: Parts, call: ToolCall) => ToolFields | Promise<ToolFields>;
  /** Returns the fields of a result for an error, in place of blanks. */
  readonly empty?: (raw: RawArguments, parts: Parts) => object;
  /** The `error` of a failure; by default its message. */
  readonly messageOf?: (failure: Failure) => string;
};

const READ_ONLY = { readOnlyHint: true, idempotentHint: true };

/** Gives a tool the parts that it works with. */
export function bindTool<Parts>(definition: ToolDefinition<Parts>, parts: Parts): Tool {
  const { name, description, inputSchema, result, optional = [], isLoose, answer } = definition;
  const { annotations = READ_ONLY, messageOf = ({ message }) => message } = definition;
  const listed = Object.keys((inputSchema as { readonly properties?: object }).properties ?? {});
  const known = [...listed, ...(definition.unlisted ?? [])];
  const usual = Object.entries(result).filter(([field]) => !optional.includes(field));
  const failed = (raw: RawArguments, problem: unknown): ToolResult => {
    if (!(problem instanceof ArgumentError || problem instanceof Failure)) throw problem;
    const blanks = Object.fromEntries(usual.map(([field, { type }]) => [field, BLANKS[type ?? ""] ?? null]));
    const about = { ...blanks, ...definition.empty?.(raw, parts) };
    if (!(problem instanceof Failure)) return { ...about, error: problem.message };
    return { ...about, ...(problem.block && { block: problem.block }), error: messageOf(problem) };
  };
  return {
    name,
    description,
    inputSchema,
    outputSchema: objectOf({ ...result, error: TEXT_OR_NULL }, [
      ...(isLoose ? [] : usual.map(([field]) => field)),
      "error",
    ]),
    annotations,
    // A search is answered at once, and does not pay for a promise.
    call: (raw, call) => {
      try {
        refuseUnknown(raw, known);
        const fields = answer(raw, parts, call);
        if (!(fields instanceof Promise)) return { ...fields, error: fields.error ?? null };
        return fields.then(
          (later) => ({ ...later, error: later.error ?? null }),
          (problem: unknown) => failed(raw, problem),
        );
      } catch (problem) {
        return failed(raw, problem);
      }
    },
  };
}

/** Values in a result for an error, by the type of the field; null for any other type. */
const BLANKS: Readonly<Record<string, unknown>> = { string: "", integer: 0, array: [] };

/** Schemas in which tools describe their arguments and results. */
export const TEXT = { type: "string" };
export const WHOLE = { type: "integer" };
/** The schema of a text, with what a model should know of it. */
export const textWith = (description: string) => ({ type: "string", description });
// Some clients cannot map a list of types, so this is none.
export const TEXT_OR_NULL = { anyOf: [TEXT, { type: "null" }] };
export const WHOLE_OR_NULL = { anyOf: [WHOLE, { type: "null" }] };

export const objectOf = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
});

/** The limits of a whole number, and what stands for one that is left out. */
type WholeRange = { readonly min: number; readonly max: number; readonly fallback: number };

/** The position at which to continue. */
export const OFFSET: WholeRange = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 };

export const wholeIn = ({ min, max, fallback }: WholeRange) => ({
  type: "integer",
  minimum: min > 0 ? min : undefined,
  // Limits that no model reaches by accident are left out: every client pays for each word.
  maximum: max < GENEROUS ? max : undefined,
  default: fallback,
});

const GENEROUS = 100_000;

const MAX_ECHO = 1000;

/** An argument as it was written, for a result without content. */
export const written = (raw: RawArguments, name: string): string => {
  const value = raw[name];
  return typeof value === "string" ? value.slice(0, MAX_ECHO) : "";
};

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

/** Refuses a mistyped argument, which would silently mean its default. @throws ArgumentError that names it */
function refuseUnknown(raw: RawArguments, known: readonly string[]): void {
  if (known.includes(ALL)) return;
  const wrong = Object.keys(raw).find(
    (one) => !known.some((name) => name === one || ALIASES[name]?.includes(one)),
  );
  if (wrong === undefined) return;
  const shown = wrong.slice(0, MAX_NAME);
  const there = known.length > 0 ? `there are ${known.join(", ")}` : "there are none";
  throw new ArgumentError(`unknown argument ${JSON.stringify(shown)}; ${there}${didYouMean(shown, known)}`);
}

/** So much of a wrong name is shown. */
const MAX_NAME = 50;

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

/**
 * Reads text in which a whole number is taken as its digits, because clients that read `404` at a shell send a number.
 * Other numbers are refused: `1.10` has become 1.1 on the way.
 * @throws ArgumentError as `requiredText`
 */
export const textOrDigits = (raw: RawArguments, name: string): string =>
  Number.isSafeInteger(raw[name]) ? String(raw[name]) : requiredText(raw, name);

/** @throws ArgumentError for another kind of value */
export function optionalText(raw: RawArguments, name: string): string | null {
  return given(raw, name) === undefined ? null : requiredText(raw, name);
}

/**
 * Reads names: one text, texts in an array, or a text with commas between names; null without names, or if `*` is
 * among them.
 * @throws ArgumentError for another kind of value
 */
export function names(raw: RawArguments, name: string): readonly string[] | null {
  const value = given(raw, name);
  if (value === undefined) return null;
  const texts = Array.isArray(value) ? value : [requiredText(raw, name)];
  if (!texts.every((one) => typeof one === "string")) throw new ArgumentError(`${name} must be strings`);
  const found = texts.flatMap((one) => one.split(",")).flatMap((one) => one.trim() || []);
  if (found.includes(ALL)) return null;
  if (found.length > MAX_NAMES) throw new ArgumentError(`${name} must be at most ${MAX_NAMES} names`);
  return found.length === 0 ? null : [...new Set(found)];
}

const MAX_NAMES = 1000;
/** Stands for all tenants; no codename is like it. */
const ALL = "*";

/** Refuses a call that says nothing of tenants; it may name a library instead. @throws ArgumentError */
export function requireTenant(raw: RawArguments): void {
  if (given(raw, "tenant_codename") === undefined && given(raw, "library") === undefined)
    throw new ArgumentError(`tenant_codename is required; ${ALL} stands for all tenants`);
}

/** The tenant that a call names; null when it means any. @throws ArgumentError */
export function oneTenant(raw: RawArguments): string | null {
  requireTenant(raw);
  const name = optionalText(raw, "tenant_codename") ?? "";
  return name === ALL || name === "" ? null : name;
}

/** Reads a whole number; text of digits is accepted because some clients send it. @throws ArgumentError */
export function integer(raw: RawArguments, name: string, { min, max, fallback }: WholeRange): number {
  const value = given(raw, name);
  // Some clients send an empty text for what is left out, and numbers as Python or a form writes them.
  if (value === undefined || value === "") return fallback;
  const number = typeof value === "string" && /^-?\d{1,15}(?:\.0{1,9})?$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  const allowed = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `between ${min} and ${max}`;
  throw new ArgumentError(`${name} must be ${allowed}`);
}

/** @throws ArgumentError for anything but true and false */
export function flag(raw: RawArguments, name: string): boolean {
  const value = given(raw, name);
  if (value === undefined || /^(?:false)?$/i.test(String(value))) return false;
  if (/^true$/i.test(String(value))) return true;
  throw new ArgumentError(`${name} must be true or false`);
}

/** Reads one of a few words; undefined when it is absent. @throws ArgumentError that names the words */
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
