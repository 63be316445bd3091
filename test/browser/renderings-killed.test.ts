import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { crawlDirectory } from "../support/crawl-run.ts";
import { type Scripted, serveLearnedSite } from "../support/learned-site.ts";
import { untilTrue } from "../support/until.ts";

setDefaultTimeout(300_000);

const PAGES = 45;
/** Nobody has said whether to render. */
const env = { ARTICLE_EXTRACTOR_PREFER_BROWSER: "" };

test("a crawl that learns what to render goes on after kill -9: no page is lost, none stored twice, no word missing", async () => {
  const scripted = new Map<number, Scripted>([
    [3, "container"],
    [20, "other_script"],
    [PAGES, "inline_text"],
  ]);
  await using site = serveLearnedSite({ pages: PAGES, scripted });
  await using directory = await crawlDirectory();
  const words = [`${site.origin}/`, "--rate-limit", "0", "--concurrency", "3"];
  const stored = (): number =>
    existsSync(directory.output)
      ? readdirSync(directory.output).filter((name) => name.endsWith(".md")).length
      : 0;
  for (const enough of [4, 18, 30]) {
    const child = Bun.spawn([BINARY, "crawl", ...words, "--output-dir", directory.output], {
      env: cleanEnvironment(env),
      stdio: ["ignore", "ignore", "ignore"],
    });
    await untilTrue(() => stored() >= enough);
    child.kill("SIGKILL");
    await child.exited;
  }
  const run = await directory.crawl(words, { env });
  expect([run.exitCode, run.files.length]).toEqual([0, PAGES + 1]);
  expect(run.manifest).toMatchObject({
    total_pages: PAGES + 1,
    successful: PAGES + 1,
    failed: 0,
    skipped: 0,
  });
  expect(new Set(run.manifest?.results.map(({ fetcher }) => fetcher))).toEqual(new Set(["browser", "http"]));
  for (const { url, file_path: file } of run.manifest?.results ?? [])
    for (const word of site.wordsOf(Number(new URL(url).pathname.slice(2) || 0)))
      expect([url, await run.read(file ?? "")]).toEqual([url, expect.stringContaining(word)]);
});
