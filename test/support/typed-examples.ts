import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ParseError, parse as parseJson } from "jsonc-parser";
import { type DocumentedBlock, type ShownCommand, shownCommands } from "./documented.ts";
import { forAllTests } from "./for-all-tests.ts";
import { freePort } from "./local.ts";
import { SAMPLE_PORTS, serveSampleSite } from "./sample-site.ts";
import { temporaryDirectory } from "./temporary.ts";

const ROOT = join(import.meta.dir, "../..");

/** How long something took is another matter every time. */
const withoutTimes = (text: string): string => text.replace(/\bin [\d.]+ m?s\b/g, "in … s");

/** The terminal of one page: its folder is empty at first, and variables and folder stay from block to block. */
type Terminal = { readonly path: string; readonly home: string };

/** Types examples as a reader does: in an empty folder, in one terminal for a page, beside the sample site. */
export class Typist {
  readonly #folder = forAllTests(temporaryDirectory()).path;
  readonly #portOf: Map<string, string>;

  private constructor(portOf: Map<string, string>) {
    this.#portOf = portOf;
  }

  /** Serves the sample site until the file's tests are through. */
  static async open(): Promise<Typist> {
    const site = forAllTests(await serveSampleSite({ http: 0, https: 0 }));
    return new Typist(
      new Map([
        [String(SAMPLE_PORTS.http), new URL(site.http.origin).port],
        [String(SAMPLE_PORTS.https), new URL(site.https.origin).port],
      ]),
    );
  }

  openTerminal(page: string): Terminal {
    const path = join(this.#folder, page.replaceAll("/", "-"), "empty");
    const home = join(path, "../home");
    mkdirSync(path, { recursive: true });
    mkdirSync(home);
    writeFileSync(join(home, "session"), "");
    // README is read in its clone, every other page anywhere.
    if (page === "README.md") symlinkSync(join(ROOT, "test"), join(path, "test"));
    return { path, home };
  }

  /** Declares a test of each block of a page, in their order, as somebody reads them. */
  describeExamples(page: string, blocks: readonly DocumentedBlock[]): void {
    describe(page, async () => {
      const terminal = this.openTerminal(page);
      for (const [at, block] of blocks.entries()) {
        const { language, text, whyNotRun } = block;
        const name = `${at + 1}: ${text.trimEnd().split("\n").at(-1)?.slice(0, 80)}`;
        const file = fileOf(block);
        const isLeftOut =
          whyNotRun !== null || (/\bcurl\b|deployment\.json/.test(text) && Bun.which("curl") === null);
        if (file !== null) await Bun.write(join(terminal.path, file), this.#withFreePorts(text));
        if (language === "sh")
          test.skipIf(isLeftOut)(`${name} succeeds${whyNotRun ? ` (${whyNotRun})` : ""}`, async () => {
            const { output, exitCode } = await this.type(terminal, `set -e\n${text}`);
            expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
          });
        if (language === "console")
          test.skipIf(isLeftOut)(`${name} gives the output shown`, async () => {
            const shown = shownCommands(text);
            const expected = shown.map(({ command, output }) => ({
              command,
              output: withoutTimes(this.#withFreePorts(output)),
            }));
            expect(await this.#typeEach(terminal, shown)).toEqual(expected);
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

  async type({ path, home }: Terminal, commands: string): Promise<{ output: string; exitCode: number }> {
    const script = withEndingServers(this.#withFreePorts(commands));
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
  async #typeEach(terminal: Terminal, shown: readonly ShownCommand[]): Promise<readonly ShownCommand[]> {
    const MARK = "\x1e";
    const script = shown.map(({ command }) => `${command}\nprintf '${MARK}'`).join("\n");
    const outputs = (await this.type(terminal, script)).output.split(MARK);
    return shown.map(({ command }, at) => ({ command, output: withoutTimes(outputs[at] ?? "").trimEnd() }));
  }

  /** The examples' ports, each with one that is free now: the same tests may run beside these, and others. */
  #withFreePorts(text: string): string {
    return text.replace(/(?<!\d)38\d{3}(?!\d)/g, (port) => {
      if (!this.#portOf.has(port)) this.#portOf.set(port, String(freePort()));
      return this.#portOf.get(port) ?? port;
    });
  }
}

/** A server that an example starts in front is asked whether it is ready, and ended. */
const withEndingServers = (commands: string): string =>
  commands.replace(/^(article-extractor serve [^&#\n]*?)(?: +#.*)?$/gm, (_, command: string) => {
    const port = freePort();
    const own = command.replace(/ --(?:host|port) \S+/g, "");
    return `${own} --host 127.0.0.1 --port ${port} 2> "$HOME/log" & served=$!
tries=0; until curl -s 127.0.0.1:${port}/ready > "$HOME/ready"; do kill -0 $served; tries=$((tries+1)); [ $tries -lt 400 ]; sleep 0.1; done
kill $served; wait $served`;
  });

export const isTyped = ({ language, whyNotRun }: DocumentedBlock): boolean =>
  (language === "sh" || language === "console") && whyNotRun === null;

/** What a reader types of a block: of a `console` block its commands. */
export const typedText = ({ language, text }: DocumentedBlock): string =>
  language === "console"
    ? shownCommands(text)
        .map(({ command }) => command)
        .join("\n")
    : text;

/** The name of a file that a block gives in its first line, for the commands below it. */
export const fileOf = ({ language, text }: DocumentedBlock): string | null =>
  language === "console"
    ? null
    : (/^(?:#|\/\/) ([\w./-]+\.(?:json|txt|sh|yaml|yml|toml|py|md))\n/.exec(text)?.[1] ?? null);
