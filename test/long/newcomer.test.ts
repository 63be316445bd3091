import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { documentedBlocks, shownCommands } from "../support/documented.ts";
import { freePort, serveLocal } from "../support/local.ts";
import { registrySettings } from "../support/registry-settings.ts";
import { freePorts, SAMPLE_PORTS } from "../support/sample-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openTerminal } from "../support/terminal.ts";
import { untilTrue } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const TOOLS = ["git", "make", "npm", "node"];
/** It installs Bun and all packages from their registry. */
const PATIENCE_MS = 600_000;

/** The lines of README that lead to the first page that is extracted, each with what README shows for it. */
async function firstLines() {
  const lines: { readonly typed: string; readonly output: string }[] = [];
  for (const { language, text } of await documentedBlocks("README.md")) {
    if (language === "sh") for (const typed of text.trim().split("\n")) lines.push({ typed, output: "" });
    if (language !== "console") continue;
    const [typed = "", ...output] =
      text
        .replace(/^\$ /, "")
        .split(/\n(?=\$ )/)[0]
        ?.trimEnd()
        .split("\n") ?? [];
    return [...lines, { typed, output: output.join("\n") }];
  }
  return lines;
}

/** What a terminal shows, without progress that was wiped out, the shell's lines on jobs, its width and the time. */
const shownText = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own
    .replace(/\r\x1b\[K[^\r]*(?=\r\x1b\[K)|\r\x1b\[K/g, "")
    .replace(/^\[\d\][+-]? .*\n/gm, "")
    .replace(/\s+/g, " ")
    .replace(/\bin [\d.]+ m?s\b/g, "in … s")
    .trim();

/** README's commands below its first page, each with what README shows for it. */
async function laterLines() {
  const [, ...blocks] = (await documentedBlocks("README.md")).filter(
    ({ language }) => language === "console",
  );
  return blocks.flatMap(({ text }) => shownCommands(text));
}

test.skipIf(TOOLS.some((tool) => Bun.which(tool) === null))(
  "a person with a new machine, git and make types README's lines and sees what it shows",
  async () => {
    using machine = temporaryDirectory();
    const home = join(machine.path, "home");
    mkdirSync(home);
    const folders = TOOLS.map((tool) => dirname(Bun.which(tool) ?? ""));
    const environment = {
      HOME: home,
      PATH: [...new Set([...folders, "/usr/bin", "/bin"])].join(":"),
      TMPDIR: machine.path,
      ...registrySettings(),
      // Who runs the tests may be another user than the owner of the repository.
      ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" },
    };
    await using terminal = await openTerminal(home, environment);
    await terminal.type(`git clone --quiet ${ROOT} article-extractor && cd article-extractor`);
    const lines = (await firstLines()).filter(({ typed }) => !/^(?:git clone|cd) /.test(typed));
    const setUp = lines.slice(0, -1).map(({ typed }) => typed);
    expect(setUp).toContainEqual(expect.stringMatching(/^make install\b/));
    for (const { typed, output } of lines) {
      const shown = await terminal.type(typed);
      expect({ typed, shown, status: await terminal.type("echo $?") }).toEqual({
        typed,
        shown: output === "" ? expect.any(String) : `${output}\n`,
        status: "0\n",
      });
    }
    expect(lines.at(-1)?.output).toMatch(/\w+ \w+ \w+/);
    expect(await terminal.type("command -v article-extractor")).toBe(
      `${home}/.local/bin/article-extractor\n`,
    );
    expect(await terminal.type("man -w article-extractor || ls ~/.local/share/man/man1")).toContain(
      "article-extractor.1",
    );

    const port = freePorts();
    await using second = await openTerminal(join(home, "article-extractor"), environment);
    await second.type(`make sample-site PORT=${port} &`);
    await untilTrue(() => fetch(`http://localhost:${port}/`).then(Boolean, () => false));
    const ports = new Map([[String(SAMPLE_PORTS.http), String(port)]]);
    const here = (text: string): string =>
      text.replace(/(?<!\d)38\d{3}(?!\d)/g, (named) => {
        if (!ports.has(named)) ports.set(named, String(freePort()));
        return ports.get(named) ?? named;
      });
    await terminal.type("mkdir ~/anywhere && cd ~/anywhere");
    for (const { command, output } of await laterLines()) {
      const shown = await terminal.type(here(command));
      expect({ command, shown: shownText(shown) }).toEqual({ command, shown: shownText(here(output)) });
    }
    await terminal.type("cd ~/article-extractor");

    if (Bun.which("jq") !== null) {
      using site = serveLocal(
        () =>
          new Response("<title>Tides</title><main><p>The sea rises.", {
            headers: { "content-type": "text/html" },
          }),
      );
      const inputs = `INPUT_URL=${site.url} GITHUB_OUTPUT=~/outputs RUNNER_TOOL_CACHE=~/tools RUNNER_TEMP=$TMPDIR`;
      const shown = await terminal.type(`${inputs} sh scripts/ci/action.sh && cat ~/outputs article.md`);
      // The action of this copy has nothing to download, and builds.
      expect(shown).toContain(`as ${home}/tools/article-extractor/`);
      expect(shown).toEndWith("markdown=article.md\ntitle=Tides\nwords=3\n# Tides\n\nThe sea rises.\n");
    }
    await terminal.type("make uninstall");
    expect(await terminal.type("find ~/.local -type f")).toBe("");
  },
  PATIENCE_MS,
);
