import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, canLoseRights, cleanEnvironment, runBinary } from "../support/binary.ts";
import { runCommand } from "../support/command.ts";
import { readCrawl } from "../support/crawl-run.ts";
import { openDisplay } from "../support/display.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { runningProcesses } from "../support/processes.ts";
import { serveScriptedSite } from "../support/scripted-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const site = forAllTests(serveScriptedSite());
const display = forAllTests(await openDisplay());

const TIME = { timeoutMs: 90_000 };
/** The setting is unset, as on a new machine. */
const UNSET = { ARTICLE_EXTRACTOR_PREFER_BROWSER: "" };
const NO_BROWSER = { ARTICLE_EXTRACTOR_BROWSER_PATH: "none" };

async function extract(path: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const run = await runBinary([`${site.origin}${path}`, "--min-words", "1", ...args], { env, ...TIME });
  return { ...run, result: run.exitCode === 0 ? JSON.parse(run.stdout) : null };
}

describe("the fetcher that goes first is", () => {
  test("the plain client where the setting says so, which asks the browser about shells and 404", async () => {
    expect((await extract("/plain")).result).toMatchObject({ fetcher: "http", warnings: null });
    expect((await extract("/app")).result).toMatchObject({
      fetcher: "browser",
      warnings: ["Fetched with the browser: the plain answer was an application's empty shell"],
    });
    const { result } = await extract("/gone");
    expect(result.text).toContain("Not gone at all.");
    expect(result.warnings).toEqual([
      "Fetched with the browser: the plain answer was HTTP 404",
      "Extracted after HTTP 404 (SPA/client-rendered)",
    ]);
    expect((await extract("/really-gone")).stderr).toContain("answered HTTP 404");
  });

  test("the plain client for what the browser would save", async () => {
    const { result } = await extract("/to-save", ["--prefer-browser"]);
    expect([result.fetcher, result.title]).toEqual(["http", "Mill"]);
    expect((await extract("/markdown", ["--prefer-browser"])).result.title).toBe("Mill");
  });

  test("the plain client, with a warning, where the browser does not start", async () => {
    using directory = temporaryDirectory();
    const broken = join(directory.path, "chromium");
    writeFileSync(broken, "#!/bin/sh\necho 'error: no such luck' >&2\nexit 1\n", { mode: 0o755 });
    const env = { ...UNSET, ARTICLE_EXTRACTOR_BROWSER_PATH: broken };
    const { result } = await extract("/plain", [], env);
    expect([result.fetcher, result.warnings]).toEqual([
      "http",
      [expect.stringContaining(`Fetched over plain HTTP: the browser ${broken} does not start`)],
    ]);
    const needed = await extract("/plain", ["--scroll"], env);
    expect([needed.exitCode, needed.stderr]).toEqual([1, expect.stringContaining("does not start")]);
  });
});

describe("without a browser", () => {
  const env = { ...UNSET, ...NO_BROWSER };

  test("pages are fetched all the same", async () => {
    expect((await extract("/plain", [], env)).result.fetcher).toBe("http");
    const asked = await extract("/plain", ["--prefer-browser"], env);
    expect([asked.result.fetcher, asked.stderr]).toEqual(["http", expect.stringContaining("was found")]);
    const needed = await extract("/plain", ["--wait-for", "p"], env);
    expect([needed.exitCode, needed.stderr]).toEqual([2, expect.stringContaining("was found")]);
  });

  test("one that is named and is none is wrong usage", async () => {
    const { exitCode, stderr } = await extract("/plain", ["--prefer-browser"], {
      ARTICLE_EXTRACTOR_BROWSER_PATH: "/nonexistent/chromium",
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("ARTICLE_EXTRACTOR_BROWSER_PATH")]);
  });

  test("a window without a display is wrong usage", async () => {
    const { exitCode, stderr } = await extract("/plain", ["--headed"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("display")]);
  });

  for (const [words, message] of [
    [["--headed", "--no-browser"], "--headed and --no-browser exclude each other"],
    [["--scroll", "--prefer-http"], "--scroll and --prefer-http exclude each other"],
    [["--prefer-http", "--prefer-browser"], "--prefer-http and --prefer-browser exclude each other"],
    [["--user-interaction-timeout", "5"], "--user-interaction-timeout goes with --headed"],
  ] as const)
    test(`${words.join(" ")} is refused`, async () => {
      const { exitCode, stderr } = await runCommand([`${site.origin}/plain`, ...words]);
      expect([exitCode, stderr]).toEqual([2, `error: ${message}\n`]);
    });

  test("a selector that is none is wrong usage", async () => {
    const { exitCode, stderr } = await extract("/plain", ["--wait-for", "p["]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("not a CSS selector")]);
  });
});

test("a crawl asks the browser where the plain client finds nothing", async () => {
  using directory = temporaryDirectory();
  const output = join(directory.path, "out");
  const words = [`${site.origin}/crawl`, "--ignore-robots", "--rate-limit", "0", "--min-words", "1"];
  await runBinary(["crawl", ...words, "--output-dir", output], TIME);
  const { manifest, files, read } = await readCrawl(output);
  expect(manifest?.successful).toBe(4);
  const texts = (await Promise.all(files.map(read))).join("\n");
  for (const text of ["Start.", "From the script.", "Not gone at all.", "As sent."])
    expect(texts).toContain(text);
});

describe("a session that is kept in a file", () => {
  test("says in the log how many changes wait, and where it is kept stays secret", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "state.json");
    const env = {
      ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file,
      ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR: `${file}.q`,
    };
    const run = await extract("/session", ["--no-browser", "-v"], env);
    expect(run.result.text).toContain("Welcome back.");
    const extracted = run.stderr.split("\n").find((line) => line.includes('"extracted"')) ?? "{}";
    expect(JSON.parse(extracted).storage_queue_pending_entries).toBeNumber();
    expect(run.stderr + run.stdout).not.toContain("s3cret");
    expect(readFileSync(file, "utf8")).toContain("s3cret");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(`${file}.q`, "done"))).not.toEqual([]);
  });

  test("named by an option uses the queue directory of the settings", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "state.json");
    const queue = join(directory.path, "queue");
    await extract("/session", ["--no-browser", "--storage-state", file], {
      ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR: queue,
    });
    expect(readFileSync(file, "utf8")).toContain("s3cret");
    expect(readdirSync(join(queue, "done"))).not.toEqual([]);
    expect(readdirSync(directory.path).sort()).toEqual(["queue", "state.json"]);
  });

  test("that is none is told", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "state.json");
    writeFileSync(file, "[]");
    const { exitCode, stderr } = await extract("/plain", ["--storage-state", file]);
    expect([exitCode, stderr]).toEqual([
      1,
      `error: ${file} holds no storage state as Playwright writes it\n`,
    ]);
  });
});

describe("nothing is left", () => {
  const runningIn = (directory: string): string[] =>
    runningProcesses().flatMap(({ args }) => (args.includes(directory) ? args : []));

  for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const)
    test(`of the browser after ${signal}`, async () => {
      // Short, or the program takes another one: the path of a socket has its limit.
      const temporary = mkdtempSync("/tmp/nl-");
      const before = site.count("/late");
      const child = Bun.spawn([BINARY, `${site.origin}/late`, "--wait-for", "p.never"], {
        env: cleanEnvironment({ TMPDIR: temporary }),
        stdio: ["ignore", "ignore", "ignore"],
      });
      await untilTrue(() => site.count("/late") > before);
      expect(runningIn(temporary)).not.toEqual([]);
      child.kill(signal);
      await child.exited;
      await untilTrue(() => runningIn(temporary).length === 0);
      const base = join(temporary, readdirSync(temporary)[0] ?? "");
      // What a killed program leaves, the next one removes.
      if (signal === "SIGKILL")
        await runBinary([`${site.origin}/plain`, "--prefer-browser"], {
          env: { TMPDIR: temporary },
          ...TIME,
        });
      expect(readdirSync(base)).toEqual([]);
      rmSync(temporary, { recursive: true });
    });
});

describe("doctor", () => {
  const doctor = async (env: Record<string, string> = {}, asOrdinaryUser = false) => {
    const run = await runBinary(["doctor", "--json"], { env, asOrdinaryUser, ...TIME });
    const report = JSON.parse(run.stdout);
    const find = (name: string) => report.checks.find((check: { name: string }) => check.name === name);
    return { ...run, report, find };
  };

  test("finds the browser, its version, and the rest of the machine", async () => {
    using directory = temporaryDirectory();
    const { exitCode, report, find } = await doctor({ XDG_STATE_HOME: directory.path, ...display.env });
    expect([exitCode, report.ok]).toEqual([0, true]);
    expect(find("browser")).toMatchObject({ status: "ok", detail: expect.stringMatching(/version \d+\./) });
    const sandbox = process.getuid?.() === 0 ? "note" : "ok";
    expect(find("sandbox").status).toBe(sandbox);
    for (const name of ["display", "disk", "temporary files", "state directory", "git", "storage state"])
      expect([name, find(name)?.status]).toEqual([name, "ok"]);
    expect(find("proxy for https").detail).toBe("none");
    const text = await runBinary(["doctor"], { env: { XDG_STATE_HOME: directory.path }, ...TIME });
    expect(text.stdout).toMatch(/^ok {7}browser +\//m);
    expect(text.stdout).toContain("note     display");
  });

  test("names the proxy without its credentials", async () => {
    const { find, stdout } = await doctor({ HTTPS_PROXY: "http://user:s3cr3t@proxy.test:3128" });
    expect(find("proxy for https").detail).toBe("http://proxy.test:3128");
    expect(stdout).not.toContain("s3cr3t");
  });

  test("finds a browser that does not start and a session file that is none, and ends with 1", async () => {
    using directory = temporaryDirectory();
    const broken = join(directory.path, "chromium");
    writeFileSync(broken, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const state = join(directory.path, "state.json");
    writeFileSync(state, "[]");
    const { exitCode, report, find } = await doctor({
      ARTICLE_EXTRACTOR_BROWSER_PATH: broken,
      ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: state,
    });
    expect([exitCode, report.ok]).toEqual([1, false]);
    expect(find("browser")).toMatchObject({
      status: "problem",
      detail: expect.stringContaining("not start"),
    });
    expect(find("storage state").status).toBe("problem");
  });

  test.skipIf(!canLoseRights)("finds a state directory that cannot be written", async () => {
    const { find } = await doctor({ ARTICLE_EXTRACTOR_STATE_DIR: "/root/nowhere" }, true);
    expect(find("state directory")).toMatchObject({ status: "problem" });
  });
});
