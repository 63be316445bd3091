import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { readSettings, VARIABLES } from "../../../src/settings/index.ts";

describe("settings", () => {
  // These are the defaults that docs/reference.md promises.
  const DEFAULTS: Readonly<Record<string, unknown>> = {
    HOST: "0.0.0.0",
    PORT: 3000,
    WEB_CONCURRENCY: null, // 2 in the container image, where the image sets it
    ARTICLE_EXTRACTOR_CACHE_SIZE: 1000,
    ARTICLE_EXTRACTOR_CACHE_BYTES: 134_217_728,
    ARTICLE_EXTRACTOR_FAVOR: "balanced",
    ARTICLE_EXTRACTOR_ENGINE: "article-extractor",
    ARTICLE_EXTRACTOR_THREADPOOL_SIZE: 0,
    ARTICLE_EXTRACTOR_PREFER_BROWSER: null, // depends on whether there is a browser
    ARTICLE_EXTRACTOR_BROWSER_PATH: null, // the browser that is found
    ARTICLE_EXTRACTOR_BROWSER_SANDBOX: null, // off for root
    ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: null,
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR: null, // <storage state>.changes
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_ENTRIES: 20,
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_AGE_SECONDS: 60,
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_RETENTION_SECONDS: 300,
    ARTICLE_EXTRACTOR_LOG_LEVEL: null, // info for servers, critical for commands
    ARTICLE_EXTRACTOR_LOG_FORMAT: "json",
    ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: false,
    ARTICLE_EXTRACTOR_METRICS_ENABLED: false,
    ARTICLE_EXTRACTOR_METRICS_SINK: "log",
    ARTICLE_EXTRACTOR_METRICS_STATSD_HOST: "127.0.0.1",
    ARTICLE_EXTRACTOR_METRICS_STATSD_PORT: 8125,
    ARTICLE_EXTRACTOR_METRICS_NAMESPACE: "article_extractor",
    ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY: 5,
    ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: 1,
    ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES: 100,
    ARTICLE_EXTRACTOR_DATABASE_SCHEMA: "article_extractor",
    ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: 64,
    ARTICLE_EXTRACTOR_MAX_PER_CLIENT: 32,
    DOCS_SEARCH_MAX_PER_CLIENT: 100,
    ARTICLE_EXTRACTOR_ALLOW_CALLER_PROXY: false,
    ARTICLE_EXTRACTOR_MAX_QUEUED_JOBS: 100,
    ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: 2,
    ARTICLE_EXTRACTOR_EGRESS: "auto",
    ARTICLE_EXTRACTOR_USER_AGENT: null,
    ARTICLE_EXTRACTOR_PROXY: null,
    ARTICLE_EXTRACTOR_PROXY_BYPASS: null,
    ARTICLE_EXTRACTOR_TIMEOUT: 30,
    ARTICLE_EXTRACTOR_RETRIES: 3,
    ARTICLE_EXTRACTOR_MAX_BYTES: 20 * 1024 * 1024,
  };

  /** A value of each variable that is not its default, as written and as read. */
  const OTHERS: Readonly<Record<string, readonly [written: string, value: unknown]>> = {
    HOST: ["127.0.0.1", "127.0.0.1"],
    ARTICLE_EXTRACTOR_BASE_PATH: ["/docs", "/docs"],
    ARTICLE_EXTRACTOR_TRUSTED_PROXIES: ["10.0.0.0/8", "10.0.0.0/8"],
    ARTICLE_EXTRACTOR_ALLOWED_HOSTS: ["reader.example", "reader.example"],
    ARTICLE_EXTRACTOR_CORS_ORIGINS: ["https://app.example", "https://app.example"],
    ARTICLE_EXTRACTOR_API_KEY: ["key", "key"],
    ARTICLE_EXTRACTOR_API_KEY_FILE: ["key.txt", "key.txt"],
    ARTICLE_EXTRACTOR_OUTPUT_ROOT: ["out", "out"],
    ARTICLE_EXTRACTOR_STATE_DIR: ["state", "state"],
    ARTICLE_EXTRACTOR_ROLE: ["worker", "worker"],
    ARTICLE_EXTRACTOR_DATABASE_URL: ["postgres://a@db/pages", "postgres://a@db/pages"],
    ARTICLE_EXTRACTOR_DATABASE_SCHEMA: ["crawls", "crawls"],
    ARTICLE_EXTRACTOR_STORE_URL: ["s3://books/docs", "s3://books/docs"],
    ARTICLE_EXTRACTOR_S3_ENDPOINT: ["https://minio:9000", "https://minio:9000"],
    ARTICLE_EXTRACTOR_S3_REGION: ["eu-north-1", "eu-north-1"],
    ARTICLE_EXTRACTOR_S3_ADDRESSING: ["virtual", "virtual"],
    ARTICLE_EXTRACTOR_S3_ENCRYPTION: ["aws:kms:key:1", { kind: "aws:kms", key: "key:1" }],
    ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: ["1", 1],
    ARTICLE_EXTRACTOR_MAX_PER_CLIENT: ["1", 1],
    DOCS_SEARCH_MAX_PER_CLIENT: ["1", 1],
    ARTICLE_EXTRACTOR_ALLOW_CALLER_PROXY: ["true", true],
    ARTICLE_EXTRACTOR_MAX_QUEUED_JOBS: ["1", 1],
    ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: ["1", 1],
    DEPLOYMENT_CONFIG: ["d.json", "d.json"],
    DOCS_SEARCH_STATE_DIR: ["state", "state"],
    DOCS_SEARCH_GIT_PROTOCOLS: ["https,http", "https,http"],
    DOCS_SEARCH_GIT_KNOWN_HOSTS: ["/etc/hosts-of-git", "/etc/hosts-of-git"],
    DOCS_SEARCH_ALLOWED_HOSTS: ["docs.example", "docs.example"],
    DOCS_SEARCH_CORS_ORIGINS: ["https://docs.example", "https://docs.example"],
    DOCS_SEARCH_API_KEY: ["key", "key"],
    DOCS_SEARCH_API_KEY_FILE: ["key.txt", "key.txt"],
    OTEL_SDK_DISABLED: ["true", "true"],
    OTEL_EXPORTER_OTLP_ENDPOINT: ["http://127.0.0.1:4318", "http://127.0.0.1:4318"],
    OTEL_EXPORTER_OTLP_HEADERS: ["a=b", "a=b"],
    OTEL_EXPORTER_OTLP_PROTOCOL: ["grpc", "grpc"], // a warning where traces are sent, for it may be meant for others
    OTEL_SERVICE_NAME: ["reader", "reader"],
    OTEL_RESOURCE_ATTRIBUTES: ["a=b", "a=b"],
    OTEL_TRACES_SAMPLER: ["always_off", "always_off"],
    OTEL_TRACES_SAMPLER_ARG: ["0.5", "0.5"],
    PORT: ["8080", 8080],
    WEB_CONCURRENCY: ["4", 4],
    ARTICLE_EXTRACTOR_CACHE_SIZE: ["0", 0],
    ARTICLE_EXTRACTOR_CACHE_BYTES: ["64M", 67_108_864],
    ARTICLE_EXTRACTOR_FAVOR: ["recall", "recall"],
    ARTICLE_EXTRACTOR_ENGINE: ["readability", "readability"],
    ARTICLE_EXTRACTOR_THREADPOOL_SIZE: ["3", 3],
    ARTICLE_EXTRACTOR_PREFER_BROWSER: ["false", false],
    ARTICLE_EXTRACTOR_BROWSER_PATH: ["/usr/bin/chromium", "/usr/bin/chromium"],
    ARTICLE_EXTRACTOR_BROWSER_SANDBOX: ["false", false],
    ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: ["state.json", "state.json"],
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR: ["queue", "queue"],
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_ENTRIES: ["5", 5],
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_AGE_SECONDS: ["1.5", 1.5],
    ARTICLE_EXTRACTOR_STORAGE_QUEUE_RETENTION_SECONDS: ["0", 0],
    ARTICLE_EXTRACTOR_LOG_LEVEL: ["WARNING", "warning"],
    ARTICLE_EXTRACTOR_LOG_FORMAT: ["text", "text"],
    ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: ["1", true],
    ARTICLE_EXTRACTOR_METRICS_ENABLED: ["yes", true],
    ARTICLE_EXTRACTOR_METRICS_SINK: ["statsd", "statsd"],
    ARTICLE_EXTRACTOR_METRICS_STATSD_HOST: ["stats", "stats"],
    ARTICLE_EXTRACTOR_METRICS_STATSD_PORT: ["1", 1],
    ARTICLE_EXTRACTOR_METRICS_NAMESPACE: ["ns", "ns"],
    ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY: ["256", 256],
    ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: ["0", 0],
    ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES: ["1", 1],
    ARTICLE_EXTRACTOR_EGRESS: ["public", "public"],
    ARTICLE_EXTRACTOR_USER_AGENT: ["Reader/1", "Reader/1"],
    ARTICLE_EXTRACTOR_PROXY: ["http://proxy:1", "http://proxy:1"],
    ARTICLE_EXTRACTOR_PROXY_BYPASS: [".corp", ".corp"],
    ARTICLE_EXTRACTOR_TIMEOUT: ["0.5", 0.5],
    ARTICLE_EXTRACTOR_RETRIES: ["0", 0],
    ARTICLE_EXTRACTOR_MAX_BYTES: ["1k", 1024],
  };

  const keyOf = new Map(Object.entries(VARIABLES).map(([key, { variable }]) => [variable, key]));

  test("have the documented variables and defaults", () => {
    const settings = new Map(Object.entries(readSettings({})));
    for (const [variable, value] of Object.entries(DEFAULTS)) {
      expect<unknown>([variable, settings.get(keyOf.get(variable) ?? "")]).toEqual([variable, value]);
    }
  });

  for (const { variable } of Object.values(VARIABLES)) {
    test(`${variable} changes its own setting and no other`, () => {
      const row = OTHERS[variable];
      if (!row) throw new Error(`${variable} has no row in OTHERS`);
      const key = keyOf.get(variable) ?? "";
      expect(readSettings({ [variable]: row[0] })).toEqual({ ...readSettings({}), [key]: row[1] });
    });

    test(`${variable} set to nothing counts as unset`, () => {
      expect(readSettings({ [variable]: " " })).toEqual(readSettings({}));
    });
  }

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
