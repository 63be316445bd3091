import { expect, test } from "bun:test";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { type LeftOut, readDocumentFolder } from "../../../../src/search/index.ts";
import { proseOf } from "../../../support/docs-site.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";

const POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";

const CONTENTS = {
  prose: `# Sluices\n\n${proseOf("sluices")}\n`,
  page: `<h1>Sluices</h1><p>${proseOf("sluices")}</p>`,
  other: `# Tides\n\n${proseOf("tides")} Of tides and of nothing but tides.\n`,
  blank: " \n\t\n",
  binary: "\u0089PNG\0\0",
  pointer: POINTER,
  link: null,
} as const;

const folderName = fc.constantFrom(
  ...["docs", "a", "_build", "html", "site", "node_modules", "vendor", "_sources"],
  ...["drafts", ".git", ".github", "with blank", "Ünï", "漢字", "x.md", "*", "[a]"],
);
const fileName = fc.constantFrom(
  ...["index.md", "index.html", "README.md", "guide.md", "guide.html", "guide.rst", "guide.txt", "guide"],
  ...[
    "GUIDE.MD",
    ".hidden.md",
    "a.png",
    "code.ts",
    "page 1.md",
    "Ünï.md",
    "*.md",
    "x.draft.md",
    "guide.html.md",
  ],
);
const path = fc
  .tuple(fc.array(folderName, { maxLength: 4 }), fileName)
  .map(([folders, name]) => [...folders, name].join("/"));
const tree = fc.dictionary(path, fc.constantFrom(...(Object.keys(CONTENTS) as (keyof typeof CONTENTS)[])), {
  maxKeys: 25,
});
const pattern = fc.constantFrom(
  "drafts/",
  "*.draft.md",
  "docs",
  "docs/**",
  "!vendor/",
  "/a",
  "**/html/*",
  "*",
);

async function filesBelow(folder: string, below = ""): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const lists = entries.map((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
  return (await Promise.all(lists)).flat().sort();
}

test("each file of a tree is a document, or left out for exactly one reason", async () => {
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(pattern, { maxLength: 3 }),
      fc.array(pattern, { maxLength: 3 }),
      async (files, exclude, include) => {
        using directory = temporaryDirectory();
        for (const [file, content] of Object.entries(files)) {
          const place = join(directory.path, file);
          // Where one path is a folder of another, the first one stays.
          const made = await mkdir(dirname(place), { recursive: true }).catch(() => null);
          if (made === null) continue;
          const text = CONTENTS[content];
          await (text === null ? symlink("..", place) : writeFile(place, text)).catch(() => {});
        }
        const rules = { exclude, include: include.filter((one) => !one.startsWith("!")) };
        const read = async () => {
          const documents: string[] = [];
          const leftOut: LeftOut[] = [];
          const extractHtml = async (body: string | Uint8Array) => ({
            title: "",
            markdown: `${body}`.replace(/<[^>]*>/g, " "),
          });
          for await (const document of readDocumentFolder(directory.path, {
            rules,
            extractHtml,
            onLeftOut: (file) => leftOut.push(file),
          }))
            documents.push(document.path ?? "");
          return { documents, leftOut };
        };
        const { documents, leftOut } = await read();
        for (const file of await filesBelow(directory.path)) {
          const fates = [
            ...documents.filter((one) => one === file),
            ...leftOut.filter(({ path: one }) => one === file || (one.endsWith("/") && file.startsWith(one))),
          ];
          expect({ file, fates }).toEqual({ file, fates: [expect.anything()] });
        }
        // A duplicate is one of a document that is there.
        for (const { reason, detail } of leftOut)
          if (reason === "duplicate")
            expect(documents).toContain(detail?.replace("it is a duplicate of ", "") ?? "");
        expect(await read()).toEqual({ documents, leftOut });
      },
    ),
    { numRuns: 150 },
  );
});
