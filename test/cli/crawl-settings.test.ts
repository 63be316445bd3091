import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { crawlOnce } from "../support/crawl-run.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const site = forAllTests(serveNumberedSite({ pages: 6 }));

const start = (): string => `${site.origin}/`;

describe("each setting of the crawler has its effect:", () => {
  const withSetting = (name: string, value: string, words: readonly string[] = []) =>
    crawlOnce([start(), ...words], { env: { [`ARTICLE_EXTRACTOR_CRAWLER_${name}`]: value } });

  test("MAX_PAGES, which --max-pages goes before", async () => {
    expect((await withSetting("MAX_PAGES", "2")).manifest?.successful).toBe(2);
    expect((await withSetting("MAX_PAGES", "2", ["--max-pages", "3"])).manifest?.successful).toBe(3);
  });

  test("CONCURRENCY, which --concurrency goes before", async () => {
    const config = async (...words: string[]) =>
      (await withSetting("CONCURRENCY", "7", words)).manifest?.config;
    expect(await config()).toMatchObject({ concurrency: 7 });
    expect(await config("--concurrency", "3")).toMatchObject({ concurrency: 3 });
  });

  test("RATE_LIMIT, which --rate-limit goes before", async () => {
    using directory = temporaryDirectory();
    const run = await runBinary(["crawl", `${site.origin}/p/1`, "--output-dir", "out"], {
      cwd: directory.path,
      env: { ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0.25" },
    });
    expect(run.exitCode).toBe(0);
    expect((await Bun.file(join(directory.path, "out/manifest.json")).json()).config.rate_limit_delay).toBe(
      0.25,
    );
    expect((await withSetting("RATE_LIMIT", "3600")).manifest?.config.rate_limit_delay).toBe(0);
  });
});
