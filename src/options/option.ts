import { type Kind, toInside, toOutside, type ValueOf } from "./kinds.ts";

/**
 * One option of pages, of the network or of crawls: what it may be, what it means, and its name at each door. A name that
 * begins with `!` says the contrary of the option.
 */
export type Option = {
  readonly kind: Kind;
  /** The value that holds where nobody gives one; null leaves the choice to the program. */
  readonly byDefault: unknown;
  /** What it does, in one sentence. */
  readonly means: string;
  /** The same for names that say the contrary. */
  readonly contrary?: string;
  /** How it is typed, as the help shows it: `--max-pages N`. */
  readonly flag?: string;
  /** The variable of the environment that gives it another default. */
  readonly variable?: string;
  /** The field of a request over HTTP. */
  readonly field?: string;
  /** What the field means, where a request needs other words. */
  readonly onRequest?: string;
  /** The option of the library. */
  readonly library?: string;
  /** The argument of an MCP tool. */
  readonly argument?: string;
  /** The label in the form of the web page. */
  readonly label?: string;
  /** What the empty field of the form shows as an example. */
  readonly placeholder?: string;
  /** What the form calls the values of a choice, in the order in which it offers them. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Whether the form shows the option before it is asked for more. */
  readonly isProminent?: true;
  /** The field of a crawl's manifest, where it is not that of a request or the flag's name; null is not shown. */
  readonly manifest?: string | null;
  /** The heading of the help under which the flag stands, where it is not that of its table. */
  readonly group?: string;
  /** The default as the help shows it, where it depends on something. */
  readonly defaultNote?: string;
  /** What another value of it changes of a crawl that goes on, and its name for a person; else what is stored of pages. */
  readonly changed?: readonly [what: Change, name: string];
  /** An example for the documents of the API. */
  readonly example?: unknown;
};

/** Where an option can be given. */
export type Door = "flag" | "variable" | "field" | "library" | "argument" | "label";

/** Why options of a table are missing at some doors. */
export type Elsewhere = Readonly<Partial<Record<Door, string>>>;

/**
 * What another value changes of a crawl: which pages belong to it, how many, or how they are read.
 */
export type Change = "scope" | "limits" | "reading";

export type OptionTable = Readonly<Record<string, Option>>;

/** A value of an option inside the program. */
type Inside<O extends Option> = O["byDefault"] extends null ? ValueOf<O["kind"]> | null : ValueOf<O["kind"]>;

/** The options of a table, each with a value. */
export type Values<T extends OptionTable> = { readonly [Name in keyof T]: Inside<T[Name]> };

/** The same where null leaves an option that has a variable to the settings. */
export type Choices<T extends OptionTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly variable: string }
    ? ValueOf<T[Name]["kind"]> | null
    : Inside<T[Name]>;
};

/** A name without its mark, and whether it says the contrary. */
export function unmarked(name: string): { readonly name: string; readonly isContrary: boolean } {
  const isContrary = name.startsWith("!");
  return { name: isContrary ? name.slice(1) : name, isContrary };
}

/** What an option means under one of its names. */
export const meaningOf = (option: Option, name: string): string =>
  (unmarked(name).isContrary ? option.contrary : undefined) ?? option.means;

/** The name of an option as a flag, without dashes; null where it has none. */
export const flagName = ({ flag }: Option): string | null =>
  flag === undefined ? null : (/--([\w-]+)/.exec(flag)?.[1] ?? null);

/** The field of an option in a crawl's manifest, perhaps marked as its contrary; null where it is not shown. */
export const manifestField = (option: Option): string | null =>
  option.manifest === undefined
    ? (option.field ?? flagName(option)?.replaceAll("-", "_") ?? null)
    : option.manifest;

/** The options of a table under the names of a manifest, as JSON has them. */
export const shownOptions = <T extends OptionTable>(
  table: T,
  values: { readonly [Name in keyof T]: unknown },
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, option]) => {
      const field = manifestField(option);
      if (field === null) return [];
      const { name, isContrary } = unmarked(field);
      return [[name, isContrary ? !values[key] : toOutside(option.kind, values[key])]];
    }),
  );

/**
 * Reads the options that somebody gave as fields, which are right; the others have the value that they have otherwise.
 * @param door requests over HTTP have seconds, programs that use the library milliseconds
 */
export function valuesFrom<V extends object>(
  table: OptionTable,
  door: "field" | "library",
  given: object,
  otherwise: V,
): V {
  const values = Object.entries(table).map(([key, option]) => {
    const { name, isContrary } = unmarked(option[door] ?? "");
    const value: unknown = Reflect.get(given, name) ?? null;
    if (value === null) return [key, otherwise[key as keyof V]];
    if (isContrary) return [key, !value];
    return [key, door === "field" ? toInside(option.kind, value) : value];
  });
  return Object.fromEntries(values); // of the same names, each of its kind
}

/** The choices of a caller who makes none. */
export const noChoices = <T extends OptionTable>(table: T): Choices<T> =>
  Object.fromEntries(
    Object.entries(table).map(([key, { byDefault, variable }]) => [
      key,
      variable === undefined ? byDefault : null,
    ]),
    // Null or the default, as the type says.
  ) as Choices<T>;

/** The default of each option. @param settings what holds instead for options that have a variable */
export const defaultsOf = <T extends OptionTable>(table: T, settings?: object): Values<T> =>
  Object.fromEntries(
    Object.entries(table).map(([key, { byDefault, variable }]) => [
      key,
      settings === undefined || variable === undefined ? byDefault : Reflect.get(settings, key),
    ]),
    // Each default has the type of its option, and so has each setting that is made of it.
  ) as Values<T>;
