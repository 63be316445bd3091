import { expect, test } from "bun:test";
import { COMMAND_NAMES } from "../../src/cli/commands.ts";
import { runCommand } from "../support/command.ts";
import { documentedBlocks } from "../support/documented.ts";
import { SAMPLE_PORTS } from "../support/sample-site.ts";
import { Typist } from "../support/typed-examples.ts";

const FILE = "src/cli/skill.md";
const typist = await Typist.open();
const terminal = typist.openTerminal(FILE);
const SITE = `http://localhost:${SAMPLE_PORTS.http}`;
const [blocks, printed] = [await documentedBlocks(FILE), await runCommand(["skill"])];

test("the skill is printed with the name and description by which an agent finds it", () => {
  const [, matter = ""] = /^---\n([\s\S]*?)\n---\n/.exec(printed.stdout) ?? [];
  const { name, description } = Bun.YAML.parse(matter) as Readonly<Record<string, string>>;
  expect(name).toBe("article-extractor");
  expect(description?.length).toBeWithin(100, 1024);
  // An agent reads all of it whenever it uses it.
  expect(printed.stdout.length).toBeLessThan(4000);
});

test("it names commands that are there", () => {
  const named = [...printed.stdout.matchAll(/article-extractor ([a-z]+)\b/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !COMMAND_NAMES.includes(name))).toEqual([]);
});

test.each(blocks.map(({ text }) => [text.trim().split("\n")[0] ?? "", text]))(
  "%s succeeds",
  async (_, text) => {
    const words = `set -e\nSITE=${SITE}/\nURL=${SITE}/shop/quay-lantern.html\n${text}`;
    const { output, exitCode } = await typist.type(terminal, words);
    expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
  },
);
