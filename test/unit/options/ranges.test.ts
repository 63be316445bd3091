import { describe, expect, test } from "bun:test";
import { RANGES } from "../../../src/options/index.ts";
import { requestSchemas } from "../../../src/server/api/extractor/schemas/requests.ts";
import { DEFAULT_EXTRACTION, readSettings } from "../../../src/settings/index.ts";
import { runCommand } from "../../support/command.ts";

type Door = { readonly flag: string; readonly variable?: string; readonly field?: readonly string[] };

/** The names of each option at the doors that take it. */
const DOORS: Readonly<Record<keyof typeof RANGES, Door>> = {
  minWordCount: { flag: "min-words", field: ["options", "min_word_count"] },
  timeoutSeconds: { flag: "timeout", variable: "ARTICLE_EXTRACTOR_TIMEOUT" },
  retries: { flag: "retries", variable: "ARTICLE_EXTRACTOR_RETRIES" },
  interactionSeconds: { flag: "user-interaction-timeout", field: ["network", "user_interaction_timeout"] },
  maxPages: { flag: "max-pages", variable: "ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES", field: ["max_pages"] },
  maxDepth: { flag: "max-depth", field: ["max_depth"] },
  concurrency: {
    flag: "concurrency",
    variable: "ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY",
    field: ["concurrency"],
  },
  rateLimitSeconds: {
    flag: "rate-limit",
    variable: "ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT",
    field: ["rate_limit_delay"],
  },
};

const { CrawlRequest } = requestSchemas({
  extraction: DEFAULT_EXTRACTION,
  maxPages: 1,
  maxDepth: 1,
  concurrency: 1,
  hostDelayMs: 0,
});

describe.each(Object.entries(DOORS))("the range of %s", (name, { flag, variable, field }) => {
  const { min, max } = RANGES[name as keyof typeof RANGES]; // a key of the table
  const said = `from ${min} to ${max}`;
  const beyond = [min - 1, max + 1];

  test("holds on the command line", async () => {
    for (const value of beyond) {
      const words = ["crawl", "http://h.test/", "--headed", "--output-dir", "out", `--${flag}=${value}`];
      const { exitCode, stderr } = await runCommand(words);
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(said) });
      expect(stderr).toStartWith(`error: --${flag} must be `);
    }
  });

  const inEnvironment = (variableName: string) => (): void => {
    for (const value of beyond) expect(() => readSettings({ [variableName]: String(value) })).toThrow(said);
    for (const value of [min, max]) readSettings({ [variableName]: String(value) });
  };
  if (variable !== undefined) test("holds in the environment", inEnvironment(variable));

  const overHttp = (path: readonly string[]) => (): void => {
    const request = (value: number): object =>
      path.reduceRight<object | number>((inner, key) => ({ [key]: inner }), value) as object; // of a key
    const isTaken = (value: number): boolean =>
      CrawlRequest.safeParse({ seeds: ["http://h.test/"], ...request(value) }).success;
    expect([...beyond, min, max].map(isTaken)).toEqual([false, false, true, true]);
  };
  if (field !== undefined) test("holds over HTTP", overHttp(field));
});
