import { describe, expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runShell } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const site = forAllTests(serveNumberedSite({ pages: 30, answerMs: 30 }));

type TerminalOptions = {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What the person types. */
  readonly typed?: string;
};

/** Runs a command with a terminal on all streams; gives what appears there and what it leaves behind. */
async function onTerminal(command: string, options: TerminalOptions = {}) {
  using directory = temporaryDirectory();
  await writeFile(
    join(directory.path, "run.sh"),
    `trap : INT\nstty cols ${options.columns ?? 80} rows 24\n${command}\necho code=$?\n`,
  );
  // What is typed comes when the program asks, not before it runs.
  const typing = options.typed === undefined ? "" : "(sleep 0.7; cat typed; sleep 0.7) | ";
  await writeFile(join(directory.path, "typed"), options.typed ?? "");
  const run = await runShell(`${typing}script -qec 'sh run.sh' /dev/null`, {
    cwd: directory.path,
    env: { TERM: "xterm", ...options.env },
  });
  return { screen: run.stdout.replaceAll("\r\n", "\n"), files: await made(directory.path) };
}

const made = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => !["run.sh", "typed"].includes(name));

const ERASE = "\r\u001b[K";
/** The drawn states of the progress line, in order. */
const drawn = (screen: string): string[] =>
  screen
    .split(ERASE)
    .map((line) => line.split("\n")[0] ?? "")
    .filter((line) => /^\d+\/\d+ /.test(line));

const crawl = (words = ""): string =>
  `article-extractor crawl ${site.origin}/ --rate-limit 0 --concurrency 2 --output-dir out ${words}`;

describe.skipIf(Bun.which("script") === null)("a crawl on a terminal (needs script, of util-linux)", () => {
  test("shows its progress on one line, and then the summary in its place", async () => {
    const { screen } = await onTerminal(crawl());
    const lines = drawn(screen);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines)
      expect(line).toMatch(
        /^\d+\/\d+ pages · [\d.]+\/s · 0 failed · 0 skipped · \d in flight · ETA [-\d:]+$/,
      );
    expect(screen.split(ERASE).at(-1)).toMatch(/^crawled 30 pages in .*\n {2}every page and .*\ncode=0\n$/);
  });

  test("keeps its line within 40 columns", async () => {
    const lines = drawn((await onTerminal(crawl(), { columns: 40 })).screen);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect([line, line.length < 40]).toEqual([line, true]);
  });

  test("draws nothing on a dumb terminal, with --quiet, and where stderr is no terminal", async () => {
    for (const [command, options] of [
      [crawl(), { env: { TERM: "dumb" } }],
      [crawl("--quiet"), {}],
      [`${crawl()} 2> err; cat err`, {}],
    ] as const) {
      const { screen } = await onTerminal(command, options);
      expect(screen).not.toContain("\u001b");
      expect(screen).toContain("code=0");
    }
  });

  test("writes no colour with NO_COLOR", async () => {
    const command = crawl("--ignore-robots");
    expect((await onTerminal(command)).screen).toContain("\u001b[33mwarning:");
    const { screen } = await onTerminal(command, { env: { NO_COLOR: "1" } });
    expect(screen.replaceAll(ERASE, "")).not.toContain("\u001b");
    expect(screen).toContain("warning: robots.txt is ignored\n");
  });

  test("writes log lines above the progress line", async () => {
    const { screen } = await onTerminal(crawl("-v"));
    const stored = screen.split("\n").filter((line) => line.includes('"page crawled"'));
    expect(stored.length).toBe(30);
    for (const line of stored) expect(JSON.parse(line.slice(line.indexOf("{"))).message).toBe("page crawled");
  });

  describe("without --output-dir", () => {
    const asking = (): string => `article-extractor crawl ${site.origin}/ --rate-limit 0 --max-depth 0`;

    test("asks for one", async () => {
      const { screen, files } = await onTerminal(asking(), { typed: "my pages\n" });
      expect(screen).toContain("Directory for the pages [127.0.0.1]: ");
      expect(screen).toContain("1 stored in my pages");
      expect(files).toEqual(["my pages"]);
    });

    test("takes the site's name when nothing is typed", async () => {
      expect((await onTerminal(asking(), { typed: "\n" })).files).toEqual(["127.0.0.1"]);
    });

    test("ends with exit code 2 at the end of the input", async () => {
      const { screen, files } = await onTerminal(asking(), { typed: "\u0004" });
      expect(screen).toMatch(/error:.* crawl needs --output-dir DIR.*\ncode=2\n$/);
      expect(files).toEqual([]);
    });

    test("ends with exit code 130 when interrupted there", async () => {
      const { screen, files } = await onTerminal(asking(), { typed: "\u0003" });
      expect(screen).toMatch(/interrupted\ncode=130\n$/);
      expect(files).toEqual([]);
    });
  });
});
