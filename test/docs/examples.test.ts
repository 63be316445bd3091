import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ParseError, parse as parseJson } from "jsonc-parser";
import {
  type DocumentedBlock,
  documentedBlocks,
  documentedPages,
  type ShownCommand,
  shownCommands,
} from "../support/documented.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { freePort } from "../support/local.ts";
import { SAMPLE_PORTS, serveSampleSite } from "../support/sample-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

// The examples are typed as a reader types them: in an empty folder, in one terminal for a page, with the sample site
// served beside them where the page says how.
const ROOT = join(import.meta.dir, "../..");
const folder = forAllTests(temporaryDirectory()).path;
const site = forAllTests(await serveSampleSite({ http: 0, https: 0 }));

const portOf = new Map<string, string>([
  [String(SAMPLE_PORTS.http), new URL(site.http.origin).port],
  [String(SAMPLE_PORTS.https), new URL(site.https.origin).port],
]);
/** The examples' ports, each with one that is free now: the same tests may run beside these, and others. */
const withFreePorts = (text: string): string =>
  text.replace(/(?<!\d)38\d{3}(?!\d)/g, (port) => {
    if (!portOf.has(port)) portOf.set(port, String(freePort()));
    return portOf.get(port) ?? port;
  });

/** A server that an example starts in front is asked whether it is ready, and ended. */
const withEndingServers = (commands: string): string =>
  commands.replace(/^(article-extractor serve [^&#\n]*?)(?: +#.*)?$/gm, (_, command: string) => {
    const port = freePort();
    const own = command.replace(/ --(?:host|port) \S+/g, "");
    return `${own} --host 127.0.0.1 --port ${port} 2> "$HOME/log" & served=$!
tries=0; until curl -s 127.0.0.1:${port}/ready > "$HOME/ready"; do kill -0 $served; tries=$((tries+1)); [ $tries -lt 400 ]; sleep 0.1; done
kill $served; wait $served`;
  });

/** How long something took is another matter every time. */
const withoutTimes = (text: string): string => text.replace(/\bin [\d.]+ m?s\b/g, "in … s");

/** The terminal of one page: its folder is empty at first, and variables and folder stay from block to block. */
type Terminal = { readonly path: string; readonly home: string };

function openTerminal(page: string): Terminal {
  const path = join(folder, page.replaceAll("/", "-"), "empty");
  const home = join(path, "../home");
  mkdirSync(path, { recursive: true });
  mkdirSync(home);
  writeFileSync(join(home, "session"), "");
  // README is read in its clone, every other page anywhere.
  if (page === "README.md") symlinkSync(join(ROOT, "test"), join(path, "test"));
  return { path, home };
}

async function type(
  { path, home }: Terminal,
  commands: string,
): Promise<{ output: string; exitCode: number }> {
  const script = withEndingServers(withFreePorts(commands));
  const keep = `keep() { { export -p; printf 'cd "%s"\\n' "$PWD"; } > "$HOME/session"; }; trap keep EXIT`;
  const shell = Bun.spawn(["sh", "-c", `exec 2>&1; . "$HOME/session"; ${keep}\n${script}\n`], {
    cwd: path,
    env: {
      PATH: `${join(ROOT, "dist")}:${process.env.PATH}`,
      HOME: home,
      // What the examples show does not depend on these, how long they take does; test/long/examples.test.ts does without.
      ...(process.env.EXAMPLES_AS_INSTALLED !== "1" && {
        ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
        ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0.01",
      }),
    },
    stdin: "ignore",
    stdout: "pipe",
  });
  return { output: await new Response(shell.stdout).text(), exitCode: await shell.exited };
}

/** Types the commands one after another, and gives each with its own output. */
async function typeEach(
  terminal: Terminal,
  shown: readonly ShownCommand[],
): Promise<readonly ShownCommand[]> {
  const MARK = "\x1e";
  const script = shown.map(({ command }) => `${command}\nprintf '${MARK}'`).join("\n");
  const outputs = (await type(terminal, script)).output.split(MARK);
  return shown.map(({ command }, at) => ({ command, output: withoutTimes(outputs[at] ?? "").trimEnd() }));
}

const isTyped = ({ language, whyNotRun }: DocumentedBlock): boolean =>
  (language === "sh" || language === "console") && whyNotRun === null;

/** What a reader types of a block: of a `console` block its commands. */
const typedText = ({ language, text }: DocumentedBlock): string =>
  language === "console"
    ? shownCommands(text)
        .map(({ command }) => command)
        .join("\n")
    : text;

/** The name of a file that a block gives in its first line, for the commands below it. */
const fileOf = ({ language, text }: DocumentedBlock): string | null =>
  language === "console"
    ? null
    : (/^(?:#|\/\/) ([\w./-]+\.(?:json|txt|sh|yaml|yml|toml|py|md))\n/.exec(text)?.[1] ?? null);

/** Hosts that are nobody's, or that not every reader reaches. */
const FOREIGN_ADDRESS = /https?:\/\/(?!localhost[:/]|127\.0\.0\.1[:/])[^\s'"`]+/g;
const SAMPLE_SITE = new RegExp(`localhost:(?:${Object.values(SAMPLE_PORTS).join("|")})`);
const SAYS_HOW_TO_SERVE_IT = /make sample-site|start\.md#a-site-to-try-it-on/;

const pages = await Promise.all(
  (await documentedPages()).map(async (page) => ({ page, blocks: await documentedBlocks(page) })),
);

/** The examples that cannot run in this test, and are run by no other: there are no more of them than these. */
const NOT_RUN_ANYWHERE = 9;

test("commands that do not run here name the test that runs them, or one of few reasons", () => {
  const reasons = pages.flatMap(({ page, blocks }) =>
    blocks.flatMap(({ whyNotRun }) => (whyNotRun === null ? [] : [`${page}: ${whyNotRun}`])),
  );
  const elsewhere = reasons.filter((why) => /: (?:test\/|make test)/.test(why));
  const missing = elsewhere.filter((why) => {
    const path = /: (test\/[\w./-]+)/.exec(why)?.[1]?.replace(/\.$/, "");
    return path !== undefined && !existsSync(join(ROOT, path));
  });
  expect(missing).toEqual([]);
  const others = reasons.filter((why) => !elsewhere.includes(why));
  expect(others.length > NOT_RUN_ANYWHERE ? others : []).toEqual([]);
});

test("examples ask only for what every reader has: the sample site, and where it comes from stands above them", () => {
  const faults = pages.flatMap(({ page, blocks }) =>
    blocks.flatMap((block) => {
      if (!isTyped(block) && fileOf(block) === null) return [];
      const typed = typedText(block);
      const foreign = typed.match(FOREIGN_ADDRESS) ?? [];
      const isUnexplained = SAMPLE_SITE.test(typed) && !SAYS_HOW_TO_SERVE_IT.test(block.above);
      return [
        ...foreign.map((address) => `${page} asks ${address}`),
        ...(isUnexplained ? [`${page} does not say how to serve the sample site`] : []),
      ];
    }),
  );
  expect(faults).toEqual([]);
});

/** The commands in the tables of a page, but for those in the first column, which names what somebody comes from. */
async function tabledCommands(page: string): Promise<readonly string[]> {
  const rows = (await Bun.file(join(ROOT, page)).text()).match(/^\|.*\|$/gm) ?? [];
  const commands = rows.flatMap((row) => {
    const others = row.replace(/^\|(?:\\\||[^|])*\|/, "");
    return others.match(/(?<=`)article-extractor [^`]*--[^`]*(?=`)/g) ?? [];
  });
  return [...new Set(commands)];
}

// The blocks of a page are typed in their order, as somebody reads them; a page's tables come after them.
for (const { page, blocks } of pages) {
  describe(page, async () => {
    const terminal = openTerminal(page);
    for (const [at, block] of blocks.entries()) {
      const { language, text, whyNotRun } = block;
      const name = `${at + 1}: ${text.trimEnd().split("\n").at(-1)?.slice(0, 80)}`;
      const file = fileOf(block);
      if (file !== null) await Bun.write(join(terminal.path, file), withFreePorts(text));
      if (language === "sh")
        test.skipIf(whyNotRun !== null)(`${name} succeeds${whyNotRun ? ` (${whyNotRun})` : ""}`, async () => {
          const { output, exitCode } = await type(terminal, `set -e\n${text}`);
          expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
        });
      if (language === "console")
        test.skipIf(whyNotRun !== null)(`${name} gives the output shown`, async () => {
          const shown = shownCommands(text);
          const expected = shown.map(({ command, output }) => ({
            command,
            output: withoutTimes(withFreePorts(output)),
          }));
          expect(await typeEach(terminal, shown)).toEqual(expected);
        });
      if (language === "toml" || language === "yaml")
        test(`${name} can be read`, () => {
          const read = language === "toml" ? Bun.TOML : Bun.YAML;
          expect(Object.keys(Object(read.parse(text)))).not.toEqual([]);
        });
      if (language === "json")
        test(`${name} is JSON`, () => {
          const errors: ParseError[] = [];
          parseJson(text, errors, { allowTrailingComma: true });
          expect(errors).toEqual([]);
        });
    }
  });
}

describe("the commands in the tables of docs/migration.md", async () => {
  const terminal = openTerminal("docs/migration.md tables");
  const commands = await tabledCommands("docs/migration.md");
  const prepared = (await documentedBlocks("docs/migration.md")).filter(isTyped).map(typedText).join("\n");
  test("are there", () => expect(commands.length).toBeGreaterThan(20));
  test("need only what the page makes above them", async () => {
    const { output, exitCode } = await type(terminal, `set -e\n${prepared}`);
    expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
    expect(commands.flatMap((command) => command.match(FOREIGN_ADDRESS) ?? [])).toEqual([]);
  });
  test.each(commands)("%s succeeds", async (command) => {
    const { output, exitCode } = await type(terminal, command);
    expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
  });
});
