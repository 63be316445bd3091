import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { readSettings, type Settings, VARIABLES } from "../../../src/settings/index.ts";

describe("settings", () => {
  // Defaults that docs/reference.md promises; test/contract/specification shows the others.
  const DEFAULTS = {
    cacheBytes: 134_217_728,
    favor: "balanced",
    engine: "article-extractor",
    databaseSchema: "article_extractor",
    maxConcurrentRequests: 64,
    maxPerClient: 32,
    searchMaxPerClient: 100,
    allowCallerProxy: false,
    maxQueuedJobs: 100,
    maxRunningJobs: 2,
    egress: "auto",
    timeoutSeconds: 30,
    retries: 3,
    maxBytes: 20 * 1024 * 1024,
    // The machine decides, the shell, or nobody.
    preferBrowser: null,
    browserSandbox: null,
    logLevel: null,
    userAgent: null,
  } satisfies Partial<Settings>;

  test("have the documented defaults", () => {
    expect(readSettings({})).toMatchObject(DEFAULTS);
  });

  /** Whatever is read, one of these is a value of it and not its default. */
  const WORDS = "7 true recall readability text warning statsd worker path AES256".split(" ");

  test.each(Object.entries(VARIABLES))(
    "of %s changes nothing else, and set to nothing is unset",
    (key, one) => {
      const { variable, fallback } = one;
      const read = WORDS.flatMap((word) => {
        const parsed = one.parse(word);
        return "value" in parsed && parsed.value !== fallback ? [[word, parsed.value] as const] : [];
      });
      const [word, value] = read[0] ?? [];
      expect(readSettings({ [variable]: word })).toEqual({ ...readSettings({}), [key]: value } as Settings);
      expect(value).toBeDefined();
      expect(readSettings({ [variable]: " " })).toEqual(readSettings({}));
    },
  );

  test("that are wrong are all reported, one line each", () => {
    const wrong = { PORT: "99999", HOST: "ok", ARTICLE_EXTRACTOR_RETRIES: "many" };
    expect(() => readSettings(wrong)).toThrow(
      new Failure(
        "invalid_settings",
        'PORT must be a whole number from 1 to 65535, not "99999"\n' +
          'ARTICLE_EXTRACTOR_RETRIES must be a whole number from 0 to 20, not "many"',
      ),
    );
  });

  test("that only a module can check are reported in the same list", () => {
    const checks = {
      proxy: () => {
        throw new Failure("invalid_usage", "no proxy");
      },
    };
    const wrong = { PORT: "0", ARTICLE_EXTRACTOR_PROXY: "secret" };
    expect(() => readSettings(wrong, checks)).toThrow(
      'PORT must be a whole number from 1 to 65535, not "0"\nARTICLE_EXTRACTOR_PROXY: no proxy',
    );
    expect(readSettings({}, checks)).toEqual(readSettings({}));
  });

  test("a bug in a check is not reported as a wrong value", () => {
    const checks = {
      proxy: () => {
        throw new TypeError("a bug");
      },
    };
    expect(() => readSettings({ ARTICLE_EXTRACTOR_PROXY: "x" }, checks)).toThrow(TypeError);
  });
});
