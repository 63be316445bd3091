import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { Failure } from "../../../src/base/failure.ts";
import { PictureFolder, picturesIn } from "../../../src/pages/index.ts";
import { pictureType } from "../../../src/pages/pictures.ts";
import type { PageUrl } from "../../../src/urls/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PNG = "\x89PNG\r\n\x1a\n";
const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const pngOf = async (url: string): Promise<Uint8Array> => latin1(`${PNG}${url}`);

/** Saves the pictures of a text into a new folder. */
async function save(markdown: string, load: (url: PageUrl) => Promise<Uint8Array | string> = pngOf) {
  using place = temporaryDirectory();
  const directory = join(place.path, "images");
  const folder = new PictureFolder({ place: picturesIn(place.path), maxBytes: 1000, atOnce: 4 });
  const saved = await folder.save({ markdown }, load);
  const files = existsSync(directory) ? readdirSync(directory) : [];
  return { ...saved, files: files.filter((name) => name !== "index.jsonl").sort() };
}

/** The Markdown with the name of a saved picture in the place of each file. */
const led = async (markdown: string): Promise<string> =>
  (await save(markdown)).markdown.replace(/images\/[\da-f]{16}\.png/g, "FILE");

describe("the Markdown of a page whose pictures are saved", () => {
  const LEADS = [
    ["a picture", "![A mill](https://h.test/a.png)", "![A mill](FILE)"],
    ["its title stays", '![A](https://h.test/a.png "The \\"mill\\"")', '![A](FILE "The \\"mill\\"")'],
    ["parentheses", "![A](https://h.test/a_(b).png) and (c)", "![A](FILE) and (c)"],
    ["an address in angle brackets", "![A](<https://h.test/a.png>)", "![A](<FILE>)"],
    ["a link to the same file", "[![A](https://h.test/a.png)](https://h.test/a.png)", "[![A](FILE)](FILE)"],
    ["a link to a page", "[![A](https://h.test/a.png)](https://h.test/)", "[![A](FILE)](https://h.test/)"],
    [
      "a table",
      "| a | b |\n| --- | --- |\n| \\| | ![A](https://h.test/a.png) |",
      "| a | b |\n| --- | --- |\n| \\| | ![A](FILE) |",
    ],
    [
      "a list in a quotation",
      "> - one\n>   ![A\n>   b](https://h.test/a.png)",
      "> - one\n>   ![A\n>   b](FILE)",
    ],
    ["a reference", "![A][m]\n\n[m]: https://h.test/a.png", "![A][m]\n\n[m]: FILE"],
    ["a line with CRLF", "![A](https://h.test/a.png)\r\n\r\nEnd\r\n", "![A](FILE)\r\n\r\nEnd\r\n"],
    ["a code span", "`![A](https://h.test/a.png)`", "`![A](https://h.test/a.png)`"],
    ["a block of code", "```\n![A](https://h.test/a.png)\n```", "```\n![A](https://h.test/a.png)\n```"],
    ["a link without a picture", "[A](https://h.test/a.png)", "[A](https://h.test/a.png)"],
    ["a relative address", "![A](a.png)", "![A](a.png)"],
  ] as const;
  test.each(LEADS)("leads to the file: %s", async (_, written, expected) => {
    expect(await led(written)).toBe(expected);
  });

  test("is byte for byte what it was, but for the addresses", async () => {
    const pieces = fc.constantFrom(
      ...[
        "word ",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "`",
        "```\n",
        "*",
        "[",
        "]",
        "(",
        ")",
        "\\",
        "| ",
        "$",
        "é\u0301",
        "\ud83d\ude00",
        "![a]",
      ],
      ...[
        "![a](https://h.test/1.png)",
        '![b](https://h.test/2(x).png "t")',
        "[![c](https://h.test/3.png)](https://h.test/3.png)",
      ],
      ...[
        "| a | ![d](https://h.test/4.png) |\n| --- | --- |\n",
        "![e][r]\n\n[r]: https://h.test/5.png\n",
        "<b>",
        "&amp;",
      ],
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), async (parts) => {
        const markdown = parts.join("");
        const addresses = new Map<string, string>();
        const saved = await save(markdown, async (url) => {
          const bytes = latin1(PNG + url);
          const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16);
          addresses.set(`images/${hash}.png`, url);
          return bytes;
        });
        count += addresses.size;
        expect(saved.markdown.replace(/images\/\w+\.png/g, (file) => addresses.get(file) ?? "")).toBe(
          markdown,
        );
      }),
    );
    expect(count).toBeGreaterThan(50);
  });

  test("moves its anchors with their lines", async () => {
    using place = temporaryDirectory();
    const folder = new PictureFolder({ place: picturesIn(place.path), maxBytes: 99, atOnce: 1 });
    const markdown =
      "![A](https://h.test/a-rather-long-name.png)\n\n## Weir\n\n![B](https://h.test/b.png)\n\n## Gate";
    const anchors = [
      { id: "gate", start: markdown.indexOf("## Gate") },
      { id: "weir", start: markdown.indexOf("## Weir") },
      { id: "top", start: -1 },
    ];
    const saved = await folder.save({ markdown, anchors }, pngOf);
    const lines = saved.anchors?.map(({ id, start }) => [id, saved.markdown.slice(start).split("\n")[0]]);
    expect(lines?.slice(0, 2)).toEqual([
      ["gate", "## Gate"],
      ["weir", "## Weir"],
    ]);
    expect(saved.anchors?.[2]).toEqual({ id: "top", start: -1 });
  });
});

describe("a folder of pictures", () => {
  test("has a picture once that has two addresses, and asks once for each address", async () => {
    const asked: string[] = [];
    const saved = await save(
      "![A](https://h.test/a) ![B](https://h.test/b) ![A](https://h.test/a#c)",
      async (url) => {
        asked.push(url);
        return latin1(PNG);
      },
    );
    expect([saved.files.length, asked.sort()]).toEqual([1, ["https://h.test/a", "https://h.test/b"]]);
  });

  test("takes pictures that are written in the address", async () => {
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
    const saved = await save(
      `![A](data:image/png;base64,${Buffer.from(PNG, "latin1").toString("base64")}) ![B](data:image/svg+xml,${encodeURIComponent(svg)}) ![C](data:text/html,x)`,
    );
    expect(saved.files.map((name) => name.slice(17)).sort()).toEqual(["png", "svg"]);
    expect(saved.warnings).toEqual(["images: 1 of 3 not saved: 1 no picture"]);
  });

  test("keeps the address of what cannot be had, and counts it by reason", async () => {
    const answers: Readonly<Record<string, Uint8Array | string | Failure>> = {
      "/page": latin1("<!doctype html><svg></svg>"),
      "/large": latin1(PNG + "x".repeat(2000)),
      "/missing": "HTTP 404",
      "/away": new Failure("network", "nobody is there"),
    };
    const markdown = Object.keys(answers)
      .map((path) => `![A](https://h.test${path})`)
      .join(" ");
    const saved = await save(markdown, async (url) => {
      const answer = answers[new URL(url).pathname]!;
      if (answer instanceof Failure) throw answer;
      return answer;
    });
    expect([saved.markdown, saved.files]).toEqual([markdown, []]);
    expect(saved.warnings.length).toBe(1);
    for (const reason of ["4 of 4", "1 no picture", "1 too large", "1 HTTP 404", "1 network"])
      expect(saved.warnings[0]).toContain(reason);
  });

  test("takes a hundred pictures of a page", async () => {
    const saved = await save(Array.from({ length: 103 }, (_, at) => `![A](https://h.test/${at})`).join("\n"));
    expect([saved.files.length, saved.warnings]).toEqual([
      100,
      ["images: 3 of 103 not saved: 3 beyond 100 of a page"],
    ]);
  });

  test("does not ask again in a later run, unless the file is gone or the index names no file of its own", async () => {
    using place = temporaryDirectory();
    const run = async (isFresh = false): Promise<number> => {
      let asked = 0;
      const folder = new PictureFolder({
        place: picturesIn(place.path, { isFresh }),
        maxBytes: 99,
        atOnce: 1,
      });
      const saved = await folder.save({ markdown: "![A](https://h.test/a)" }, async () => {
        asked++;
        return latin1(PNG);
      });
      expect(saved.markdown).toMatch(/^!\[A\]\(images\/[\da-f]{16}\.png\)$/);
      return asked;
    };
    expect([await run(), await run(), await run(true), await run()]).toEqual([1, 0, 1, 0]);
    const index = join(place.path, "images", "index.jsonl");
    await Bun.write(index, '["https://h.test/a","../../etc/passwd"]\n["https://h.tes');
    expect(await run()).toBe(1);
    await Bun.write(index, '["https://h.test/a","0123456789abcdef.png"]\n');
    expect(await run()).toBe(1);
  });
});

test("tells the type of a picture by its bytes", () => {
  const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
  const types: readonly (readonly [string, string | null])[] = [
    [PNG, "png"],
    ["\xff\xd8\xff\xe0", "jpg"],
    ["GIF89a", "gif"],
    ["RIFF\x10\0\0\0WEBPVP8 ", "webp"],
    ["\0\0\0\x20ftypavif\0\0\0\0", "avif"],
    ["\0\0\0\x20ftypmif1\0\0\0\0mif1avif", "avif"],
    [svg, "svg"],
    [
      `\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made -- by -->\n<!DOCTYPE svg PUBLIC "a" "b" [ <!ENTITY a "b"> ]>\n${svg}`,
      "svg",
    ],
    [`<!doctype html>${svg}`, null],
    [`<p>${svg}</p>`, null],
    ["\0\0\0\x20ftypisom\0\0\0\0", null],
    ["RIFF\x10\0\0\0WAVE", null],
    ["%PDF-1.7", null],
    ["", null],
    ["<!--".repeat(3000), null],
  ];
  for (const [text, type] of types) expect([text, pictureType(latin1(text))]).toEqual([text, type]);
});
