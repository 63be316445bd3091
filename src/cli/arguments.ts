import { parseArgs } from "node:util";
import { EARLIER_OPTIONS } from "../base/earlier-names.ts";
import type { Failure } from "../base/failure.ts";
import { didYouMean, nearest } from "../base/nearest.ts";
import { OTHER_OPTIONS } from "../base/other-names.ts";
import { COMMAND_NAMES, COMMANDS, type Command, EXTRACT_COMMAND, requireCommand } from "./commands.ts";
import type { Flag } from "./flags/flag.ts";
import { wrongUsage } from "./io.ts";
import { FORM_BY_WORD } from "./output-forms.ts";
import { hasRawBytes } from "./words.ts";

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
  const written = tokenize(words);
  const tokens = withTenantVersion(withoutEarlier(written, takeCommand(written).command));
  const { command, positionals } = takeCommand(tokens);
  requireNoFormer(tokens, command);
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

const optionsOf = (flags: readonly Flag[]) =>
  Object.fromEntries(
    flags.map(({ name, short, placeholder }) => [
      name,
      { type: placeholder === undefined ? "boolean" : "string", ...(short ? { short } : {}) } as const,
    ]),
  );

// An option has the same letter in all commands that know it, and takes a value or none. So the words can be split
// before the command is known, which may come after options.
const OPTIONS = optionsOf(COMMANDS.flatMap(({ flags }) => flags));

// Parsing is not strict, so that our own message can name the option that was meant. cac could not do it: it makes a 7
// of `--file 007`, loses a value `-`, and forgets the order of options.
const tokenize = (words: readonly string[]) =>
  parseArgs({ args: [...words], options: OPTIONS, strict: false, allowPositionals: true, tokens: true })
    .tokens;

type Token = ReturnType<typeof tokenize>[number];
type OptionToken = Extract<Token, { kind: "option" }>;

/** Takes options of earlier programs for what they mean today. */
function withoutEarlier(tokens: readonly Token[], { name: command }: Command): readonly Token[] {
  let taken: Token[] = [];
  for (const token of tokens) {
    const earlier = token.kind === "option" ? EARLIER_OPTIONS[command]?.[token.rawName] : undefined;
    // Of these only `-o` has a value; another one's is refused as that of an unknown option.
    const isRead = token.kind === "option" && (token.value === undefined || token.rawName === "-o");
    if (!isRead || earlier === undefined || "say" in earlier) taken.push(token);
    else if ("takesBack" in earlier)
      taken = taken.filter((other) => other.kind !== "option" || other.name !== earlier.takesBack);
    else if (Object.hasOwn(OPTIONS, earlier.as)) taken.push({ ...token, name: earlier.as });
    else
      for (const value of earlier.as.split(" "))
        taken.push({ kind: "positional", index: token.index, value });
  }
  return taken;
}

/** After `tenants add`, `tenants set` and `index export`, `--version 2.0` is the documentation's version and not a wish for the program's. */
function withTenantVersion(tokens: readonly Token[]): readonly Token[] {
  const [command, action] = tokens.flatMap((token) => (token.kind === "positional" ? [token] : []));
  const isMeant = /^(?:tenants (?:add|set)|index export)$/.test(`${command?.value} ${action?.value}`);
  const taken: Token[] = [];
  for (const token of tokens) {
    const last = taken.at(-1);
    const isVersion = last?.kind === "option" && last.rawName === "--version" && last.value === undefined;
    if (isMeant && isVersion && token.kind === "positional" && token.index > action!.index)
      taken.splice(-1, 1, { ...last, name: "library-version", value: token.value, inlineValue: false });
    else if (isMeant && token.kind === "option" && token.rawName === "--version" && token.inlineValue)
      taken.push({ ...token, name: "library-version" });
    else taken.push(token);
  }
  return taken;
}

/** Refuses `-f` before the name of a file or a form, which an earlier program took as its value. */
function requireNoFormer(tokens: readonly Token[], { name: command }: Command): void {
  const at = tokens.findIndex((token) => token.kind === "option" && token.rawName === "-f");
  const after = at < 0 ? undefined : tokens[at + 1];
  if (command !== "extract" || after?.kind !== "positional") return;
  const { value } = after;
  const isForm = Object.hasOwn(FORM_BY_WORD, value);
  const isFile = !/^[a-z][a-z\d+.-]*:\/\//i.test(value) && /\.(?:x?html?|md|markdown|txt)$/i.test(value);
  if (isForm || isFile)
    throw wrongUsage(
      `-f is --fail-on-http-error, which takes no value; did you mean --${isForm ? "output" : "file"} ${value}?`,
    );
}

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
  // A bare word is neither a URL nor an option; if it resembles a command, that command was meant. Behind an option
  // that nobody knows it may be its value, and the option is refused.
  const before = tokens[first - 1];
  const isValue = before?.kind === "option" && !Object.hasOwn(OPTIONS, before.name);
  const isMistyped = !isValue && /^[a-z-]+$/i.test(word) && nearest(word, COMMAND_NAMES) !== null;
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
  const values = new Map<string, readonly string[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    requireForm(words[token.index] ?? "", token);
    const flag = command.flags.find(({ name }) => name === token.name);
    if (!flag) throw unknownOption(token.rawName, command);
    const { name, placeholder } = flag;
    const before = placeholder === undefined ? [] : (values.get(name) ?? []);
    values.set(name, [...before, readValue(flag, token)]);
    // Of `--x` and `--no-x` the last one counts.
    values.delete(name.startsWith("no-") ? name.slice(3) : `no-${name}`);
  }
  return values;
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
  if (hasRawBytes(word)) throw wrongUsage(`${what} is not UTF-8: ${JSON.stringify(word.toWellFormed())}`);
}

function unknownOption(written: string, command: Command): Failure {
  const names = command.flags.map((flag) => `--${flag.name}`);
  const elsewhere = COMMANDS.find(({ flags }) => flags.some((flag) => `--${flag.name}` === written));
  const isBeginning = names.some((name) => name.startsWith(written));
  const earlier = EARLIER_OPTIONS[command.name]?.[written];
  if (earlier && "say" in earlier) return wrongUsage(`unknown option ${written}; ${earlier.say}`);
  const other = otherName(written, command);
  if (other !== null)
    return wrongUsage(
      `unknown option ${written}; ${other.startsWith("-") ? `did you mean ${other}?` : other}`,
    );
  const hint =
    elsewhere && !isBeginning ? `; it belongs to the command ${elsewhere.name}` : didYouMean(written, names);
  return wrongUsage(`unknown option ${written}${hint}`);
}

/** Translates an option of another program: to our option with its value, or to a sentence; null if it is unknown. */
function otherName(written: string, { name: command, flags }: Command): string | null {
  const typed = written.replace(/^-+/, "");
  // Letters differ by their case, and longer names by how a program writes them: `--max_urls`, `--URL`.
  const name = typed.length === 1 ? typed : typed.toLowerCase().replaceAll("_", "-");
  const spellings = flags.flatMap(({ name, short, placeholder = "" }) =>
    [`--${name}`, `-${short}`].map((option) => `${option} ${placeholder}`.trim()),
  );
  const { every = {}, [command]: own = {} } = OTHER_OPTIONS;
  const shared = Object.entries(every).filter(([answer]) => spellings.includes(answer));
  const row = [...Object.entries(own), ...shared].find(([, line]) =>
    line.split(" ").some((one) => one === typed || one === name),
  );
  // `--markdown` is a value of `--output`; those of the log are words for output, too, which is what was meant.
  const valued = flags.find(({ group, choices }) => group !== "General" && choices?.includes(name));
  return row?.[0] ?? (valued ? `--${valued.name} ${name}` : null);
}
