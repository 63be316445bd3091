import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDocumentFolder, type SourceDocument } from "../../../src/search/index.ts";
import { readDocuments } from "../../../src/search/testing.ts";
import { temporaryDirectory } from "../../support/search/segment-fixture.ts";

async function read(folder: string) {
  const skipped: string[] = [];
  const documents: SourceDocument[] = [];
  for await (const document of readDocumentFolder(folder, {
    onLeftOut: ({ path, reason }) => skipped.push(`${path}: ${reason}`),
  })) {
    documents.push(...readDocuments(document));
  }
  return { documents, skipped };
}

describe("the documents of a folder", () => {
  test("are its Markdown files, in the order of their paths", async () => {
    await using directory = await temporaryDirectory();
    const folder = join(directory.path, "My Docs!");
    for (const path of ["b", ".article-extractor"]) mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, "z.md"), "---\nurl: https://h.test/z\ntitle: Zed\n---\n# Other\n\ntext");
    writeFileSync(join(folder, "b/deep page.mdx"), "intro\n\n## The heading ##\r\n\ntext");
    writeFileSync(join(folder, "a_plain-name.markdown"), "no heading");
    writeFileSync(join(folder, "code first.md"), "```sh\n# a comment\n```\n\nUnderlined\n==========\n");
    writeFileSync(join(folder, "latin.md"), Buffer.from("# Z\u00fcrich", "latin1"));
    writeFileSync(join(folder, "code.ts"), "no document");
    writeFileSync(join(folder, ".hidden.md"), "# hidden");
    writeFileSync(join(folder, ".article-extractor/state.md"), "# state");
    symlinkSync("/etc/hostname", join(folder, "link.md"));
    const { documents, skipped } = await read(folder);
    expect(documents.map(({ url, title }) => [String(url), title])).toEqual([
      ["docs://my-docs-/a_plain-name.markdown", "a plain name"],
      ["docs://my-docs-/b/deep%20page.mdx", "The heading"],
      ["docs://my-docs-/code%20first.md", "Underlined"],
      ["docs://my-docs-/latin.md", "Zürich"],
      ["https://h.test/z", "Zed"],
    ]);
    expect(skipped).toEqual([".hidden.md: hidden", "code.ts: unknown_kind", "link.md: link"]);
    expect(documents.at(-1)?.markdown).toBe("# Other\n\ntext");
  });

  test("lose their front matter, but nothing that only looks like front matter", async () => {
    await using directory = await temporaryDirectory();
    const second = "---\nkept: yes\n---\ntext";
    writeFileSync(join(directory.path, "a.md"), `\ufeff---\ntitle: A\n---\n${second}`);
    writeFileSync(join(directory.path, "b.md"), "---\nno block, but a line\n");
    const { documents } = await read(directory.path);
    expect(documents.map(({ markdown }) => markdown)).toEqual([second, "---\nno block, but a line\n"]);
  });

  test("leave out files that are no text, and report them", async () => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "image.md"), Buffer.from([0x89, 0x50, 0, 0]));
    const { documents, skipped } = await read(directory.path);
    expect(documents).toEqual([]);
    expect(skipped).toEqual(["image.md: not_text"]);
  });

  test("cannot be read from a folder that does not exist", async () => {
    const failed = read("/nonexistent/docs").catch((error: unknown) => error);
    expect(await failed).toMatchObject({
      code: "unreadable_input",
      message: expect.stringContaining("/nonexistent/docs"),
    });
  });
});
