import { describe, expect, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BinaryResult, canLoseRights, runBinary, runShell } from "../support/binary.ts";
import { runCommand } from "../support/command.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const latin1 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

function utf16(text: string, isBigEndian: boolean): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return new Uint8Array(isBigEndian ? bytes.swap16() : bytes);
}

const SENTENCE = "Die Gezeitenmühle öffnet ihr Tor bei Ebbe. ";
const article = (body: string, head = ""): string =>
  `<html><head>${head}</head><body><article><p>${body}</p></article></body></html>`;

/** Extracts the bytes once from a file and once from stdin. */
async function extractBytes(
  bytes: string | Uint8Array<ArrayBuffer>,
  { name = "page.html", args = [] as readonly string[] } = {},
): Promise<{ readonly file: BinaryResult; readonly stdin: BinaryResult }> {
  using directory = temporaryDirectory();
  await writeFile(join(directory.path, name), bytes);
  const file = await runCommand(["--file", name, ...args], { cwd: directory.path });
  return { file, stdin: await runCommand(["-", ...args], { stdin: bytes }) };
}

test("XHTML is read by XML's rules for empty elements, from a file of that name and by its declaration", async () => {
  const page = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>${SENTENCE.repeat(9)}</p></body></html>`;
  const declared = `<?xml version="1.0"?>${page}`;
  const { file } = await extractBytes(page, { name: "page.xhtml", args: ["--output", "text", "-q"] });
  const { stdin } = await extractBytes(declared, { args: ["--output", "text", "-q"] });
  expect([file.stdout, stdin.stdout]).toEqual([
    expect.stringContaining(SENTENCE.trim()),
    expect.stringContaining(SENTENCE.trim()),
  ]);
});

describe("a page from a file and from stdin", () => {
  const READ: readonly (readonly [name: string, bytes: string | Uint8Array<ArrayBuffer>])[] = [
    ["UTF-8", article(SENTENCE)],
    ["UTF-8 with a byte order mark", `\ufeff${article(SENTENCE)}`],
    ["UTF-16 little endian with a byte order mark", utf16(article(SENTENCE), false)],
    ["UTF-16 big endian with a byte order mark", utf16(article(SENTENCE), true)],
    ["Latin-1 that says so", latin1(article(SENTENCE, '<meta charset="iso-8859-1">'))],
    ["Latin-1 that does not say so", latin1(article(SENTENCE.repeat(10)))],
    ["a fragment without html, head or body", `<p>${SENTENCE}`],
    ["nothing closed", `<html><body><article><p><b>${SENTENCE}<i>`],
  ];
  for (const [name, bytes] of READ) {
    test(`in ${name} keeps its words`, async () => {
      for (const run of Object.values(await extractBytes(bytes))) {
        expect([run.exitCode, run.stderr]).toEqual([0, ""]);
        expect(JSON.parse(run.stdout).text).toStartWith(SENTENCE.trim());
      }
    });
  }

  test("with bytes that are not its encoding has a warning", async () => {
    const bytes = latin1(article(SENTENCE, '<meta charset="utf-8">'));
    for (const run of Object.values(await extractBytes(bytes))) {
      expect(JSON.parse(run.stdout).warnings).toContain("Some bytes are not valid utf-8 and were replaced");
    }
  });

  const random = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919 + index ** 2) % 256);
  const REFUSED: readonly (readonly [
    name: string,
    bytes: string | Uint8Array<ArrayBuffer>,
    message: string,
  ])[] = [
    ["empty", "", "is empty"],
    [
      "a PNG image",
      Buffer.concat([latin1("\x89PNG\r\n\x1a\n"), random]),
      "is not HTML, Markdown or plain text",
    ],
    ["full of NUL bytes", "\0".repeat(5000), "is not HTML, Markdown or plain text"],
    ["HTML with NUL bytes", article("a\0b ".repeat(100)), "is not HTML, Markdown or plain text"],
    ["white space", " \n\t ".repeat(100), "holds no words of content"],
    ["a page without words", "<html><body><img src=a.png></body></html>", "holds no words of content"],
  ];
  test("that is a damaged PDF is refused in the same way", async () => {
    const bytes = Buffer.concat([latin1("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), random]);
    const { file, stdin } = await extractBytes(bytes);
    expect([file.exitCode, file.stdout, stdin.exitCode]).toEqual([1, "", 1]);
    expect(file.stderr).toMatch(/^error: page\.html: the PDF is damaged: [^\n]+\n$/);
  });
  for (const [name, bytes, message] of REFUSED) {
    test(`that is ${name} is refused with exit code 1 and one line`, async () => {
      const { file, stdin } = await extractBytes(bytes);
      expect(file).toEqual({ exitCode: 1, stdout: "", stderr: `error: page.html ${message}\n` });
      expect(stdin).toEqual({ exitCode: 1, stdout: "", stderr: `error: standard input ${message}\n` });
    });
  }
});

describe("hostile sizes end in a result or one line:", () => {
  const isSane = ({ exitCode, stdout, stderr }: BinaryResult): void => {
    if (exitCode === 0) expect(JSON.parse(stdout).word_count).toBeGreaterThan(0);
    else expect([exitCode, stdout, stderr]).toEqual([1, "", expect.stringMatching(/^error: [^\n]+\n$/)]);
  };

  const PAGES: readonly (readonly [name: string, page: () => string])[] = [
    ["30 000 nested elements", () => `<body>${"<div>".repeat(30_000)}${SENTENCE}${"</div>".repeat(30_000)}`],
    ["25 000 unclosed elements", () => `<body><p>${SENTENCE}${"<b><table><tr><td>".repeat(6_250)}`],
    ["100 000 attributes", () => `<body><p ${"a='b' ".repeat(100_000)}>${SENTENCE}`],
    ["a million unopened end tags", () => `<body><p>${SENTENCE}${"</div>".repeat(1_000_000)}`],
    ["an endless comment", () => `<body><p>${SENTENCE}<!-- ${"-".repeat(1_000_000)}`],
  ];
  for (const [name, page] of PAGES) {
    test(name, async () => {
      for (const run of Object.values(await extractBytes(page()))) isSane(run);
    });
  }

  test("50 MB in one line are over the limit, and a result where the limit is raised", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "line.html"), article("tide mill ".repeat(5_000_000)));
    const run = (...args: string[]) => runBinary(["--file", "line.html", ...args], { cwd: directory.path });
    expect(await run()).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "error: line.html is larger than 20971520 bytes; --max-bytes sets the limit\n",
    });
    const raised = await run("--max-bytes", "60M", "--output", "text", "-o", "line.txt");
    expect(raised).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(Bun.file(join(directory.path, "line.txt")).size).toBe(50_000_000);
  });

  test("an endless stdin and an endless device are read up to the limit", async () => {
    const message = "is larger than 1000000 bytes; --max-bytes sets the limit\n";
    const endless = await runShell("yes tide | article-extractor - --max-bytes 1000000");
    expect([endless.exitCode, endless.stderr]).toEqual([1, `error: standard input ${message}`]);
    const device = await runBinary(["--file", "/dev/zero", "--max-bytes", "1000000"]);
    expect([device.exitCode, device.stderr]).toEqual([1, `error: /dev/zero ${message}`]);
  });
});

describe("a file", () => {
  const REFUSED: readonly (readonly [path: string, message: string])[] = [
    ["missing.html", "missing.html cannot be read: there is no such file"],
    ["folder", "folder is a directory, not a file"],
    ["page.html/below", "page.html/below cannot be read: a part of the path is not a directory"],
    ["n".repeat(256), `${"n".repeat(256)} cannot be read: the path is too long`],
    ["a\nb", "a b cannot be read: there is no such file"],
  ];
  for (const [path, message] of REFUSED) {
    test(`${JSON.stringify(path.slice(0, 30))} is refused with exit code 1 and one line`, async () => {
      using directory = temporaryDirectory();
      await mkdir(join(directory.path, "folder"));
      await writeFile(join(directory.path, "page.html"), article(SENTENCE));
      const expected = { exitCode: 1, stdout: "", stderr: `error: ${message}\n` };
      expect(await runCommand(["--file", path], { cwd: directory.path })).toEqual(expected);
      expect(await runCommand(["--input-file", path], { cwd: directory.path })).toEqual(expected);
    });
  }

  test.skipIf(!canLoseRights)("without the right to read it is refused (root needs setpriv)", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "page.html"), article(SENTENCE));
    await chmod(join(directory.path, "page.html"), 0o000);
    const run = await runBinary(["--file", "page.html"], { cwd: directory.path, asOrdinaryUser: true });
    const message = "page.html cannot be read: permission denied";
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
  });

  test("may be a pipe, - or /dev/stdin", async () => {
    for (const path of ["-", "/dev/stdin"]) {
      const run = await runBinary(["--file", path, "--output", "text", "-q"], { stdin: article(SENTENCE) });
      expect(run).toEqual({ exitCode: 0, stdout: `${SENTENCE.trim()}\n`, stderr: "" });
    }
    const piped = await runShell("article-extractor --file <(cat) --output text -q", {
      shell: "bash",
      stdin: article(SENTENCE),
    });
    expect(piped.stdout).toBe(`${SENTENCE.trim()}\n`);
  });

  test("of Markdown or text is taken for what its name says", async () => {
    const markdown = "# The *mill*\n\nIt turns & <b>turns</b>.\n";
    const read = async (name: string) =>
      (await extractBytes(markdown, { name, args: ["--output", "markdown", "-q"] })).file.stdout;
    expect(await read("page.md")).toStartWith("# The");
    expect(await read("page.md")).toContain("It turns &");
    // As text, its signs mean themselves.
    expect(await read("page.txt")).toContain("\\<b>turns");
  });

  test("of a name that starts with a dash follows an equals sign or ./", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "-q"), article(SENTENCE));
    for (const words of [["--file=-q"], ["--file", "./-q"]]) {
      const run = await runBinary([...words, "--output", "text", "-q"], { cwd: directory.path });
      expect(run.stdout).toBe(`${SENTENCE.trim()}\n`);
    }
  });
});

test("a pipe is read without being asked, a - as well", async () => {
  for (const args of [[], ["-"]]) {
    const run = await runBinary([...args, "--output", "text", "-q"], { stdin: article(SENTENCE) });
    expect(run).toEqual({ exitCode: 0, stdout: `${SENTENCE.trim()}\n`, stderr: "" });
  }
});
