import { expect, test } from "bun:test";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { openDisplay } from "../support/display.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveScriptedSite } from "../support/scripted-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

// Each option that is about a browser has its effect here, for one page, but for --prefer-browser, which the
// specification's tests try; test/unit/cli/page-options.test.ts shows that a crawl reads them alike.

const site = forAllTests(serveScriptedSite());
const urlOf = (path: string): string => site.origin + path;

const paths = ["/late", "/scroll", "/media", "/members"];
const words = ["--prefer-browser", "--min-words", "1", "--fields", "url,text"];
const { stdout } = await runBinary([...paths.map(urlOf), ...words], { timeoutMs: 90_000 });
const lines = stdout.trimEnd().split("\n");
/** The text of each page as the browser gives it without further options, by its path. */
const plain: Readonly<Record<string, string>> = Object.fromEntries(
  lines.map((line) => [new URL(JSON.parse(line).url).pathname, JSON.parse(line).text]),
);

/** What the program makes of a page, or "" when that fails, and what it logs. */
async function see(path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const run = await runBinary([urlOf(path), "--output", "text", ...args], { env, timeoutMs: 90_000 });
  return { text: run.stdout, log: run.stderr };
}

test("--prefer-http goes before the setting, and the browser still helps with an empty shell", async () => {
  const env = { ARTICLE_EXTRACTOR_PREFER_BROWSER: "true" };
  expect((await see("/plain", ["--prefer-http"], env)).text).toContain("As sent.");
  expect((await see("/app", ["--prefer-http"], env)).text).toContain("From the script.");
});

test("--no-browser", async () => {
  expect((await see("/app", ["--no-browser"], { ARTICLE_EXTRACTOR_PREFER_BROWSER: "true" })).text).toBe("");
});

test("--wait-for", async () => {
  expect(plain["/late"]).not.toContain("Came late");
  expect((await see("/late", ["--wait-for", "p.done"])).text).toContain("Came late");
});

test("--scroll", async () => {
  expect(plain["/scroll"]).not.toContain("number 40");
  expect((await see("/scroll", ["--scroll"])).text).toContain("number 40");
});

test("--load-media", async () => {
  expect([plain["/media"], site.count("/picture.png")]).toEqual([
    expect.stringContaining("With a picture."),
    0,
  ]);
  await see("/media", ["--load-media"]);
  expect(site.count("/picture.png")).toBe(1);
});

test("--storage-state, for both fetchers", async () => {
  using directory = temporaryDirectory();
  const kept = ["--storage-state", join(directory.path, "state.json")];
  expect(plain["/members"]).toContain("Please log in.");
  expect((await see("/self-login", [...kept, "--prefer-browser"])).text).toContain("Welcome back.");
  expect((await see("/members", [...kept, "--prefer-browser"])).text).toContain("Welcome back.");
  expect((await see("/members", [...kept, "--no-browser"])).text).toContain("Welcome back.");
});

test("--headed, and --user-interaction-timeout, for which the page is shown before it is taken", async () => {
  await using display = await openDisplay();
  const headed = async (seconds: string) => {
    const before = site.count("/app");
    const words = ["--headed", "--user-interaction-timeout", seconds, "-v"];
    return { ...(await see("/app", words, display.env)), asked: site.count("/app") - before };
  };
  const { text, log, asked } = await headed("0");
  expect([text, log]).toEqual([
    expect.stringContaining("From the script."),
    expect.stringContaining('"headed":true'),
  ]);
  expect([asked, (await headed("0.5")).asked]).toEqual([1, 2]);
});
