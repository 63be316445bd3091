import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { BINARY, cleanEnvironment, requireBinary, runShell } from "../support/binary.ts";

const PAGE = "<html lang=en><p>The mill stands by the weir.</p></html>";
const OPTIMISER_IS_OFF = "\0BUN_JSC_useDFGJIT=0\0";

const environmentOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/environ`, "utf8");

/** Runs the program with an open standard input, and tells its environment once it is told to compile less. */
async function runWaiting(words: readonly string[], looks: number) {
  requireBinary();
  const run = Bun.spawn({
    cmd: [BINARY, "--output", "text", "--quiet", ...words],
    env: cleanEnvironment(),
    stdin: "pipe",
    stdout: "pipe",
  });
  let environment = "";
  for (let look = 0; look < looks && !environment.includes(OPTIMISER_IS_OFF); look++) {
    await sleep(20);
    environment = await environmentOf(run.pid);
  }
  run.stdin.write(PAGE);
  await run.stdin.end();
  return { environment, stdout: await new Response(run.stdout).text(), exitCode: await run.exited };
}

test.skipIf(process.platform !== "linux")(
  "a program that extracts one page begins again in its process, without what optimises long runs",
  async () => {
    const run = await runWaiting([], 500);
    expect(run.environment).toContain(OPTIMISER_IS_OFF);
    expect([run.stdout, run.exitCode]).toEqual(["The mill stands by the weir.\n", 0]);
  },
);

test.skipIf(process.platform !== "linux")(
  "a program that extracts several pages keeps what optimises long runs",
  async () => {
    const run = await runWaiting(["--file", "-", "--file", "/nowhere"], 25);
    expect(run.environment).not.toContain(OPTIMISER_IS_OFF);
    expect(run.stdout).toContain("The mill stands by the weir.");
  },
);

test("a file that the shell has opened is read", async () => {
  const run = await runShell(`article-extractor -q --output text --file <(echo '${PAGE}')`, {
    shell: "bash",
  });
  expect(run).toEqual({ exitCode: 0, stdout: "The mill stands by the weir.\n", stderr: "" });
});

test("words, input and exit codes are the same where the program begins again", async () => {
  const run = await runShell(`
    echo '${PAGE}' > 'a  page "of" $words.html'
    article-extractor -q --output text --file 'a  page "of" $words.html'; echo "$?"
    article-extractor -q --output text < 'a  page "of" $words.html'; echo "$?"
    article-extractor -q --output text --file missing.html; echo "$?"
    article-extractor -q --output text --select b --file 'a  page "of" $words.html'; echo "$?"`);
  expect(run.stdout.split("\n").filter((line) => line !== "")).toEqual([
    "The mill stands by the weir.",
    "0",
    "The mill stands by the weir.",
    "0",
    "1",
    "1",
  ]);
});
