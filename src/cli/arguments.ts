import { parseArgs } from "node:util";
import { cac } from "cac";
import type { Failure } from "../base/failure.ts";
import { didYouMean, nearest } from "../base/nearest.ts";
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
import { COMMAND_NAMES, COMMANDS, type Command, EXTRACT_COMMAND, requireCommand } from "./commands.ts";
import type { Flag } from "./flags/flag.ts";
import { hasRawBytes } from "./input.ts";
import { wrongUsage } from "./io.ts";

/** The typed words, before they are interpreted. */
export type Typed = {
  readonly command: Command;
  readonly positionals: readonly string[];
  /** Whether help is requested, as an option or as the only word after the command's name. */
  readonly asksForHelp: boolean;
  /** Tells whether the option was given. */
  has(name: string): boolean;
  /** Returns the option's last value; null when it was not given. */
  one(name: string): string | null;
  /** Returns all values of a repeatable option. */
  many(name: string): readonly string[];
};

/**
 * Reads the words after the program's name. An option has the same meaning before, between and after the arguments,
 * including the command's name; after `--` every word is an argument.
 * @throws Failure `invalid_usage` for unknown options (naming the nearest) and missing values
 */
export function parseArguments(words: readonly string[]): Typed {
  const tokens = tokenize(words);
  const { command, positionals } = takeCommand(tokens);
  const values = readOptions(command, tokens, words);
  for (const word of positionals) requireText(word, "an argument");
  const many = (name: string): readonly string[] => values.get(name) ?? [];
  // In `search --dir docs help` and `index -- help`, "help" is an argument.
  const isLastOfTwo = tokens.length === 2 && tokens.every(({ kind }) => kind === "positional");
  return {
    command,
    positionals,
    asksForHelp: values.has("help") || (isLastOfTwo && positionals[0] === "help"),
    has: (name) => many(name).length > 0,
    one: (name) => many(name).at(-1) ?? null,
    many,
  };
}

// An option has the same letter, and takes a value or none, in all commands that know it. So the words can be split
// before the command is known, which may come after options.
const OPTIONS = Object.fromEntries(
  COMMANDS.flatMap(({ flags }) => flags).map(({ name, short, placeholder }) => [
    name,
    { type: placeholder === undefined ? "boolean" : "string", ...(short ? { short } : {}) } as const,
  ]),
);

// Parsing is not strict, so that our own message can name the option that was meant.
const tokenize = (words: readonly string[]) =>
  parseArgs({ args: [...words], options: OPTIONS, strict: false, allowPositionals: true, tokens: true })
    .tokens;

type Token = ReturnType<typeof tokenize>[number];
type OptionToken = Extract<Token, { kind: "option" }>;

function requireForm(word: string, { rawName }: OptionToken): void {
  // In `-q=yes` the letter is a switch, so what follows it is read as more letters.
  if (rawName === "-=") throw wrongUsage(`${word.split("=")[0]} takes no value`);
  // Otherwise `-output json` would be `-o utput`, and write a file of that name.
  const name = /^-([^-=][^=]+)/.exec(word)?.[1];
  if (name !== undefined && Object.hasOwn(OPTIONS, name))
    throw wrongUsage(`unknown option -${name}; did you mean --${name}?`);
}

function takeCommand(tokens: readonly Token[]): Pick<Typed, "command" | "positionals"> {
  const end = tokens.findIndex(({ kind }) => kind === "option-terminator");
  const positionals = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const first = tokens.findIndex(({ kind }) => kind === "positional");
  const [word = "", ...rest] = positionals;
  // After `--` a word is an argument even if a command has that name.
  if (first < 0 || (end >= 0 && end < first)) return { command: EXTRACT_COMMAND, positionals };
  const command = COMMANDS.find(({ name }) => name === word);
  if (command) return { command, positionals: rest };
  // A bare word is neither a URL nor an option; if it resembles a command, that command was meant.
  const isMistyped = /^[a-z-]+$/i.test(word) && nearest(word, COMMAND_NAMES) !== null;
  return isMistyped
    ? { command: requireCommand(word), positionals: rest }
    : { command: EXTRACT_COMMAND, positionals };
}

/** Returns the values of the typed options by their names; "true" for a switch. */
function readOptions(
  command: Command,
  tokens: readonly Token[],
  words: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const parser = cac("article-extractor");
  // A `--no-x` switch is only on when it was typed.
  const declared = parser.command("[...words]", "", { ignoreOptionDefaultValue: true });
  for (const flag of command.flags) declared.option(declarationOf(flag), flag.help);
  const values: string[] = [];
  const spelled = tokens.flatMap((token) => {
    if (token.kind !== "option") return [];
    requireForm(words[token.index] ?? "", token);
    const flag = command.flags.find(({ name }) => name === token.name);
    if (!flag) throw unknownOption(token.rawName, command);
    const value = readValue(flag, token);
    return [
      flag.placeholder === undefined ? spellingOf(flag) : `${spellingOf(flag)}=@${values.push(value) - 1}`,
    ];
  });
  const { options } = parser.parse(["", "", ...spelled], { run: false });
  return new Map(
    command.flags.flatMap((flag) => {
      const read = typedValues(flag, options[camelCase(flag.name.replace(/^no-/, ""))], values);
      return read.length > 0 ? [[flag.name, read]] : [];
    }),
  );
}

const declarationOf = ({ name, placeholder }: Flag): string =>
  `--${name}${placeholder === undefined ? "" : " <value>"}`;

// cac knows a switch only by its camelCase name: after `--prefer-http` it would take the next word as its value. It
// also turns a value that looks like a number into one, so each value is replaced by a word like "@3".
const spellingOf = ({ name }: Flag): string =>
  name.startsWith("no-") ? `--${name}` : `--${camelCase(name)}`;

const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

// `--no-x` means x = false. The last of `--x` and `--no-x` counts.
function typedValues(flag: Flag, read: unknown, values: readonly string[]): readonly string[] {
  const all: unknown[] = read === undefined ? [] : [read].flat();
  if (flag.placeholder !== undefined) return all.map((word) => values[Number(String(word).slice(1))] ?? "");
  return all.at(-1) === !flag.name.startsWith("no-") ? ["true"] : [];
}

function readValue(flag: Flag, { rawName, value, inlineValue }: OptionToken): string {
  const { name, placeholder, takesBytes } = flag;
  if (placeholder === undefined) {
    if (inlineValue) throw wrongUsage(`--${name} takes no value`);
    return "true";
  }
  // "-5" can be a value, "--quiet" cannot: a forgotten value must not swallow the next option.
  if (value === undefined || (!inlineValue && /^--|^-[a-z]/i.test(value)))
    throw wrongUsage(`--${name} needs a value: --${name} ${placeholder}`);
  const isShort = !rawName.startsWith("--");
  const read = inlineValue && isShort ? value.replace(/^=/, "") : value;
  if (!takesBytes) requireText(read, `the value of --${name}`);
  return read;
}

function requireText(word: string, what: string): void {
  if (hasRawBytes(word)) throw wrongUsage(`${what} is no UTF-8: ${JSON.stringify(word.toWellFormed())}`);
}

function unknownOption(written: string, command: Command): Failure {
  const names = command.flags.map((flag) => `--${flag.name}`);
  const elsewhere = COMMANDS.find(({ flags }) => flags.some((flag) => `--${flag.name}` === written));
  const isBeginning = names.some((name) => name.startsWith(written));
  const meant = command.flags.flatMap(({ insteadOf = {} }) =>
    Object.hasOwn(insteadOf, written.slice(2)) ? [insteadOf[written.slice(2)]] : [],
  );
  if (meant.length > 0) return wrongUsage(`unknown option ${written}; did you mean ${meant[0]}?`);
  const hint =
    elsewhere && !isBeginning ? `; it belongs to the command ${elsewhere.name}` : didYouMean(written, names);
  return wrongUsage(`unknown option ${written}${hint}`);
}

/** Reads the value of an option; null when it was not given. Throws `Failure` `invalid_usage`. */
export const optionValue = {
  text: (typed: Typed, name: string): string | null => read(typed, name, text),
  texts: (typed: Typed, name: string): string[] => typed.many(name).map((value) => parse(name, value, text)),
  /** A path keeps the white space at its ends. */
  path: (typed: Typed, name: string): string | null => read(typed, name, path),
  paths: (typed: Typed, name: string): string[] => typed.many(name).map((value) => parse(name, value, path)),
  headerText: (typed: Typed, name: string): string | null => read(typed, name, headerText),
  integer: (typed: Typed, name: string, min: number, max: number): number | null =>
    read(typed, name, integer(min, max)),
  decimal: (typed: Typed, name: string, min: number, max: number): number | null =>
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
  throw wrongUsage(`--${name} ${describeMismatch(parsed.expected, value)}${didYouMean(value, words)}`);
}
