import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { runCommand } from "../support/command.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { serveRecordingSite } from "../support/recording-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const site = forAllTests(serveRecordingSite());

/** Extracts a list from a file in an empty directory. */
async function extractList(lines: readonly string[], ...args: string[]) {
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, "urls.txt"), lines.join("\n"));
  return await runCommand(["--input-file", "urls.txt", "--retries", "0", ...args], { cwd: directory.path });
}

const jsonLines = (stdout: string): Record<string, unknown>[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("--input-file", () => {
  test("writes a JSON line for each URL in the list's order, good or bad, and exits with 1", async () => {
    const urls = [`${site.origin}/a`, "not a url", `${site.origin}/status/500`, `${site.origin}/b`];
    const run = await extractList([urls[0]!, "", "# a comment", `  ${urls[1]}  `, urls[2]!, `${urls[3]}\r`]);
    expect(run.exitCode).toBe(1);
    const results = jsonLines(run.stdout);
    expect(results.map(({ url, success }) => [url, success])).toEqual([
      [urls[0], true],
      ["not a url", false],
      [urls[2], false],
      [urls[3], true],
    ]);
    expect(results[1]?.error).toEqual({
      code: "invalid_url",
      message: '"not a url" is not an http or https URL',
    });
    expect(results[2]?.error).toMatchObject({ code: "http_status" });
    expect(run.stderr.trimEnd().split("\n")).toEqual([
      'error: urls.txt:4: "not a url" is not an http or https URL',
      expect.stringMatching(/^error: urls\.txt:5: GET http:\S+\/status\/500 answered HTTP 500/),
    ]);
  });

  test("names the first page that a warning is about, and how many there are", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "a.html"), "<p>word</p>");
    await writeFile(join(directory.path, "b.html"), "<p>two words</p>");
    const files = ["--file", "a.html", "--file", "b.html", "--output", "text"];
    const run = await runCommand(files, { cwd: directory.path });
    expect(run.stderr.trimEnd().split("\n")).toEqual([
      "warning: 2 pages, the first a.html: Content below minimum word count (1 < 150)",
    ]);
  });

  test("that is no text is refused in one line", async () => {
    using directory = temporaryDirectory();
    const bytes = crypto.getRandomValues(new Uint8Array(65_536));
    bytes[1000] = 0;
    await writeFile(join(directory.path, "page.pdf"), bytes);
    const run = await runCommand(["--input-file", "page.pdf"], { cwd: directory.path });
    expect(run).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: "error: page.pdf is not text, so it is not a list of URLs\n",
    });
  });

  test("of good URLs exits with 0 and says nothing", async () => {
    const run = await extractList([`${site.origin}/a`, `${site.origin}/b`]);
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  });

  test("keeps the list's order when the first page is the slowest", async () => {
    const slow = serveLocal(async (request) => {
      const isFirst = new URL(request.url).pathname === "/first";
      if (isFirst) await Bun.sleep(300);
      return new Response("<p>word</p>", { headers: { "content-type": "text/html" } });
    });
    const urls = ["first", "second", "third", "4", "5", "6"].map((name) => `${slow.url}${name}`);
    const run = await extractList(urls);
    await slow.stop(true);
    expect(jsonLines(run.stdout).map(({ url }) => url)).toEqual(urls);
  });

  test("puts a rule between Markdown pages, but not between those with front matter", async () => {
    const urls = [`${site.origin}/a`, `${site.origin}/b`];
    const plain = (await extractList(urls, "--output", "markdown")).stdout;
    expect(plain.split("\n---\n\n").map((page) => page.split("\n")[0])).toEqual([
      "# Tide tables",
      "# Tide tables",
    ]);
    const withFrontMatter = (await extractList(urls, "--output", "markdown", "--frontmatter")).stdout;
    expect(withFrontMatter.match(/^---\nurl: /gm)?.length).toBe(2);
    expect(withFrontMatter.match(/^---$/gm)?.length).toBe(4);
  });

  test("goes into one file with -o, failed pages and all", async () => {
    using directory = temporaryDirectory();
    const run = await runBinary(["--input-file", "-", "-o", "out.jsonl"], {
      stdin: `${site.origin}/a\nnot a url\n`,
      cwd: directory.path,
    });
    expect([run.exitCode, run.stdout]).toEqual([1, ""]);
    const written = await Bun.file(join(directory.path, "out.jsonl")).text();
    expect(jsonLines(written).map(({ success }) => success)).toEqual([true, false]);
  });

  test("that lists nothing is refused", async () => {
    for (const lines of [["# only a comment", ""], [""]]) {
      const message = "urls.txt lists no URLs";
      expect(await extractList(lines)).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
    }
  });

  test("with a wrong selector fetches nothing and says so once", async () => {
    const before = site.seen.length;
    const run = await extractList([`${site.origin}/a`, `${site.origin}/b`], "--exclude", "a{");
    const message = '--exclude "a{" is not a CSS selector';
    expect(run).toEqual({ exitCode: 2, stdout: "", stderr: `error: ${message}\n` });
    expect(site.seen.length).toBe(before);
  });

  test("of a thousand lines that are no URLs ends with each of them", async () => {
    const run = await extractList(Array.from({ length: 1000 }, (_, index) => `no url ${index}`));
    expect(jsonLines(run.stdout).map(({ url }) => url)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `no url ${index}`),
    );
  });
});
