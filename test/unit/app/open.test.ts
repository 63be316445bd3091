import { describe, expect, test } from "bun:test";
import { type Overrides, readProgram } from "../../../src/app/index.ts";
import { LOG_LEVELS, type LogLevel } from "../../../src/base/log.ts";
import { WORKER_URL } from "../../support/workers.ts";

const NOTHING_TYPED: Overrides = { logLevel: null, logFormat: null, isVerbose: false, egress: null };

/** What the log of a program writes, opened with these variables and words. */
function levelsWritten(
  usual: LogLevel,
  environment: Readonly<Record<string, string>>,
  typed: Partial<Overrides> = {},
): string[] {
  const lines: string[] = [];
  const host = {
    environment: {},
    executablePath: "/nowhere/article-extractor",
    workerUrl: WORKER_URL,
    indexWorkerUrl: WORKER_URL,
    useTemporaryDirectory: () => {},
    stderr: { write: (line: string) => void lines.push(line) },
  };
  const log = readProgram(host, environment, { ...NOTHING_TYPED, ...typed }).openLog(usual);
  for (const level of LOG_LEVELS) log[level]("said");
  return lines.map((line) => (JSON.parse(line) as { readonly level: string }).level);
}

describe("the level of the log", () => {
  const from = (level: LogLevel): readonly string[] => LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));
  const configured = { ARTICLE_EXTRACTOR_LOG_LEVEL: "error" };

  test.each(LOG_LEVELS)("is the command's own, %s, where nothing names one", (usual) => {
    expect(levelsWritten(usual, {})).toEqual([...from(usual)]);
  });

  test.each(LOG_LEVELS)("is the environment's, whatever is usual: %s", (usual) => {
    expect(levelsWritten(usual, configured)).toEqual([...from("error")]);
  });

  test.each([
    ["critical", {}, "info"],
    ["info", {}, "debug"],
    ["info", configured, "info"],
    ["critical", { ARTICLE_EXTRACTOR_LOG_LEVEL: "info" }, "debug"],
    ["critical", { ARTICLE_EXTRACTOR_LOG_LEVEL: "debug" }, "debug"],
  ] as const)("with --verbose, usually %s and with %j, is %s", (usual, environment, expected) => {
    expect(levelsWritten(usual, environment, { isVerbose: true })).toEqual([...from(expected)]);
  });

  test.each(LOG_LEVELS)("is that of --log-level, %s, before all else", (logLevel) => {
    expect(levelsWritten("info", configured, { logLevel, isVerbose: true })).toEqual([...from(logLevel)]);
  });
});
