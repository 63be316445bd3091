import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { serveRecordingSite } from "../../support/recording-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const site = forAllTests(serveRecordingSite());

const WARNING = 'No element matches the excluded selector ".nowhere"';
const noMatch = (page: string, selector = ".nowhere"): string =>
  `no element shown on ${page} matches the selector ${JSON.stringify(selector)}`;

test("--select that matches nothing is a failure that names the selector", async () => {
  const url = `${site.origin}/page`;
  for (const format of ["json", "markdown", "text"]) {
    const run = await runCommand([url, "--select", ".nowhere", "--output", format]);
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${noMatch(url)}\n` });
  }
});

test.each([
  ["page.html", "<article><p>The wheel turns.</p></article>", "main", noMatch("page.html", "main")],
  [
    "hidden.html",
    "<p hidden>The wheel turns.</p><p>Or not.</p>",
    "[hidden]",
    'what the selector "[hidden]" matches on hidden.html holds no words',
  ],
  [
    "image.html",
    "<p><img src=a.png></p><p>Word</p>",
    "img",
    'what the selector "img" matches on image.html holds no words',
  ],
  // Text has no elements.
  ["notes.md", "# Mill\n\nThe wheel turns.\n", "p", noMatch("notes.md", "p")],
  ["notes.txt", "The wheel turns.\n", "p", noMatch("notes.txt", "p")],
])("--select on %s", async (name, content, selector, message) => {
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, name), content);
  const run = await runCommand(["--file", name, "--select", selector], { cwd: directory.path });
  expect(run).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
});

test("--exclude that matches nothing is a warning that names the selector", async () => {
  const url = `${site.origin}/page`;
  const text = await runCommand([url, "--exclude", ".nowhere", "--exclude", "nav.none", "--output", "text"]);
  expect([text.exitCode, text.stderr]).toEqual([
    0,
    `warning: ${WARNING}\nwarning: No element matches the excluded selector "nav.none"\n`,
  ]);
  const json = await runCommand([url, "--exclude", ".nowhere"]);
  expect(JSON.parse(json.stdout).warnings).toEqual([WARNING]);
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, "notes.md"), "The wheel turns.\n");
  const markdown = await runCommand(
    ["--file", "notes.md", "--exclude", ".nowhere", "--min-words", "0", "--output", "markdown"],
    { cwd: directory.path },
  );
  expect(markdown).toEqual({ exitCode: 0, stdout: "The wheel turns.\n", stderr: `warning: ${WARNING}\n` });
});

test("in a list, each page says so", async () => {
  const urls = [`${site.origin}/a`, `${site.origin}/b`];
  const stdin = urls.join("\n");
  const selected = await runCommand(["--input-file", "-", "--select", ".nowhere"], { stdin });
  expect(selected.exitCode).toBe(1);
  const lines = selected.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ error }) => error)).toEqual(
    urls.map((url) => ({ code: "no_content", message: noMatch(url) })),
  );
  const excluded = await runCommand(["--input-file", "-", "--exclude", ".nowhere"], { stdin });
  const warnings = excluded.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).warnings);
  expect([excluded.exitCode, warnings]).toEqual([0, [[WARNING], [WARNING]]]);
});

test("in a crawl, the manifest says so of each page, and the closing lines where no page has a match", async () => {
  const first = '<article><p class="first">The wheel turns.</p><p>{links}</p></article>';
  await using pages = serveNumberedSite({
    pages: 3,
    answers: { "/special": { body: `<html><body>${first}</body></html>` } },
  });
  using directory = temporaryDirectory();
  const crawl = (...args: string[]) =>
    runCommand(
      [
        "crawl",
        `${pages.origin}/special`,
        `${pages.origin}/p/1`,
        "--max-depth",
        "0",
        "--rate-limit",
        "0",
        ...args,
      ],
      { cwd: directory.path },
    );
  const excluded = await crawl("--output-dir", "a", "--exclude", ".nowhere", "--exclude", ".first");
  expect(excluded.exitCode).toBe(0);
  expect(excluded.stderr).toContain(
    '\n  warning: on no page an element matches the excluded selector ".nowhere"\n',
  );
  expect(excluded.stderr).not.toContain('".first"');
  const manifest = await Bun.file(join(directory.path, "a/manifest.json")).json();
  for (const { warnings } of manifest.results) expect(warnings).toContain(WARNING);

  const selected = await crawl("--output-dir", "b", "--select", ".first");
  expect(selected.exitCode).toBe(3);
  expect(selected.stderr).toContain(
    `failed: 1 no_content, for example ${noMatch(`${pages.origin}/p/1`, ".first")}\n`,
  );
});
