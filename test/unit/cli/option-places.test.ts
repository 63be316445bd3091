import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { COMMANDS, type Command, CRAWL_COMMAND, EXTRACT_COMMAND } from "../../../src/cli/commands.ts";

type Flag = Command["flags"][number];

/** An option as it may be typed: its words, and the value that they give it. */
type TypedOption = { readonly flag: Flag; readonly value: string; readonly words: readonly string[] };

/** What must be read, whatever the order of the words. */
type Reading = {
  readonly positionals: readonly string[];
  readonly values: Record<string, readonly string[]>;
};

const read = (words: readonly string[], command: Command): Reading => {
  const typed = parseArguments(words);
  expect([words, typed.command.name]).toEqual([words, command.name]);
  const values: Record<string, readonly string[]> = {};
  for (const { name } of command.flags) {
    values[name] = typed.many(name);
    expect([words, name, typed.has(name)]).toEqual([words, name, typed.many(name).length > 0]);
    expect([words, name, typed.one(name)]).toEqual([words, name, typed.many(name).at(-1) ?? null]);
  }
  return { positionals: typed.positionals, values };
};

const expected = (
  options: readonly TypedOption[],
  positionals: readonly string[],
  { flags }: Command,
): Reading => {
  const values = Object.fromEntries(flags.map(({ name }) => [name, [] as string[]]));
  for (const { flag, value } of options) {
    // A switch is on or off, however often it stands there.
    if (flag.placeholder === undefined) values[flag.name] = ["true"];
    else values[flag.name]?.push(value);
    const contrary = flag.name.startsWith("no-") ? flag.name.slice(3) : `no-${flag.name}`;
    if (values[contrary]) values[contrary] = [];
  }
  return { positionals, values };
};

const looksLikeOption = (word: string): boolean => /^--|^-[a-z]/i.test(word);

/** Words that have misled readers of options before, and any others. */
const anyWord = fc.oneof(
  { arbitrary: fc.string({ unit: "binary", maxLength: 12 }), weight: 3 },
  fc.constantFrom("", "-", "007", "1e3", "true", "false", "null", "__proto__", "a=b", "=", "-5", " x ", "@0"),
  fc.constantFrom(...COMMANDS.map(({ name }) => name), "https://h.example/a?b=--c"),
);

/** "-output" is not "-o" with "utput", but the option "output" with a dash too few. */
const isAttachable = (value: string): boolean =>
  /^[^=]/.test(value) && !ALL_NAMES.some((name) => name.slice(1) === value.split("=")[0]);
const ALL_NAMES = COMMANDS.flatMap(({ flags }) => flags.map(({ name }) => name));

const spellings = (flag: Flag, value: string): readonly (readonly string[])[] => {
  const { name, short } = flag;
  if (flag.placeholder === undefined) return [[`--${name}`], ...(short ? [[`-${short}`]] : [])];
  const apart = looksLikeOption(value) ? [] : [`--${name}`, ...(short ? [`-${short}`] : [])];
  const attached = short
    ? [[`-${short}=${value}`], ...(isAttachable(value) ? [[`-${short}${value}`]] : [])]
    : [];
  return [[`--${name}=${value}`], ...attached, ...apart.map((spelling) => [spelling, value])];
};

const typedOption = (flag: Flag): fc.Arbitrary<TypedOption> =>
  (flag.placeholder === undefined ? fc.constant("true") : anyWord).chain((value) =>
    fc.constantFrom(...spellings(flag, value)).map((words) => ({ flag, value, words })),
  );

/** Two sequences in one, each in its own order. */
const interleaved = <T>(one: readonly T[], other: readonly T[], picks: readonly boolean[]): T[] => {
  const rest: [T[], T[]] = [[...one], [...other]];
  const mixed = picks.flatMap((isFirst) => rest[isFirst ? 0 : 1].splice(0, 1));
  return [...mixed, ...rest[0], ...rest[1]];
};

const positional = anyWord.filter(
  (word) => word === "-" || (!word.startsWith("-") && !COMMANDS.some(({ name }) => name === word)),
);

describe("an option means the same wherever it stands:", () => {
  for (const command of COMMANDS) {
    const places = fc.record({
      options: fc.array(
        fc.constantFrom(...command.flags).chain((flag) => typedOption(flag)),
        { maxLength: 6 },
      ),
      positionals: fc.array(positional, { maxLength: 3 }),
      afterTerminator: fc.option(fc.array(anyWord, { maxLength: 3 }), { nil: null }),
      picks: fc.array(fc.boolean(), { maxLength: 12 }),
    });

    test(`${command.name}: any options, in any spelling, among any arguments`, () => {
      fc.assert(
        fc.property(places, ({ options, positionals, afterTerminator, picks }) => {
          const arguments_ = [command.name, ...positionals].map((word) => [word]);
          const mixed = interleaved<readonly string[]>(
            options.map(({ words }) => words),
            arguments_,
            picks,
          ).flat();
          const end = afterTerminator === null ? [] : ["--", ...afterTerminator];
          const all = [...positionals, ...(afterTerminator ?? [])];
          expect(read([...mixed, ...end], command)).toEqual(expected(options, all, command));
        }),
      );
    });

    test(`${command.name}: each option before, between and after the arguments, once and twice`, () => {
      const arguments_ = [command.name, "https://h.example/a", "https://h.example/b"];
      for (const flag of command.flags) {
        const value = flag.placeholder === undefined ? "true" : "007";
        for (const words of spellings(flag, value)) {
          for (let at = 0; at <= arguments_.length; at++) {
            const once = [...arguments_.slice(0, at), ...words, ...arguments_.slice(at)];
            const one = { flag, value, words };
            expect(read(once, command)).toEqual(expected([one], arguments_.slice(1), command));
            for (let again = at; again <= arguments_.length; again++) {
              const twice = [
                ...arguments_.slice(0, at),
                ...words,
                ...arguments_.slice(at, again),
                ...words,
                ...arguments_.slice(again),
              ];
              expect(read(twice, command)).toEqual(expected([one, one], arguments_.slice(1), command));
            }
          }
        }
      }
    });

    test(`${command.name}: letters of switches in a bundle, with a value at its end`, () => {
      const switches = command.flags.filter(({ short, placeholder }) => short && placeholder === undefined);
      const lettered = command.flags.filter(({ short, placeholder }) => short && placeholder !== undefined);
      const bundles = fc.tuple(
        fc.array(fc.constantFrom(...switches), { minLength: 1, maxLength: 4 }),
        lettered.length > 0
          ? fc.option(fc.tuple(fc.constantFrom(...lettered), anyWord), { nil: null })
          : fc.constant(null),
        fc.boolean(),
        fc.boolean(),
      );
      fc.assert(
        fc.property(bundles, ([flags, valued, isApart, isBefore]) => {
          const letters = flags.map(({ short }) => short).join("");
          const value = valued?.[1] ?? "";
          const isSeparate = isApart && !looksLikeOption(value);
          const tail = valued === null ? "" : `${valued[0].short}${isSeparate ? "" : `=${value}`}`;
          const bundle = [`-${letters}${tail}`, ...(valued !== null && isSeparate ? [value] : [])];
          const options = flags.map((flag) => ({ flag, value: "true", words: [] }));
          const all = valued === null ? options : [...options, { flag: valued[0], value, words: [] }];
          const url = "https://h.example/";
          const words = isBefore ? [...bundle, command.name, url] : [command.name, url, ...bundle];
          expect(read(words, command)).toEqual(expected(all, [url], command));
        }),
      );
    });
  }

  test("crawl: of a switch and its contrary the last one counts, however often both are typed", () => {
    const flags = CRAWL_COMMAND.flags.filter(({ name }) => /^(?:no-)?follow-links$/.test(name));
    expect(flags).toHaveLength(2);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...flags), { minLength: 1, maxLength: 6 }), (typed) => {
        const words = typed.map(({ name }) => `--${name}`);
        const options = typed.map((flag) => ({ flag, value: "true", words: [] }));
        expect(read(["crawl", ...words], CRAWL_COMMAND)).toEqual(expected(options, [], CRAWL_COMMAND));
      }),
    );
  });

  test("extract: the same where the command is left out", () => {
    const urls = fc.array(fc.webUrl(), { minLength: 1, maxLength: 3 });
    const options = fc.array(
      fc.constantFrom(...EXTRACT_COMMAND.flags).chain((flag) => typedOption(flag)),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(urls, options, fc.array(fc.boolean(), { maxLength: 9 }), (given, typed, picks) => {
        const words = interleaved<readonly string[]>(
          typed.map((one) => one.words),
          given.map((url) => [url]),
          picks,
        ).flat();
        expect(read(words, EXTRACT_COMMAND)).toEqual(expected(typed, given, EXTRACT_COMMAND));
      }),
    );
  });
});

test("an option is spelled alike in all commands that take it, and takes a value in all or none", () => {
  const forms = new Map<string, string>();
  for (const { name, flags } of COMMANDS) {
    for (const flag of flags) {
      const takes = flag.placeholder === undefined ? "no value" : "a value";
      for (const key of [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])]) {
        const form = `--${flag.name} -${flag.short ?? ""} ${takes}`;
        expect([name, key, forms.get(key) ?? form]).toEqual([name, key, form]);
        forms.set(key, form);
      }
    }
  }
});
