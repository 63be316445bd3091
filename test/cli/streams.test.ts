import { describe, expect, test } from "bun:test";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary, runShell } from "../support/binary.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const WORDS = ["tide", "mill", "wheel", "gate", "pond", "water", "stone", "timber", "quay", "morning"];

/** A page of about 2 MB; as JSON its article is more than 5 MB. */
function largePage(): string {
  const sentence = Array.from({ length: 120 }, (_, index) => WORDS[(index * index + index) % 10]).join(" ");
  const paragraph = (_: unknown, index: number): string => `<p>${index} ${sentence}.</p>`;
  return `<html><body><article>${Array.from({ length: 3000 }, paragraph).join("\n")}</article></body></html>`;
}

describe("a result of 5 MB", () => {
  const inLargePage = async (script: string) => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "large.html"), largePage());
    return await runShell(script, { shell: "bash", cwd: directory.path });
  };

  test("arrives whole through a pipe, also at a reader who starts late", async () => {
    const run = await inLargePage(`
      set -eo pipefail
      article-extractor --file large.html > whole.json
      sum=$(sha256sum < whole.json)
      test "$(article-extractor --file large.html | cat | sha256sum)" = "$sum"
      test "$(article-extractor --file large.html | (sleep 1; cat) | sha256sum)" = "$sum"
      test "$(wc -c < whole.json)" -gt 5000000 && tail -c 2 whole.json`);
    expect(run).toEqual({ exitCode: 0, stdout: "}\n", stderr: "" });
  });

  test("arrives whole through -o", async () => {
    const run = await inLargePage(`
      article-extractor --file large.html > whole.json
      article-extractor --file large.html -o file.json && cmp file.json whole.json`);
    expect(run).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("ends quietly when the reader has seen enough", async () => {
    const run = await inLargePage("set -o pipefail; article-extractor --file large.html | head -1");
    expect(run).toEqual({ exitCode: 0, stdout: "{\n", stderr: "" });
  });

  test("ends quietly when the reader never reads", async () => {
    const run = await inLargePage("set -o pipefail; article-extractor --file large.html | sleep 0.2");
    expect(run).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });
});

describe("closed streams", () => {
  test("a closed stdout is survived without a word", async () => {
    const run = await runShell("article-extractor - --output text -q >&-", { stdin: "<p>word</p>" });
    expect(run.stderr).toBe("");
  });

  test("a closed stderr changes neither the result nor the exit code", async () => {
    const done = await runShell("article-extractor - --output text 2>&-", { stdin: "<p>word</p>" });
    expect(done).toEqual({ exitCode: 0, stdout: "word\n", stderr: "" });
    expect((await runShell("article-extractor --file missing.html 2>&-")).exitCode).toBe(1);
  });

  test("a closed stdin is an empty one", async () => {
    const run = await runShell("article-extractor - <&-");
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: "error: standard input is empty\n" });
  });
});

describe("interrupted", () => {
  /** Starts the program, sends the signal once `isReady` says so, and waits for the end. */
  async function interrupt(
    args: readonly string[],
    options: {
      readonly cwd: string;
      readonly isReady: (pid: number) => boolean | Promise<boolean>;
      readonly signal?: NodeJS.Signals;
    },
  ) {
    requireBinary();
    const child = Bun.spawn([BINARY, ...args], {
      cwd: options.cwd,
      env: cleanEnvironment(),
      stdin: "pipe", // nobody writes, nobody closes
      stdout: "pipe",
      stderr: "pipe",
      timeout: 100_000,
      killSignal: "SIGKILL",
    });
    while (!(await options.isReady(child.pid))) await Bun.sleep(10);
    child.kill(options.signal ?? "SIGINT");
    const stderr = await new Response(child.stderr).text();
    return { exitCode: await child.exited, stdout: await new Response(child.stdout).text(), stderr };
  }

  const INTERRUPTED = { exitCode: 130, stdout: "", stderr: "error: interrupted\n" };

  /** A server that takes requests and never answers. */
  function silentServer() {
    let requests = 0;
    const server = serveLocal(() => {
      requests++;
      return new Promise<Response>(() => {});
    });
    return {
      url: server.url.href,
      hasRequest: () => requests > 0,
      [Symbol.asyncDispose]: () => server.stop(true),
    };
  }

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`by ${signal} during a fetch: exit code 130, one line, no file left of -o`, async () => {
      await using server = silentServer();
      using directory = temporaryDirectory();
      const run = await interrupt([server.url, "-o", "out.json"], {
        cwd: directory.path,
        isReady: server.hasRequest,
        signal,
      });
      expect(run).toEqual(INTERRUPTED);
      expect(await readdir(directory.path)).toEqual([]);
    });
  }

  test("during a list: exit code 130 and one line", async () => {
    await using server = silentServer();
    using directory = temporaryDirectory();
    await writeFile(
      join(directory.path, "list"),
      `${server.url}\n${server.url}x\n${server.url}y\n${server.url}z\n`,
    );
    const run = await interrupt(["--input-file", "list"], {
      cwd: directory.path,
      isReady: server.hasRequest,
    });
    expect(run).toEqual({
      ...INTERRUPTED,
      stderr: "error: interrupted; 4 of 4 pages left; --resume continues with a file that holds the lines\n",
    });
  });

  // How far the program is cannot be seen from outside here, but that it waits for SIGINT can.
  const soon = async (pid: number): Promise<boolean> => {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => null);
    const caught = /^SigCgt:\s*(\w+)$/m.exec(status ?? "")?.[1];
    if (caught !== undefined && (BigInt(`0x${caught}`) & 2n) === 0n) return false;
    await Bun.sleep(300);
    return true;
  };

  for (const args of [["-"], ["--input-file", "-"], ["--file", "/dev/stdin"]]) {
    test(`while ${args.join(" ")} waits for a pipe that stays silent`, async () => {
      using directory = temporaryDirectory();
      const run = await interrupt([...args, "-o", "out.json"], { cwd: directory.path, isReady: soon });
      expect(run).toEqual(INTERRUPTED);
      expect(await readdir(directory.path)).toEqual([]);
    });
  }

  for (const args of [
    ["--file", "pipe"],
    ["--file", "page.html", "-o", "pipe"],
    ["--file", "page.html", "--env-file", "pipe"],
    ["crawl", "http://127.0.0.1:9/", "--output-dir", "pages", "-q", "--sitemap", "pipe"],
  ])
    test(`while ${args.at(-2)} waits for a named pipe that nobody opens`, async () => {
      using directory = temporaryDirectory();
      await writeFile(join(directory.path, "page.html"), "<p>word</p>");
      await runShell("mkfifo pipe", { cwd: directory.path });
      const { exitCode, stderr } = await interrupt(args, { cwd: directory.path, isReady: soon });
      expect([exitCode, stderr.split("\n").at(-2)]).toEqual([130, "error: interrupted"]);
    });

  test("while --sitemap waits for more of a named pipe", async () => {
    using directory = temporaryDirectory();
    const script = `
      mkfifo pipe; { printf '<urlset>'; exec sleep 100; } > pipe & writer=$!
      article-extractor crawl http://127.0.0.1:9/ --output-dir pages --sitemap pipe & program=$!
      until [ -e pages ]; do sleep 0.1; done
      kill -INT $program; wait $program; code=$?; kill $writer; exit $code`;
    const { exitCode, stderr } = await runShell(script, { cwd: directory.path });
    expect([exitCode, stderr.split("\n").at(-2)]).toEqual([130, "error: interrupted"]);
  });

  test("while nobody reads the result", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "large.html"), largePage());
    const script = `
      mkfifo out; { head -c 1 > begun; exec sleep 100; } < out & reader=$!
      article-extractor --file large.html > out & program=$!
      until [ -s begun ]; do sleep 0.1; done
      kill -INT $program; wait $program; code=$?; kill $reader; exit $code`;
    // A shell without job control starts background programs with SIGINT ignored; the program asks for it.
    const run = await runShell(script, { cwd: directory.path });
    expect(run).toEqual(INTERRUPTED);
  });
});
