import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { readOption } from "../../../src/cli/option-values.ts";
import { checkOptions } from "../../../src/library/arguments.ts";
import { CHUNKS_ELSEWHERE } from "../../../src/options/chunks.ts";
import { CRAWL_ELSEWHERE } from "../../../src/options/crawl.ts";
import { EXTRACTION_ELSEWHERE } from "../../../src/options/extraction.ts";
import {
  CHUNKS,
  CRAWL,
  defaultsOf,
  EXTRACTION,
  FETCHING,
  flagName,
  type Kind,
  NETWORK,
  type Option,
  type OptionTable,
  problemOf,
  QUESTION,
  toInside,
  unmarked,
  valuesFrom,
  writeValue,
} from "../../../src/options/index.ts";
import { NETWORK_ELSEWHERE } from "../../../src/options/network.ts";
import type { Door, Elsewhere } from "../../../src/options/option.ts";
import { QUESTION_ELSEWHERE } from "../../../src/options/question.ts";
import { requestSchemas } from "../../../src/server/api/extractor/schemas/requests.ts";
import { parseWith } from "../../../src/server/api/openapi.ts";
import { ProblemError } from "../../../src/server/middleware/problem.ts";
import { DEFAULT_EXTRACTION, readSettings, type Settings } from "../../../src/settings/index.ts";

const DOORS: readonly Door[] = ["flag", "variable", "field", "library", "argument", "label"];
const TABLES = { EXTRACTION, NETWORK, FETCHING, CRAWL, QUESTION, CHUNKS } as const;

/** Where the fields of a table stand in a request, and the function of the library that takes its options. */
const PLACES: Readonly<
  Record<
    keyof typeof TABLES,
    { in: string | null; of: Parameters<typeof checkOptions>[0]; elsewhere: Elsewhere }
  >
> = {
  EXTRACTION: { in: "options", of: "extractArticleFromUrl", elsewhere: EXTRACTION_ELSEWHERE },
  NETWORK: { in: "network", of: "extractArticleFromUrl's network", elsewhere: NETWORK_ELSEWHERE },
  FETCHING: { in: null, of: "extractArticleFromUrl's network", elsewhere: NETWORK_ELSEWHERE },
  CRAWL: { in: null, of: "extractArticle", elsewhere: CRAWL_ELSEWHERE },
  CHUNKS: { in: null, of: "extractArticle", elsewhere: CHUNKS_ELSEWHERE },
  QUESTION: { in: null, of: "extractArticle", elsewhere: QUESTION_ELSEWHERE },
};

const { CrawlRequest, ExtractionRequest } = requestSchemas({
  extraction: DEFAULT_EXTRACTION,
  ...defaultsOf(CRAWL),
});

/** Values of a kind as JSON has them: the extremes that are right, and what lies just beyond. */
function valuesOf(kind: Kind): { readonly right: readonly unknown[]; readonly wrong: readonly unknown[] } {
  const { type } = kind;
  if (type === "switch") return { right: [true, false], wrong: ["perhaps"] };
  if (type === "choice") return { right: kind.words, wrong: ["other"] };
  if (type === "headers") return { right: [], wrong: [] };
  if (type === "bytes") return { right: [1, kind.max], wrong: [0, kind.max + 1, "much"] };
  if (type === "texts") {
    const entry = "x".repeat(kind.maxCharacters);
    return { right: [[entry]], wrong: [[`${entry}x`], Array(kind.maxCount + 1).fill("x")] };
  }
  if (type === "text" || type === "header_text") {
    const longest = "x".repeat(kind.maxCharacters);
    return { right: ["x", longest], wrong: ["", `${longest}x`] };
  }
  return { right: [kind.min, kind.max], wrong: [kind.min - 1, kind.max + 1, "many"] };
}

/** What `read` gives, or the refusal's own words, without the name before them. */
function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProblemError) return error.extras.errors?.[0]?.message;
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const written = (kind: Kind, value: unknown): readonly string[] =>
  Array.isArray(value)
    ? value
    : [
        kind.type === "bytes" || typeof value === "string"
          ? String(value)
          : writeValue(kind, toInside(kind, value)),
      ];

/** Options of one page stand in no command or request for crawls. */
const isOfPage = (option: Option): boolean =>
  [QUESTION, CHUNKS].some((table) => Object.values<Option>(table).includes(option));

function typed(option: Option, value: unknown): unknown {
  const name = flagName(option);
  const isSwitch = option.kind.type === "switch";
  const words = isSwitch ? [`--${name}`] : written(option.kind, value).map((text) => `--${name}=${text}`);
  return readOption(parseArguments([isOfPage(option) ? "extract" : "crawl", "--headed", ...words]), option);
}

const inEnvironment = (key: string, { variable = "", kind }: Option, value: unknown): unknown =>
  readSettings({ [variable]: written(kind, value)[0] })[key as keyof Settings];

function requested(table: keyof typeof TABLES, [key, option]: readonly [string, Option], value: unknown) {
  const field = { [unmarked(option.field ?? "").name]: value };
  const place = PLACES[table].in;
  const given: object = isOfPage(option)
    ? parseWith(ExtractionRequest, { url: "https://h.example/", ...field }, "request")
    : parseWith(CrawlRequest, place === null ? field : { [place]: field }, "request");
  const own: object = place === null ? given : Reflect.get(given, place);
  return Reflect.get(valuesFrom({ [key]: option }, "field", own, {}), key);
}

/** The library has milliseconds. */
const ownUnit = (kind: Kind, value: unknown): unknown =>
  kind.type === "seconds" && typeof value === "number" ? value * 1000 : value;

function inProgram(table: keyof typeof TABLES, option: Option, value: unknown): unknown {
  const { library = "", kind } = option;
  const own = ownUnit(kind, value);
  checkOptions(PLACES[table].of, { ...(option === QUESTION.maxTokens && { query: "x" }), [library]: own });
  return own;
}

for (const [name, table] of Object.entries(TABLES) as [keyof typeof TABLES, OptionTable][])
  describe.each(Object.entries(table))(`${name}.%s`, (key, option) => {
    const { kind } = option;
    const { right, wrong } = valuesOf(kind);

    test("is at each door, or says why not", () => {
      const unexplained = DOORS.filter((door) => option[door] === undefined && !PLACES[name].elsewhere[door]);
      expect(unexplained).toEqual([]);
    });

    test("is refused at every door with the same words", () => {
      for (const value of wrong) {
        const words = `must ${problemOf(kind, Array.isArray(value) && value.length === 1 ? value[0] : value)}`;
        if (option.flag && kind.type !== "switch") {
          const single = kind.type === "texts" && (value as unknown[]).length === 1;
          const expected = single ? `must have at most ${kind.maxCharacters} characters` : words;
          expect(outcome(() => typed(option, value))).toStartWith(`--${flagName(option)} ${expected}`);
        }
        if (option.variable && value !== "")
          expect(outcome(() => inEnvironment(key, option, value))).toStartWith(`${option.variable} ${words}`);
        if (option.field)
          expect(outcome(() => requested(name, [key, option], value))).toContain(
            kind.type === "texts" && (value as unknown[]).length === 1
              ? `must have at most ${kind.maxCharacters} characters`
              : words,
          );
        if (option.library)
          expect(outcome(() => inProgram(name, option, value))).toStartWith(
            `${PLACES[name].of}: ${option.library} must ${problemOf(kind, ownUnit(kind, value), "ms")}`,
          );
      }
    });

    test("means the same at every door", () => {
      for (const value of right) {
        const inside = toInside(kind, value);
        if (option.flag && kind.type !== "switch") expect(typed(option, value)).toEqual(inside);
        if (option.flag && kind.type === "switch")
          expect(typed(option, true)).toBe(!unmarked(option.flag).isContrary);
        if (option.variable) expect(inEnvironment(key, option, value)).toEqual(inside as never);
        if (option.field)
          expect(requested(name, [key, option], value)).toEqual(
            unmarked(option.field).isContrary ? !value : inside,
          );
        if (option.library) expect(inProgram(name, option, value)).toEqual(inside);
      }
    });
  });
