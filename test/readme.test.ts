import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { TABLE_DOCUMENTS, withTables } from "../scripts/readme.ts";
import { forAllTests } from "./support/for-all-tests.ts";
import { startForwardProxy } from "./support/forward-proxy.ts";
import { serveSite } from "./support/site.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const ROOT = join(import.meta.dir, "..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

/** The examples of the README: commands after `$ `, each with the output that the README shows. */
function readExamples(): { readonly commands: string; readonly output: string }[] {
  return [...readme.matchAll(/```console\n([\s\S]*?)```/g)].map(([, block = ""]) => {
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

test.each(TABLE_DOCUMENTS)("the tables of %s are what the program declares", async (path) => {
  const text = await Bun.file(join(ROOT, path)).text();
  expect(withTables(path, text)).toBe(text);
});

test("the README has examples with output", () => {
  expect(readExamples().length).toBeGreaterThan(3);
});

// The site of the examples, under its name: a proxy knows where it is.
const site = forAllTests(await serveSite());
const proxy = forAllTests(
  await startForwardProxy({
    credentials: null,
    hosts: { "weirside.example": new URL(site.origin).host },
  }),
);

const PORTS = /\b3817\d\b/g;
/** The examples' ports, each with one that is free now: the same tests may run beside these, and others. */
const freePorts = new Map([...new Set(readme.match(PORTS))].map((port) => [port, freePort()]));
const withFreePorts = (text: string): string =>
  text.replace(PORTS, (port) => String(freePorts.get(port) ?? port));

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** How long something took is another matter every time. */
const withoutTimes = (text: string): string => text.replace(/\bin [\d.]+ m?s\b/g, "in … s");

for (const { commands, output } of readExamples()) {
  test(`the README's example gives the output shown: ${commands.split("\n").at(-1)}`, async () => {
    using directory = temporaryDirectory();
    await symlink(join(ROOT, "test"), join(directory.path, "test"));
    const shell = Bun.spawn(["sh", "-c", `{ ${withFreePorts(commands)}\n} 2>&1`], {
      cwd: directory.path,
      env: {
        PATH: `${join(ROOT, "dist")}:${process.env.PATH}`,
        HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
        // What the examples show does not depend on it, how long they take does.
        ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
      },
      stdout: "pipe",
    });
    expect(withoutTimes(await new Response(shell.stdout).text()).trimEnd()).toBe(
      withoutTimes(withFreePorts(output)),
    );
  });
}
