import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import type { EgressCaller } from "../../../fetching/index.ts";
import { ArgumentError, type RawArguments } from "./arguments.ts";

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

/** A tool before it is given the parts that it works with. */
export type ToolDefinition<Parts> = Omit<Tool, "call" | "annotations"> & {
  /** By default a tool changes nothing, and calling it twice is as good as once. */
  readonly annotations?: object;
  /** @throws ArgumentError, Failure */
  readonly answer: (raw: RawArguments, parts: Parts, call: ToolCall) => ToolFields | Promise<ToolFields>;
  /** The result without content, for errors. */
  readonly empty: (raw: RawArguments, parts: Parts) => ToolFields;
  /** The `error` of a failure; by default its message. */
  readonly messageOf?: (failure: Failure) => string;
};

const READ_ONLY = { readOnlyHint: true, idempotentHint: true };

/** Gives a tool the parts that it works with. */
export function bindTool<Parts>(definition: ToolDefinition<Parts>, parts: Parts): Tool {
  const {
    answer,
    empty,
    annotations = READ_ONLY,
    messageOf = ({ message }) => message,
    ...shown
  } = definition;
  const failed = (raw: RawArguments, problem: unknown): ToolResult => {
    if (problem instanceof ArgumentError) return { ...empty(raw, parts), error: problem.message };
    if (problem instanceof Failure) return { ...empty(raw, parts), error: messageOf(problem) };
    throw problem;
  };
  return {
    ...shown,
    annotations,
    // A search is answered at once, and does not pay for a promise.
    call: (raw, call) => {
      try {
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

/** Schemas in which tools describe their arguments and results. */
export const TEXT = { type: "string" };
export const WHOLE = { type: "integer" };
// Some clients cannot map a list of types, so this is none.
export const TEXT_OR_NULL = { anyOf: [TEXT, { type: "null" }] };
export const WHOLE_OR_NULL = { anyOf: [WHOLE, { type: "null" }] };

export const objectOf = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
});

/**
 * Makes the schema of a result; all fields are required, except the named ones, because they are always
 * there.
 */
export const resultOf = (properties: object, optional: readonly string[] = []) =>
  objectOf(
    { ...properties, error: TEXT_OR_NULL },
    [...Object.keys(properties), "error"].filter((name) => !optional.includes(name)),
  );

/** The same without saying which fields are always there, which takes a third of the words of a schema. */
export const looseResultOf = (properties: object) =>
  objectOf({ ...properties, error: TEXT_OR_NULL }, ["error"]);

const MAX_ECHO = 1000;

/** An argument as it was written, for a result without content. */
export const written = (raw: RawArguments, name: string): string => {
  const value = raw[name];
  return typeof value === "string" ? value.slice(0, MAX_ECHO) : "";
};
