import { describe, expect, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand, wordsOf } from "../../support/command.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

// Nothing here is fetched: port 1 answers nobody.
const URL = "http://127.0.0.1:1/";

const WRONG: Readonly<Record<string, string>> = {
  "": "crawl needs at least one URL to start from, or a --sitemap",
  "--output-dir out": "crawl needs at least one URL to start from, or a --sitemap",
  URL: "crawl needs --output-dir DIR for its files, or --jsonl to write pages to stdout",
  "URL --output-dir ''": "--output-dir must not be empty",
  docs: '"docs" is not an http or https URL',
  "--seed example.org/docs --output-dir out":
    '"example.org/docs" is not an http or https URL; did you mean https://example.org/docs ?',
  "localhost:80/a": '"localhost:80/a" is not an http or https URL; did you mean http://localhost:80/a ?',
  "10.0.0.1": '"10.0.0.1" is not an http or https URL; did you mean http://10.0.0.1 ?',
  "--sitemap ftp://h.example/s.xml --output-dir out":
    '--sitemap must be an http or https URL or a file, not "ftp://h.example/s.xml"',
  "--sitemap https:// --output-dir out": '--sitemap must be an http or https URL or a file, not "https://"',
  "URL --allow-prefix docs/ --output-dir out":
    '--allow-prefix must be the beginning of an http or https URL, not "docs/"',
  "URL --allow-prefix //h.example/docs --output-dir out":
    '--allow-prefix must be the beginning of an http or https URL, not "//h.example/docs"',
  "--sitemap list.txt --allow-prefix /docs/ --output-dir out":
    '--allow-prefix must be the beginning of an http or https URL, not "/docs/"',
  "URL --exclude /blog/ --output-dir out":
    '--exclude "/blog/" is not a CSS selector; crawl --deny-prefix leaves out addresses',
  "URL --deny-prefix h.example --output-dir out":
    '--deny-prefix must be the beginning of an http or https URL, not "h.example"; did you mean https://h.example ?',
  "URL --allow-prefix localhost:80/docs --output-dir out":
    '--allow-prefix must be the beginning of an http or https URL, not "localhost:80/docs"; did you mean http://localhost:80/docs ?',
  "--sitemap localhost:80/s.xml --output-dir out":
    '--sitemap must be an http or https URL or a file, not "localhost:80/s.xml"; did you mean http://localhost:80/s.xml ?',
  "--sitemap h.example/s.xml --output-dir out":
    '--sitemap: there is no file "h.example/s.xml"; did you mean https://h.example/s.xml ?',
  "URL --max-pages 0": '--max-pages must be a whole number from 1 to 1000000, not "0"',
  "URL --max-pages 1000001": '--max-pages must be a whole number from 1 to 1000000, not "1000001"',
  "URL --max-depth 101": '--max-depth must be a whole number from 0 to 100, not "101"',
  "URL --concurrency 257": '--concurrency must be a whole number from 1 to 256, not "257"',
  "URL --concurrency 0": '--concurrency must be a whole number from 1 to 256, not "0"',
  "URL --rate-limit -1": '--rate-limit must be a number from 0 to 3600, not "-1"',
  "URL --rate-limit fast": '--rate-limit must be a number from 0 to 3600, not "fast"',
  "URL --max-failures 101%":
    '--max-failures must be a number of pages or a percentage such as 5%, not "101%"',
  "URL --max-failures few": '--max-failures must be a number of pages or a percentage such as 5%, not "few"',
  "URL --min-words x": '--min-words must be a whole number from 0 to 1000000000, not "x"',
  "URL --select [[[ --output-dir out": '--select "[[[" is not a CSS selector',
  "URL --join --dry-run": "--join and --dry-run exclude each other",
  "URL --join": "--join needs --output-dir: the place that the processes share",
  "URL --join --jsonl": "--join needs --output-dir: the place that the processes share",
  "URL --join --output-dir out":
    "--join needs ARTICLE_EXTRACTOR_DATABASE_URL: the PostgreSQL that the processes share",
  "URL --run monday --output-dir out": "--run goes with --join",
  "URL --join --run '' --output-dir out": "--run must not be empty",
  [`URL --join --run ${"x".repeat(201)} --output-dir out`]:
    "--run: a name has at most 200 characters, none of them a control character",
  "URL --join --run 'a\nb' --output-dir out":
    "--run: a name has at most 200 characters, none of them a control character",
  "URL --jsonl --dry-run": "--jsonl and --dry-run exclude each other",
  "URL --fields title --output-dir out": "--fields goes with --jsonl",
  "URL --jsonl --changed-jsonl -": "--jsonl and --changed-jsonl - both write to stdout: name a file",
  "URL --dry-run --changed-jsonl f": "--changed-jsonl and --dry-run exclude each other",
  "http://a:b@127.0.0.1:1/ http://c:d@127.0.0.1:1/x --output-dir out":
    "two different credentials are given for http://127.0.0.1:1",
  "URL --max-page 3": "unknown option --max-page; did you mean --max-pages?",
  "URL --headed --output-dir out": "a browser's window needs a display, and there is none here",
  "URL --headed --no-browser --output-dir out": "--headed and --no-browser exclude each other",
  "URL --output-dir .article-extractor":
    ".article-extractor is where state is kept (.article-extractor): name another directory",
  "URL --output-dir site/.article-extractor/gone":
    "site/.article-extractor/gone is where state is kept (.article-extractor): name another directory",
  "URL --seed": "--seed needs a value: --seed URL",
};

describe("wrong usage of crawl exits with 2, one line, and nothing on the disk:", () => {
  test.each(Object.entries(WRONG))("%s", async (line, message) => {
    using directory = temporaryDirectory();
    // A machine's own browser, or its want of one, is no matter of words.
    const env = { ARTICLE_EXTRACTOR_BROWSER_PATH: process.execPath };
    const words = wordsOf(line).map((word) => (word === "URL" ? URL : word));
    const run = await runCommand(["crawl", ...words], { cwd: directory.path, env });
    expect(run).toEqual({ exitCode: 2, stdout: "", stderr: `error: ${message}\n` });
    expect(await readdir(directory.path)).toEqual([]);
  });

  test("a directory with somebody else's manifest.json", async () => {
    using directory = temporaryDirectory();
    await mkdir(join(directory.path, "site"));
    await writeFile(join(directory.path, "site/manifest.json"), '{ "name": "an application" }');
    const run = await runCommand(["crawl", URL, "--output-dir", "site"], { cwd: directory.path });
    expect(run).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "error: site holds a manifest.json that is not a crawl's: name another directory\n",
    });
    expect(await readdir(join(directory.path, "site"))).toEqual(["manifest.json"]);
  });

  test("a wrong setting of the crawler", async () => {
    const run = await runCommand(["crawl", URL, "--output-dir", "out"], {
      env: { ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY: "0", ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES: "many" },
    });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toBe(
      'error: ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES must be a whole number from 1 to 1000000, not "many"\n' +
        'error: ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY must be a whole number from 1 to 256, not "0"\n',
    );
  });
});
