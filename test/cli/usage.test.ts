import { expect, test } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { runBinary } from "../support/binary.ts";

// What each word means, test/unit/cli/usage.test.ts tries in one process.
test.each([
  [["--ouput", "json"], 2, "unknown option --ouput; did you mean --output?"],
  [["crawl"], 2, "crawl needs at least one URL to start from, or a --sitemap"],
  [[], 1, "standard input is empty"],
  [
    ["search", "docs", "gate", "--version", "4"],
    2,
    "--version prints the program's version; --library NAME@4 or --filter version:4 searches one of the documentation",
  ],
])("%j exits with %d and one line", async (words, exitCode, message) => {
  expect(await runBinary(words)).toEqual({ exitCode, stdout: "", stderr: `error: ${message}\n` });
});

test("licenses names the program, the runtime and every production dependency with its text", async () => {
  const { exitCode, stdout, stderr } = await runBinary(["licenses"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  const parts = stdout.split(/^=+$/m).map((part) => part.trim());
  for (const name of [manifest.name, "Bun", ...Object.keys(manifest.dependencies)]) {
    const part = parts.find((each) => each.startsWith(`${name} `));
    expect([name, part]).toEqual([name, expect.stringMatching(/^\S+ \d[\w.-]*\nLicen[cs]e: \S/)]);
  }
  // A licence is more than its name, though a few packages hold no more.
  expect(parts.filter((part) => part.length > 500).length).toBeGreaterThan(parts.length - 12);
});
