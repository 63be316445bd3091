import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { EARLIER_FIELDS, EARLIER_OPTIONS, EARLIER_VARIABLES } from "../../../src/base/earlier-names.ts";
import { Failure } from "../../../src/base/failure.ts";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { readExtractCommand } from "../../../src/cli/commands/pages/extract-options.ts";
import { misspeltVariables, readDeployment, readSettings } from "../../../src/settings/index.ts";

const page = await Bun.file(join(import.meta.dir, "../../../docs/migration.md")).text();
const section = page.slice(page.indexOf("## From the Python"), page.indexOf("## From trafilatura"));

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
  return "";
}

/** What words mean: the command, its arguments and the options with their values. */
function meaningOf(words: readonly string[]): unknown {
  const { command, positionals, has, many } = parseArguments(words);
  const options = command.flags.filter(({ name }) => has(name)).map(({ name }) => [name, many(name)]);
  return [command.name, positionals, options];
}

const inCommand = (command: string, words: readonly string[]): readonly string[] =>
  command === "extract" ? words : [command, ...(command === "serve" ? ["extractor"] : []), ...words];

const OPTIONS = Object.entries(EARLIER_OPTIONS).flatMap(([command, names]) =>
  Object.entries(names).map(([name, earlier]) => ({ command, name, earlier })),
);

describe("an option of an earlier program", () => {
  test.each(OPTIONS)(
    "$name of $command is taken or answered, in every place",
    ({ command, name, earlier }) => {
      const value = name === "-o" ? ["pages"] : [];
      if ("say" in earlier) {
        const said = messageOf(() => parseArguments(inCommand(command, [name, "2"])));
        expect(said).toBe(`unknown option ${name}; ${earlier.say}`);
        return;
      }
      const today =
        "takesBack" in earlier
          ? []
          : /^[a-z-]{2,}$/.test(earlier.as)
            ? [`--${earlier.as}`, ...value]
            : earlier.as.split(" ");
      const others =
        earlier && "as" in earlier && earlier.as.startsWith("serve") ? ["--port", "0"] : ["--quiet"];
      for (const place of [
        (words: readonly string[]) => [...words, ...others],
        (words: readonly string[]) => [...others, ...words],
      ]) {
        const words = place([name, ...value]);
        expect(meaningOf(inCommand(command, words))).toEqual(meaningOf(inCommand(command, place(today))));
      }
      expect(messageOf(() => parseArguments(["--", ...inCommand(command, [name])]))).toBe("");
      expect(parseArguments(["--", name]).positionals).toEqual([name]);
    },
  );

  test("that says the default takes back the other before it, and not the other after it", () => {
    for (const { command, name, earlier } of OPTIONS) {
      if (!("takesBack" in earlier)) continue;
      const other = `--${earlier.takesBack}`;
      expect(meaningOf(inCommand(command, [other, name]))).toEqual(meaningOf(inCommand(command, [])));
      expect(meaningOf(inCommand(command, [name, other]))).toEqual(meaningOf(inCommand(command, [other])));
    }
  });

  test("-o as the form is answered with --output, unless it is a path", () => {
    const read = (words: readonly string[]) => readExtractCommand(parseArguments(words), () => false);
    for (const form of ["markdown", "json", "text", "html", "md", "txt"])
      for (const words of [
        ["-o", form, "https://h.example/"],
        ["https://h.example/", `-o${form}`],
        [`-o=${form}`, "--output", "json", "-"],
      ])
        expect(messageOf(() => read(words))).toContain(`did you mean --output ${form}?`);
    expect(read(["-", "-o", "./markdown"]).outputFile).toBe("./markdown");
    expect(read(["-", "-o", "markdown.md"]).outputFile).toBe("markdown.md");
  });

  test("-f before a file or a form is answered, and before a page it is a switch", () => {
    for (const [value, option] of [
      ["page.html", "file"],
      ["dir/page.md", "file"],
      ["json", "output"],
      ["markdown", "output"],
    ] as const)
      expect(messageOf(() => parseArguments(["-f", value]))).toBe(
        `-f is --fail-on-http-error, which takes no value; did you mean --${option} ${value}?`,
      );
    for (const words of [
      ["-f", "https://h.example/page.html"],
      ["https://h.example/page.html", "-f"],
      ["--file", "page.html", "-f"],
      ["crawl", "-f", "https://h.example/"],
    ])
      expect(parseArguments(words).has("fail-on-http-error")).toBe(true);
  });
});

test("a field of an earlier deployment file is answered with what to write today", () => {
  const tenant = { source_type: "filesystem", codename: "docs", docs_name: "Docs", docs_root_dir: "d" };
  for (const [path, earlier] of Object.entries(EARLIER_FIELDS)) {
    const [place, field = ""] = path.split(".");
    const json =
      place === "tenants"
        ? { tenants: [{ ...tenant, [field]: "x" }] }
        : { infrastructure: { [field]: "x" }, tenants: [tenant] };
    const where = place === "tenants" ? `tenants[0].${field}` : path;
    const said = messageOf(() =>
      readDeployment(JSON.stringify(json), { name: "deployment.json", directory: "/" }),
    );
    expect(said).toBe(`deployment.json: ${where}: unknown field; ${"say" in earlier ? earlier.say : ""}`);
  }
});

test("a variable of an earlier program is read where today's is not set, without a warning", () => {
  expect(EARLIER_VARIABLES).toEqual({
    ARTICLE_EXTRACTOR_PREFER_PLAYWRIGHT: "ARTICLE_EXTRACTOR_PREFER_BROWSER",
  });
  const earlier = { ARTICLE_EXTRACTOR_PREFER_PLAYWRIGHT: "false" };
  expect(readSettings(earlier)).toEqual(readSettings({ ARTICLE_EXTRACTOR_PREFER_BROWSER: "false" }));
  expect(readSettings({ ...earlier, ARTICLE_EXTRACTOR_PREFER_BROWSER: "true" }).preferBrowser).toBe(true);
  expect(misspeltVariables(earlier)).toEqual([]);
});

test("the page about other programs has every earlier name, and what it is today", () => {
  for (const { command, name, earlier } of OPTIONS) {
    const written = name === "-o" || "say" in earlier ? `${command} ${name}` : name;
    expect(section).toContain(`\`${written}`);
    if ("as" in earlier) expect(section).toContain(name === "-o" ? `--${earlier.as} PATH` : earlier.as);
    if ("takesBack" in earlier) expect(section).toContain(`--${earlier.takesBack}`);
  }
  for (const path of Object.keys(EARLIER_FIELDS)) expect(section).toContain(`| \`${path.split(".")[1]}\``);
  for (const names of Object.entries(EARLIER_VARIABLES))
    for (const name of names) expect(section).toContain(`\`${name}\``);
  const answers = [...OPTIONS.map(({ earlier }) => earlier), ...Object.values(EARLIER_FIELDS)];
  for (const answer of answers.flatMap((earlier) => ("say" in earlier ? [earlier.say] : [])))
    for (const [today] of answer.matchAll(/--[\w-]+|\b[A-Z]{2,}_[A-Z_]+\b|\b[a-z]+_[a-z_]+\b/g))
      expect(section).toContain(`\`${today}\``);
});
