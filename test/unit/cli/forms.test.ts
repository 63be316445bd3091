import { describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ARTICLE_FIELDS, DEFAULT_FIELDS } from "../../../src/articles/index.ts";
import { runCommand } from "../../support/command.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = "The gate opens at low water. ".repeat(40);
const PAGE = `<html lang=de><title>Gates & Weirs</title><article><p>${WORDS}<a href="/b">Fähre</a></p></article></html>`;

/** Extracts the page from stdin; gives what stands in `file` then, or what was printed. */
async function extract(args: readonly string[], file?: string) {
  using directory = temporaryDirectory();
  const run = await runCommand(["-", ...args], { stdin: PAGE, cwd: directory.path });
  const written =
    file === undefined ? run.stdout : await readFile(join(directory.path, file), "utf8").catch(() => "");
  return { ...run, written };
}

const formOf = (text: string): string =>
  text.startsWith("{\n")
    ? "json"
    : text.startsWith("{")
      ? "a JSON line"
      : text.startsWith("<!doctype html>")
        ? "html"
        : text.startsWith("# ")
          ? "markdown"
          : "text";

describe("the ending of -o", () => {
  const ENDINGS: readonly (readonly [file: string, form: string])[] = [
    ["p.md", "markdown"],
    ["p.markdown", "markdown"],
    ["P.MD", "markdown"],
    ["p.txt", "text"],
    ["p.text", "text"],
    ["p.html", "html"],
    ["p.htm", "html"],
    ["p.json", "json"],
    ["p.jsonl", "a JSON line"],
    ["p", "json"],
    ["P.JSONL", "a JSON line"],
    ["p.", "json"],
    ["./p", "json"],
    [".md", "json"],
  ];
  for (const [file, form] of ENDINGS)
    test(`${file} makes it ${form}`, async () => {
      const run = await extract(["-o", file], file);
      expect([run.exitCode, run.stdout, formOf(run.written)]).toEqual([0, "", form]);
    });

  test.each(["p.docx", "p.DOCX", "a.md/p.pdf", "p.md.gz", "p.jsonn", "p.1", "ü.döc"])(
    "that is not known is refused before anything is read: %s",
    async (file) => {
      for (const words of [
        ["-o", file, "https://host.invalid/"],
        ["https://host.invalid/", `--output-file=${file}`],
      ]) {
        const run = await runCommand(words);
        expect([run.exitCode, run.stdout]).toEqual([2, ""]);
        expect(run.stderr).toMatch(
          /^error: --output-file: "\.[^"]+" is not a known ending \(\.json, .*\); --output FORMAT says what to write\n$/,
        );
      }
      const said = await extract(["-o", file.slice(file.lastIndexOf("/") + 1), "--output", "text"]);
      expect([said.exitCode, said.stderr]).toEqual([0, ""]);
    },
  );

  test("gives way to --output, wherever that stands", async () => {
    expect(formOf((await extract(["-o", "p.md", "--output", "text"], "p.md")).written)).toBe("text");
    expect(formOf((await extract(["--output", "html", "-o", "p.txt"], "p.txt")).written)).toBe("html");
  });

  test("lets --frontmatter stand beside it", async () => {
    expect((await extract(["-o", "p.md", "--frontmatter"], "p.md")).written).toStartWith("---\n");
    expect((await extract(["-o", "p.txt", "--frontmatter"])).stderr).toBe(
      "error: --frontmatter goes with --output markdown\n",
    );
  });
});

describe("--output", () => {
  test("that is given a file points to -o", async () => {
    for (const file of ["p.md", "d/p.JSON", "p.html", "p.txt"])
      expect(await extract(["--output", file])).toMatchObject({
        exitCode: 2,
        stderr: `error: --output takes a form, such as markdown, not the file "${file}"; did you mean -o?\n`,
      });
  });

  test("md and txt are other words for markdown and text", async () => {
    for (const [word, whole] of [
      ["md", "markdown"],
      ["txt", "text"],
    ] as const)
      expect((await extract(["--output", word])).stdout).toBe((await extract(["--output", whole])).stdout);
  });

  test("html is a whole document with the content of the JSON below the title", async () => {
    const { content } = JSON.parse((await extract([])).stdout);
    const { stdout } = await extract(["--output", "html"]);
    expect(stdout).toBe(`<!doctype html>
<html lang="de">
<head><meta charset="utf-8"><title>Gates &amp; Weirs</title></head>
<body>
<h1>Gates &amp; Weirs</h1>
${content}
</body>
</html>
`);
    const again = await runCommand(["-", "--output", "text"], { stdin: stdout });
    expect(again.stdout).toBe((await extract(["--output", "text"])).stdout);
  });

  const MISTAKES: Readonly<Record<string, string>> = {
    "--ouput": "--output",
    "--constructor": "",
  };
  for (const [mistake, meant] of Object.entries(MISTAKES))
    test(`${mistake} is no option; ${meant || "nothing"} was meant`, async () => {
      const hint = meant === "" ? "" : `; did you mean ${meant}?`;
      expect(await runCommand([mistake])).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: `error: unknown option ${mistake}${hint}\n`,
      });
    });
});

describe("--fields", () => {
  test("gives each field alone as it stands in the whole", async () => {
    const whole = JSON.parse((await extract([])).stdout);
    expect(Object.keys(whole)).toEqual([...DEFAULT_FIELDS]);
    const [half, rest] = [DEFAULT_FIELDS.slice(0, 12), DEFAULT_FIELDS.slice(12)];
    const one = JSON.parse((await extract(["--fields", half.join(",")])).stdout);
    const other = JSON.parse((await extract(["--fields", rest.join(",")])).stdout);
    expect({ ...one, ...other }).toEqual(whole);
    expect([Object.keys(one), Object.keys(other)]).toEqual([half, rest]);
  });

  test("keeps the order in which they were asked for, each once", async () => {
    const { stdout } = await extract(["--fields", "word_count, title", "--fields=title,,lang", "--compact"]);
    expect(stdout).toBe('{"word_count":241,"title":"Gates & Weirs","lang":"de"}\n');
  });

  test("gives on request what is not there without it, beside the default fields", async () => {
    const page = `<meta property="og:title" content="T"><p>See <a href="/a">a</a> and <img src="b.png" alt="b">.</p>`;
    const asked = async (fields: string) => {
      const words = ["-", "--url", "https://h.test/x/", "--fields", fields];
      return JSON.parse((await runCommand(words, { stdin: page })).stdout);
    };
    const all = await asked("default,links,images,structured_data,blocks");
    expect(Object.keys(all)).toEqual([...DEFAULT_FIELDS, "links", "images", "structured_data", "blocks"]);
    const wanted = {
      links: [{ url: "https://h.test/a", text: "a" }],
      images: [{ url: "https://h.test/x/b.png", alt: "b", width: null, height: null }],
      structured_data: { json_ld: [], microdata: [], open_graph: [{ property: "og:title", content: "T" }] },
      blocks: [expect.objectContaining({ text: "See a and .", tag: "p", kept: true, reason: "whole" })],
    };
    expect(all).toMatchObject(wanted);
    for (const [field, value] of Object.entries(wanted))
      expect(await asked(field)).toEqual({ [field]: value });
  });

  test("tells on stderr the warnings that are left out", async () => {
    const page = "<title>Short</title><p>Few words.</p>";
    const warned = await runCommand(["-", "--fields", "title"], { stdin: page });
    expect(warned.stderr).toStartWith("warning: ");
    expect((await runCommand(["-", "--fields", "title,warnings"], { stdin: page })).stderr).toBe("");
  });

  const REFUSED: readonly (readonly [args: readonly string[], message: string])[] = [
    [["--fields", "tilte"], '--fields: unknown field "tilte"; did you mean title?'],
    [["--fields", "title,"], ""],
    [["--fields", " , "], "--fields needs names: --fields title,markdown"],
    [["--fields", "title", "--output", "md"], "--fields goes with --output json"],
    [["--compact", "-o", "p.txt"], "--compact goes with --output json"],
    [["--resume", "p.jsonl", "--output", "text"], "--resume goes with --output json"],
    [
      ["https://weir.test/", "--resume", "p.jsonl", "--fields", "title"],
      "--resume tells pages by their url, which --fields leaves out",
    ],
    [["--resume", "p.jsonl", "-o", "p.json"], "--output-file and --resume exclude each other"],
  ];
  for (const [args, message] of REFUSED)
    test(`${args.join(" ")} ${message === "" ? "is understood" : "is refused"}`, async () => {
      const { exitCode, stderr } = await extract(args);
      expect([exitCode, stderr]).toEqual(
        message === "" ? [0, expect.anything()] : [2, `error: ${message}\n`],
      );
    });

  test("names all fields where none is near", async () => {
    expect((await extract(["--fields", "zzzzzz"])).stderr).toContain(
      `there are ${ARTICLE_FIELDS.join(", ")}, default`,
    );
  });
});

describe("--compact", () => {
  test("is the same JSON on one line", async () => {
    const [plain, compact] = [await extract([]), await extract(["--compact"])];
    expect(compact.stdout.trimEnd()).not.toContain("\n");
    expect(JSON.parse(compact.stdout)).toEqual(JSON.parse(plain.stdout));
  });
});

test("--resume tells local pages by their file, whatever --fields names", async () => {
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, "gate.html"), PAGE);
  const args = ["--file", "gate.html", "--resume", "all.jsonl", "--fields", "title"];
  for (const _ of ["at first", "again"])
    expect(await runCommand(args, { cwd: directory.path })).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(directory.path, "all.jsonl"), "utf8")).toBe(
    `${JSON.stringify({ file: "gate.html", title: "Gates & Weirs" })}\n`,
  );
});

test("a file named by mistake is not written to", async () => {
  using directory = temporaryDirectory();
  const others = [
    "notes",
    "notes\n",
    '{"name":"package"}',
    '{"name":"pack',
    "[1]\n",
    '{\n  "url": "a"\n}\n',
    "{}\n",
    "null",
    '"',
  ];
  for (const text of others) {
    await writeFile(join(directory.path, "file"), text);
    const run = await runCommand(["-", "--resume", "file"], { stdin: PAGE, cwd: directory.path });
    expect([text, run.exitCode, run.stderr]).toEqual([
      text,
      1,
      expect.stringMatching(
        /^error: file:1 is not a JSON line of a page; --resume appends to a file of such lines only\n$/,
      ),
    ]);
    expect(await readFile(join(directory.path, "file"), "utf8")).toBe(text);
  }
});
