import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { entriesOf } from "../../../src/cli/commands/serve/settings.ts";
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
    idleSeconds: 75,
    searchMaxPerClient: 100,
    allowCallerProxy: false,
    maxQueuedJobs: 100,
    maxRunningJobs: 2,
    egress: "auto",
    certificateFile: null,
    certificateDirectory: null,
    trustsSystem: true,
    requestTimeoutMs: 30_000,
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
  const WORDS = "7 true false recall readability text warning statsd worker path AES256".split(" ");

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

  test.each([
    ["a size", "cacheBytes", "64M", 67_108_864],
    ["a size with a fraction", "maxBytes", "1.5k", 1536],
    ["a duration", "requestTimeoutMs", "2.5", 2500],
    ["a whole number", "port", " 8080 ", 8080],
    ["a yes", "metricsEnabled", "ON", true],
    ["a no", "browserSandbox", "no", false],
    ["a word", "logLevel", "Warning", "warning"],
    ["a text", "proxyBypass", " h.test, .x.test ", "h.test, .x.test"],
    ["an encryption", "s3Encryption", "aws:kms:key", { kind: "aws:kms", key: "key" }],
  ] as const)("that are %s: %s set to %j is %j", (_, key, written, value) => {
    expect(readSettings({ [VARIABLES[key].variable]: written })[key]).toEqual(value);
  });

  test("that are lists have their entries between commas and spaces", () => {
    const { allowedHosts } = readSettings({ ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "a.test, b.test  c.test," });
    expect(entriesOf(allowedHosts)).toEqual(["a.test", "b.test", "c.test"]);
    expect(entriesOf(readSettings({}).allowedHosts)).toBeNull();
  });

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
