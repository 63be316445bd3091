import { describe, expect } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, cleanEnvironment, runBinary, runShell } from "../../support/binary.ts";
import { type CrawlRun, crawlOnce, pathsOf } from "../../support/crawl-run.ts";
import { openDisplay } from "../../support/display.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { startForwardProxy } from "../../support/forward-proxy.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { serveScriptedSite } from "../../support/scripted-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const XML = { "content-type": "application/xml" };
const rich = `<html><head><title>Rich</title></head><body><article><h1>Rich</h1><p>${"The mill wheel turns. ".repeat(20)}</p>
<p><img src="mill.png" alt="The mill"></p><pre><code>weir today</code></pre><p>${"It stops at night. ".repeat(20)}</p></article></body></html>`;
const answers = {
  "/rich": { body: rich },
  "/links": { body: crawlPage("Links", ["/docs/a", "/docs/b", "/blog/c"]) },
  "/docs/a": { body: crawlPage("A") },
  "/docs/b": { body: crawlPage("B") },
  "/blog/c": { body: crawlPage("C") },
  "/sitemap.xml": { headers: XML, body: "<urlset><url><loc>{origin}/docs/a</loc></url></urlset>" },
  "/other.xml": { headers: XML, body: "<urlset><url><loc>{origin}/docs/b</loc></url></urlset>" },
};
const site = forAllTests(serveNumberedSite({ pages: 130, answers }));
const chain = forAllTests(serveNumberedSite({ pages: 6, fanOut: 1 }));
const scripted = forAllTests(serveScriptedSite());
const place = forAllTests(temporaryDirectory()).path;
const pageFile = join(place, "page.html");
writeFileSync(pageFile, rich);

const RICH = `${site.origin}/rich`;
const START = `${site.origin}/links`;
const run = (...words: string[]) => runBinary(words);
const result = async (...words: string[]) => JSON.parse((await run(...words)).stdout || "null");
const userAgents = async (...words: string[]): Promise<(string | undefined)[]> => {
  const before = site.visits.length;
  await run(RICH, ...words);
  return site.visits.slice(before).map(({ headers }) => headers["user-agent"]);
};

// Section: Command line
const SINGLE: Readonly<Record<string, () => Promise<void>>> = {
  "`article-extractor <url>`": async () => {
    expect(await result(RICH)).toMatchObject({ title: "Rich", url: RICH });
  },
  "`article-extractor --file <html_path>`": async () => {
    expect(await result("--file", pageFile)).toMatchObject({ title: "Rich" });
  },
  "--output | `json`, `markdown`, `text`": async () => {
    expect(JSON.parse((await run(RICH, "--output", "json")).stdout).title).toBe("Rich");
    expect((await run(RICH, "--output", "markdown")).stdout).toStartWith("# Rich\n");
    const { stdout } = await run(RICH, "--output", "text");
    expect(stdout).toStartWith("Rich\n");
    expect(stdout).not.toMatch(/[#<]/);
    expect((await run(RICH, "--output", "pdf")).exitCode).toBe(2);
  },
  "--min-words, --no-images, --no-code | extraction options": async () => {
    expect((await result(RICH, "--min-words", "5000")).warnings).toEqual([expect.stringContaining("5000")]);
    expect((await result(RICH, "--min-words", "5")).warnings).toBeNull();
    const whole = await result(RICH);
    expect([whole.markdown, whole.markdown]).toEqual([
      expect.stringContaining("mill.png"),
      expect.stringContaining("weir today"),
    ]);
    expect((await result(RICH, "--no-images")).markdown).not.toContain("mill.png");
    expect((await result(RICH, "--no-code")).markdown).not.toContain("weir today");
  },
  "--user-agent, --random-user-agent | user agent": async () => {
    expect(await userAgents("--user-agent", "mill/1")).toEqual(["mill/1"]);
    const [random] = await userAgents("--random-user-agent");
    expect(random).toStartWith("Mozilla/5.0 ");
    expect((await userAgents())[0]).toStartWith("article-extractor/");
  },
  "--proxy | proxy": async () => {
    const hosts = { "docs.example": new URL(site.origin).host };
    await using proxy = await startForwardProxy({ credentials: null, hosts });
    const page = await result("http://docs.example/rich", "--proxy", `http://127.0.0.1:${proxy.port}`);
    expect(page.title).toBe("Rich");
    expect((await proxy.requests()).map(({ line }) => line)).toContainEqual(
      expect.stringContaining("docs.example"),
    );
  },
  "--prefer-browser, --prefer-http | fetcher preference": async () => {
    const url = `${scripted.origin}/plain`;
    expect((await result(url, "--prefer-browser", "--min-words", "1")).fetcher).toBe("browser");
    const env = { ARTICLE_EXTRACTOR_PREFER_BROWSER: "true" };
    const plain = await runBinary([url, "--prefer-http", "--min-words", "1"], { env });
    expect(JSON.parse(plain.stdout).fetcher).toBe("http");
  },
  "--headed, --storage-state, --user-interaction-timeout | interactive/session options": async () => {
    await using display = await openDisplay();
    const state = join(place, "state.json");
    const words = [
      "--headed",
      "--user-interaction-timeout",
      "0.5",
      "--storage-state",
      state,
      "-v",
      "--min-words",
      "1",
    ];
    const shown = await runBinary([`${scripted.origin}/self-login`, ...words], { env: display.env });
    expect(shown.stderr).toContain('"headed":true');
    expect(await Bun.file(state).text()).toContain("s3cret");
    const later = await result(`${scripted.origin}/members`, "--storage-state", state, "--min-words", "1");
    expect(later.text).toContain("Welcome back.");
  },
  "--log-level, --log-format | logging": async () => {
    expect((await run(RICH, "--log-level", "info")).stderr).toStartWith('{"timestamp"');
    expect((await run(RICH, "--log-level", "info", "--log-format", "text")).stderr).toMatch(/^\S+Z INFO /);
    expect((await run(RICH, "--log-level", "error")).stderr).toBe("");
  },
  "--help | prints options, exits 0": async () => {
    const { exitCode, stdout, stderr } = await run("--help");
    expect([exitCode, stderr]).toEqual([0, ""]);
    const named =
      "--output --min-words --no-images --no-code --user-agent --random-user-agent --proxy --prefer-browser --prefer-http --headed --storage-state --user-interaction-timeout --log-level --log-format --help";
    expect(named.split(" ").filter((option) => !stdout.includes(option))).toEqual([]);
  },
};

const crawled = async (...words: string[]): Promise<string[]> => pathsOf(await crawlOnce(words));
const configOf = async (...words: string[]) =>
  (await crawlOnce([`${site.origin}/docs/a`, ...words])).manifest?.config;

const CRAWL: Readonly<Record<string, () => Promise<void>>> = {
  "--seed URL (repeatable) | — | Seed URL.": async () => {
    const seeds = ["--seed", `${site.origin}/docs/a`, "--seed", `${site.origin}/docs/b`];
    expect(await crawled(...seeds)).toEqual(["/docs/a", "/docs/b"]);
  },
  "--sitemap URL or file path (repeatable) | — | Sitemap.": async () => {
    const file = join(place, "sitemap.txt");
    writeFileSync(file, `${site.origin}/blog/c\n`);
    const maps = [`${site.origin}/sitemap.xml`, `${site.origin}/other.xml`, file].flatMap((one) => [
      "--sitemap",
      one,
    ]);
    expect(await crawled(...maps)).toEqual(["/blog/c", "/docs/a", "/docs/b"]);
  },
  "--output-dir PATH | asks the user | Output directory.": async () => {
    expect((await crawlOnce([START])).files).toHaveLength(4);
    using directory = temporaryDirectory();
    const asked = await onTerminal(
      ["crawl", `${site.origin}/docs/a`, "--rate-limit", "0"],
      "given\n",
      directory.path,
    );
    expect(asked).toContain("Directory");
    expect(readdirSync(join(directory.path, "given"))).toContain("manifest.json");
  },
  "--allow-prefix PREFIX (repeatable) | all | Allow filter.": async () => {
    expect(await crawled(START)).toHaveLength(4);
    const allowed = ["--allow-prefix", START, "--allow-prefix", `${site.origin}/blog`];
    expect(await crawled(START, ...allowed)).toEqual(["/blog/c", "/links"]);
  },
  "--deny-prefix PREFIX (repeatable) | none | Deny filter.": async () => {
    const denied = ["--deny-prefix", `${site.origin}/blog`, "--deny-prefix", `${site.origin}/docs/b`];
    expect(await crawled(START, ...denied)).toEqual(["/docs/a", "/links"]);
  },
  "--max-pages N | 100 | Page cap.": async () => {
    expect(await crawled(`${site.origin}/`)).toHaveLength(100);
    expect(await crawled(`${site.origin}/`, "--max-pages", "3")).toHaveLength(3);
  },
  "--max-depth N | 3 | Depth cap.": async () => {
    expect(await crawled(`${chain.origin}/`)).toHaveLength(4);
    expect(await crawled(`${chain.origin}/`, "--max-depth", "1")).toHaveLength(2);
  },
  "--concurrency N | 5 | Concurrent requests.": async () => {
    expect((await configOf())?.concurrency).toBe(5);
    await using slow = serveNumberedSite({ pages: 12, answerMs: 50 });
    await crawlOnce([`${slow.origin}/`, "--concurrency", "2", "--max-pages", "6"]);
    expect(slow.peak).toBe(2);
  },
  "--rate-limit SECONDS | 1.0 | Per-host delay.": async () => {
    using directory = temporaryDirectory();
    const words = ["crawl", `${site.origin}/docs/a`, "--output-dir", "out"];
    await runBinary(words, { cwd: directory.path });
    const { config } = await Bun.file(join(directory.path, "out/manifest.json")).json();
    expect(config.rate_limit_delay).toBe(1);
    expect((await configOf("--rate-limit", "0.1"))?.rate_limit_delay).toBe(0.1);
  },
  "--follow-links / --no-follow-links | follow | Link discovery on/off.": async () => {
    expect(await crawled(START, "--follow-links")).toEqual(await crawled(START));
    expect(await crawled(START, "--no-follow-links")).toEqual(["/links"]);
  },
  "The network options (`--headed`, `--storage-state`, `--prefer-browser`, and the rest) behave as":
    async () => {
      const single = async (...words: string[]): Promise<CrawlRun> => {
        const only = ["--max-depth", "0", "--ignore-robots", "--min-words", "1"];
        return await crawlOnce([`${scripted.origin}/plain`, ...only, ...words]);
      };
      const browsed = await single("--prefer-browser");
      expect(await browsed.read(browsed.files[0] ?? "")).toContain("As scripted.");
      const plain = await single("--prefer-http", "--user-agent", "crawler/9");
      expect(await plain.read(plain.files[0] ?? "")).toContain("As sent.");
      expect(scripted.visits.at(-1)?.headers["user-agent"]).toBe("crawler/9");
      const state = join(place, "crawl-state.json");
      await crawlOnce([
        `${scripted.origin}/session`,
        "--no-browser",
        "--ignore-robots",
        "--storage-state",
        state,
      ]);
      expect(await Bun.file(state).text()).toContain("s3cret");
    },
};

describe("a single page", () => {
  for (const [words, holds] of Object.entries(SINGLE)) statement("Command line", words, holds);
});

describe("a crawl", () => {
  for (const [words, holds] of Object.entries(CRAWL)) statement("Command line", words, holds);
});

/** Runs the program on a terminal, where a person types this; gives what the terminal showed. */
async function onTerminal(words: readonly string[], typed: string, cwd: string): Promise<string> {
  const program = [BINARY, ...words].map((word) => `'${word}'`).join(" ");
  const { stdout } = await runShell(`printf '%s' "$TYPED" | script -qec "$PROGRAM" /dev/null`, {
    cwd,
    env: { ...cleanEnvironment(), TYPED: typed, PROGRAM: program },
  });
  return stdout;
}
