import { expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withTables } from "../scripts/readme.ts";

const ROOT = join(import.meta.dir, "..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

/** The examples of the README: commands after `$ `, each with the output that the README shows. */
function readExamples(): { readonly commands: string; readonly output: string }[] {
  return [...readme.matchAll(/```console\n([^]*?)```/g)].map(([, block = ""]) => {
    const lines = block.trimEnd().split("\n");
    const isCommand = (line: string): boolean => line.startsWith("$ ");
    return {
      commands: lines
        .filter(isCommand)
        .map((line) => line.slice(2))
        .join("\n"),
      output: lines.filter((line) => !isCommand(line)).join("\n"),
    };
  });
}

test("the README's tables are what the program declares", () => {
  expect(withTables(readme)).toBe(readme);
});

test("the README has examples with output", () => {
  expect(readExamples().length).toBeGreaterThan(3);
});

for (const { commands, output } of readExamples()) {
  test(`the README's example gives the output shown: ${commands.split("\n").at(-1)}`, async () => {
    const directory = await mkdtemp(join(tmpdir(), "readme-"));
    try {
      await symlink(join(ROOT, "test"), join(directory, "test"));
      const shell = Bun.spawn(["sh", "-c", `{ ${commands}\n} 2>&1`], {
        cwd: directory,
        env: { PATH: `${join(ROOT, "dist")}:${process.env.PATH}` },
        stdout: "pipe",
      });
      expect((await new Response(shell.stdout).text()).trimEnd()).toBe(output);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
}
