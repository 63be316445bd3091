import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { COMMANDS, type Command, CRAWL_COMMAND, EXTRACT_COMMAND } from "../../src/cli/commands.ts";
import { runBinary, runShell } from "../support/binary.ts";
import { folderTenant } from "../support/deployment.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const offeredBy = ({ flags }: Command) => flags;
const ALL_OFFERED = COMMANDS.flatMap(offeredBy);

const deploymentOf = (...codenames: string[]): string =>
  JSON.stringify({ tenants: codenames.map((codename) => folderTenant(codename)) });

/**
 * What bash offers after the words, once the program's completion script is loaded.
 * @param words as typed, the last one being the one at the cursor ("" for a new one)
 * @param cwd where files are offered from
 */
async function bashOffers(words: readonly string[], cwd: string): Promise<string[]> {
  const quoted = ["article-extractor", ...words].map((word) => `'${word}'`).join(" ");
  const run = await runShell(
    `set -eu
     source <(article-extractor completions bash)
     complete -p article-extractor > /dev/null
     COMP_WORDS=(${quoted})
     COMP_CWORD=${words.length}
     _article_extractor || true
     printf '%s\\n' "\${COMPREPLY[@]}"`,
    { shell: "bash", cwd },
  );
  if (run.stderr !== "") throw new Error(run.stderr);
  return run.stdout.split("\n").filter((offer) => offer !== "");
}

describe.skipIf(Bun.which("bash") === null)("bash (needs bash)", () => {
  test.each([
    ["", COMMANDS.map(({ name }) => name).join(", ")],
    ["ex", "extract"],
    ["--no-", "--no-images, --no-code, --no-native-markdown, --no-system-ca, --no-browser, --no-color"],
    ["--output ", "json, markdown, text, html, csv, chunks"],
    ["--output m", "markdown"],
    ["--log-format ", "json, text"],
    ["completions ", "bash, zsh, fish"],
    ["completions z", "zsh"],
    ["--file two", "two words.html"],
    ["-o fol", "folder"],
    ["--select ", ""],
    ["--head", "--headed, --header"],
    ["cr", "crawl"],
    [
      "crawl --no-",
      "--no-follow-links, --no-images, --no-code, --no-native-markdown, --no-system-ca, --no-browser, --no-color",
    ],
    ["crawl --max-", "--max-pages, --max-depth, --max-failures, --max-bytes, --max-tokens"],
    ["crawl --output-dir fol", "folder"],
    ["crawl --sitemap two", "two words.html"],
    ["crawl --seed ", ""],
    ["licenses --max-", ""],
    ["help cr", "crawl"],
    // What was given is not offered again, by its letter neither, unless it may be repeated.
    ["--no-images --no-", "--no-code, --no-native-markdown, --no-system-ca, --no-browser, --no-color"],
    ["-q --qu", "--query"],
    ["--quiet -q", ""],
    ["https://h.example/ --exclude nav --exc", "--exclude"],
    ["--select --no-code --no-c", "--no-code, --no-color"],
    ["index ", "export, handbook, house, import, tool"],
    ["index imp", "import"],
    ["index export fol", "folder"],
    ["index house exp", ""],
    ["index ho", "house"],
    ["sync handbook ", "house, tool"],
    ["index --config other.json ", "other"],
    ["index --config = other.json ", "other"],
    ["index --config missing.json ", ""],
    ["search h", "handbook, house"],
    ["search --size 3 --json to", "tool"],
    ["search tool h", ""],
    ["fetch ", "handbook, house, tool"],
    ["crawl h", ""],
  ])("after %j offers %s", async (words, offers) => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "two words.html"), "");
    await mkdir(join(directory.path, "folder"));
    await writeFile(join(directory.path, "deployment.json"), deploymentOf("handbook", "house", "tool"));
    await writeFile(join(directory.path, "other.json"), deploymentOf("other"));
    const wanted = offers === "" ? [] : offers.split(", ");
    expect((await bashOffers(words.split(" "), directory.path)).sort()).toEqual(wanted.sort());
  });

  test.each([
    [["--"], EXTRACT_COMMAND],
    [["extract", "--"], EXTRACT_COMMAND],
    [["crawl", "https://h.example/", "--"], CRAWL_COMMAND],
  ])("after %p offers every option of the help", async (words, command) => {
    using directory = temporaryDirectory();
    const offers = await bashOffers(words, directory.path);
    expect(offers.sort()).toEqual(
      offeredBy(command)
        .map(({ name }) => `--${name}`)
        .sort(),
    );
  });

  describe.skipIf(Bun.which("script") === null)("at a prompt (needs script)", () => {
    /** What appears when the line is typed in a fresh directory with one file, its tabulators included. */
    async function typeLine(line: string): Promise<string> {
      using directory = temporaryDirectory();
      await writeFile(join(directory.path, "two words.html"), "<p>word</p>");
      const run = await runShell("script -qec 'bash --norc --noprofile -i' /dev/null", {
        stdin: `source <(article-extractor completions bash)\n${line}\nexit\n`,
        cwd: directory.path,
      });
      return run.stdout;
    }

    test("an option is completed", async () => {
      // Alone, --vers would be an unknown option.
      const screen = await typeLine("article-extractor --vers\t");
      expect(screen).toContain(`\narticle-extractor ${manifest.version}\r\n`);
    });

    test("a file name with a space is completed and quoted", async () => {
      expect(await typeLine("article-extractor --output text -q --file tw\t")).toContain("\nword\r\n");
    });
  });

  test("completes words after --output=", async () => {
    using directory = temporaryDirectory();
    // Readline breaks words at "=", so the program's function sees three.
    expect(await bashOffers(["--output", "=", "te"], directory.path)).toEqual(["text"]);
    expect((await bashOffers(["--output", "="], directory.path)).sort()).toEqual([
      "chunks",
      "csv",
      "html",
      "json",
      "markdown",
      "text",
    ]);
  });
});

for (const shell of ["zsh", "fish"]) {
  test.skipIf(Bun.which(shell) === null)(`the ${shell} script parses (needs ${shell})`, async () => {
    const run = await runShell(`article-extractor completions ${shell} > script && ${shell} -n script`);
    expect(run).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test(`the ${shell} script names every option, its values and every command`, async () => {
    const { stdout } = await runBinary(["completions", shell]);
    for (const { name } of ALL_OFFERED) expect(stdout).toMatch(new RegExp(`(?:-l |--)${name}\\b`));
    for (const choice of ALL_OFFERED.flatMap(({ choices }) => choices ?? []))
      expect(stdout).toContain(choice);
    for (const { name } of COMMANDS) expect(stdout).toContain(name);
  });
}

test.skipIf(Bun.which("fish") === null)("fish offers tenants, and no option twice (needs fish)", async () => {
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, "deployment.json"), deploymentOf("handbook", "tool"));
  const offers = async (line: string): Promise<string[]> => {
    const run = await runShell(
      `article-extractor completions fish > script && fish -c 'source script; complete -C "article-extractor ${line}"'`,
      { cwd: directory.path, env: { HOME: directory.path } },
    );
    return run.stdout.split("\n").flatMap((offer) => (offer === "" ? [] : [offer.split("\t")[0] ?? ""]));
  };
  expect((await offers("index ")).filter((offer) => !/^-/.test(offer))).toEqual([
    "export",
    "handbook",
    "import",
    "tool",
  ]);
  expect((await offers("--no-images --no-")).sort()).toEqual([
    "--no-browser",
    "--no-code",
    "--no-color",
    "--no-native-markdown",
    "--no-system-ca",
  ]);
  expect(await offers("-q --qu")).toEqual(["--query"]);
  expect(await offers("--exclude a --excl")).toEqual(["--exclude"]);
});

const REFUSED: readonly (readonly [args: readonly string[], message: string])[] = [
  [["completions"], "completions takes one shell: bash, zsh, fish"],
  [["completions", "bash", "zsh"], "completions takes one shell: bash, zsh, fish"],
  [["completions", "bsh"], 'completions exist for bash, zsh, fish, not "bsh"; did you mean bash?'],
];
for (const [args, message] of REFUSED) {
  test(`${args.join(" ")} is refused with exit code 2`, async () => {
    expect(await runBinary(args)).toEqual({ exitCode: 2, stdout: "", stderr: `error: ${message}\n` });
  });
}
