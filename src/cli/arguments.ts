import { cac } from "cac";
import { Failure } from "../failure.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { Flag } from "./flag.ts";
import { COMMANDS, type Command, EXTRACT_COMMAND } from "./flags.ts";

/** What was typed, before it means anything. */
export type Typed = {
  readonly command: Command;
  readonly positionals: readonly string[];
  /** Whether the option was given. */
  has(name: string): boolean;
  /** The option's last value; null when it was not given. */
  one(name: string): string | null;
  /** All values of a repeatable option. */
  many(name: string): readonly string[];
};

/**
 * Reads the words after the program's name.
 * @throws Failure `invalid_usage` for unknown options (naming the nearest) and missing values
 */
export function parseArguments(words: readonly string[]): Typed {
  const command = findCommand(words);
  const { encoded, decode } = encodeValues(words, command);
  const parser = cac("article-extractor");
  for (const { name, flags } of COMMANDS) {
    const declared = parser.command(name === EXTRACT_COMMAND.name ? "[...words]" : `${name} [...words]`, "", {
      ignoreOptionDefaultValue: true, // a `--no-x` switch is on only when typed
    });
    for (const flag of flags) declared.option(rawName(flag), flag.help);
  }
  const { args, options } = parser.parse(["", "", ...encoded], { run: false });
  const values = new Map(command.flags.map((flag) => [flag.name, typedValues(options, flag, decode)]));
  const many = (name: string): readonly string[] => values.get(name) ?? [];
  return {
    command,
    positionals: args.map(decode),
    has: (name) => many(name).length > 0,
    one: (name) => many(name).at(-1) ?? null,
    many,
  };
}

function findCommand([first = ""]: readonly string[]): Command {
  const found = COMMANDS.find((command) => command.name === first);
  if (found) return found;
  // A bare word is no URL and no option; where it is like a command, nothing else was meant.
  const meant = /^[a-z-]+$/i.test(first) && !first.startsWith("-") ? nearest(first, COMMAND_NAMES) : null;
  if (meant !== null) {
    throw new Failure("invalid_usage", `unknown command ${JSON.stringify(first)}; did you mean ${meant}?`);
  }
  return EXTRACT_COMMAND;
}

const COMMAND_NAMES = COMMANDS.map(({ name }) => name);

type Encoded = { readonly encoded: string[]; readonly decode: (word: unknown) => string };

// cac turns values that look like numbers into numbers ("007" into 7) and loses a lone "-". So each value
// and argument travels through it as a word like "@3" that stands for what was typed.
function encodeValues(words: readonly string[], command: Command): Encoded {
  const typed: string[] = [];
  const encode = (value: string): string => `@${typed.push(value) - 1}`;
  const encoded: string[] = [];
  const queue = words[0] === command.name ? words.slice(1) : [...words];
  if (command !== EXTRACT_COMMAND) encoded.push(command.name);
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === "--") encoded.push(...queue.splice(0).map(encode));
    else if (word === "-" || !word.startsWith("-")) encoded.push(encode(word));
    else if (isBundle(word, command)) queue.unshift(...[...word.slice(1)].map((letter) => `-${letter}`));
    else {
      const { flag, attached } = readOption(word, command);
      encoded.push(`--${flag.name}`);
      if (flag.placeholder !== undefined) {
        encoded.push(encode(attached ?? takeValue(flag, queue)));
      }
    }
  }
  return { encoded, decode: (word) => typed[Number(String(word).slice(1))] ?? "" };
}

/** "-qv" is "-q -v" where all of them are switches; the value of "-ofile" is none. */
const isBundle = (word: string, { flags }: Command): boolean =>
  /^-[a-z]{2,}$/i.test(word) &&
  [...word.slice(1)].every((letter) => flags.some((f) => f.short === letter && f.placeholder === undefined));

function readOption(word: string, command: Command): { flag: Flag; attached: string | null } {
  const isLong = word.startsWith("--");
  const equals = word.indexOf("=");
  const written = isLong ? word.slice(0, equals < 0 ? undefined : equals) : word.slice(0, 2);
  const flag = command.flags.find((f) => written === `--${f.name}` || (f.short && written === `-${f.short}`));
  if (!flag) throw unknownOption(isLong ? written : word, command);
  const rest = isLong
    ? equals < 0
      ? null
      : word.slice(equals + 1)
    : word.slice(2).replace(/^=/, "") || null;
  if (rest === null || flag.placeholder !== undefined) return { flag, attached: rest };
  if (isLong) throw new Failure("invalid_usage", `--${flag.name} takes no value`);
  throw unknownOption(word, command);
}

function unknownOption(written: string, command: Command): Failure {
  const names = command.flags.map((flag) => `--${flag.name}`);
  const elsewhere = COMMANDS.find(({ flags }) => flags.some((flag) => `--${flag.name}` === written));
  const isBeginning = names.some((name) => name.startsWith(written));
  const hint =
    elsewhere && !isBeginning ? `; it belongs to the command ${elsewhere.name}` : didYouMean(written, names);
  return new Failure("invalid_usage", `unknown option ${written}${hint}`);
}

// "-5" can be a value, "--quiet" cannot: a forgotten value must not swallow the next option.
function takeValue(flag: Flag, queue: string[]): string {
  const next = queue[0];
  if (next === undefined || /^--|^-[a-z]/i.test(next)) {
    throw new Failure("invalid_usage", `--${flag.name} needs a value: --${flag.name} ${flag.placeholder}`);
  }
  queue.shift();
  return next;
}

const rawName = ({ name, short, placeholder }: Flag): string =>
  `${short ? `-${short}, ` : ""}--${name}${placeholder === undefined ? "" : " <value>"}`;

// cac files an option under its camelCase name, and `--no-x` as x = false.
function typedValues(
  options: Readonly<Record<string, unknown>>,
  flag: Flag,
  decode: Encoded["decode"],
): string[] {
  const isNegated = flag.name.startsWith("no-");
  const key = (isNegated ? flag.name.slice(3) : flag.name).replace(/-(\w)/g, (_, letter) =>
    letter.toUpperCase(),
  );
  const value = options[key];
  // Given twice, or as `--x --no-x`: the last one counts.
  if (flag.placeholder === undefined) return [value].flat().at(-1) === !isNegated ? ["true"] : [];
  return value === undefined ? [] : [value].flat().map(decode);
}
