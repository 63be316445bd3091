import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDocumentFolder, type SourceDocument } from "../../../src/search/index.ts";
import { readDocuments } from "../../../src/search/reading/read-document.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

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
    using directory = temporaryDirectory();
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

  test("are none of those that no tenant has, and UTF-16 is text", async () => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, "a/node_modules"), { recursive: true });
    writeFileSync(join(directory.path, "a/node_modules/b.md"), "# Other people's");
    writeFileSync(join(directory.path, "le.md"), Buffer.from("\ufeff# Größe", "utf16le"));
    writeFileSync(join(directory.path, "be.md"), Buffer.from("\ufeff# Luke", "utf16le").swap16());
    const { documents, skipped } = await read(directory.path);
    expect(documents.map(({ title }) => title)).toEqual(["Luke", "Größe"]);
    expect(skipped).toEqual(["a/node_modules/: excluded"]);
  });

  test("are named by front matter in TOML and JSON, and lines may end as on old Macs", async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, "a.md"), '+++\ntitle = "A"\ndate = 2026-11-05\n+++\ntext');
    writeFileSync(join(directory.path, "b.md"), '{\n  "title": "B"\n}\ntext');
    writeFileSync(join(directory.path, "c.md"), "---\rtitle: C\r---\r# One\r\rtext");
    const { documents } = await read(directory.path);
    expect(documents).toMatchObject([
      { title: "A", markdown: "text", declared: { date: "2026-11-05" } },
      { title: "B", markdown: "text" },
      { title: "C", markdown: "# One\n\ntext" },
    ]);
  });

  test("lose their front matter, but nothing that only looks like front matter", async () => {
    using directory = temporaryDirectory();
    const second = "---\nkept: yes\n---\ntext";
    writeFileSync(join(directory.path, "a.md"), `\ufeff---\ntitle: A\n---\n${second}`);
    writeFileSync(join(directory.path, "b.md"), "---\nno block, but a line\n");
    const { documents } = await read(directory.path);
    expect(documents.map(({ markdown }) => markdown)).toEqual([second, "---\nno block, but a line\n"]);
  });

  test("leave out files that are no text, and report them", async () => {
    using directory = temporaryDirectory();
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

const namesOf = async (folder: string, onLeftOut: (path: string) => void = () => {}) => {
  const documents: string[] = [];
  const leftOut: Record<string, string> = {};
  for await (const { path } of readDocumentFolder(folder, {
    onLeftOut: (file) => {
      leftOut[file.path] = file.reason;
      onLeftOut(file.path);
    },
  }))
    documents.push(path ?? "");
  return { documents, leftOut };
};

describe("a hostile folder", () => {
  test("leads nowhere by its links, round or out, and waits for no pipe", async () => {
    using directory = temporaryDirectory();
    const folder = directory.path;
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "deep/a.md"), "# A");
    symlinkSync("..", join(folder, "deep/up"));
    symlinkSync("self", join(folder, "self"));
    symlinkSync("/etc", join(folder, "etc"));
    symlinkSync("deep/a.md", join(folder, "b.md"));
    symlinkSync("nowhere", join(folder, "gone.md"));
    await Bun.$`mkfifo ${join(folder, "pipe.md")}`;
    expect(await namesOf(folder)).toEqual({
      documents: ["deep/a.md"],
      leftOut: {
        "deep/up": "link",
        self: "link",
        etc: "link",
        "b.md": "link",
        "gone.md": "link",
        "pipe.md": "special",
      },
    });
  });

  test("costs only those files whose names or places cannot be used", async () => {
    using directory = temporaryDirectory();
    const folder = directory.path;
    writeFileSync(join(folder, "a.md"), "# A");
    writeFileSync(join(folder, "replacement \ufffd.md"), "# B");
    // 25 folders of 200 letters are a path that the system does not open.
    const name = "n".repeat(200);
    const script = `touch "$(printf 'caf\\351.md')"; mkdir "$(printf 'd\\351')"; for i in $(seq 25); do mkdir ${name}; cd ${name}; done`;
    await Bun.$`sh -c ${script}`.cwd(folder).nothrow().quiet();
    const { documents, leftOut } = await namesOf(folder);
    expect(documents).toEqual(["a.md", "replacement \ufffd.md"]);
    expect(leftOut["caf\ufffd.md"]).toBe("bad_name");
    expect(leftOut["d\ufffd/"]).toBe("bad_name");
    expect(Object.values(leftOut).sort()).toEqual(["bad_name", "bad_name", "unreadable"]);
    await Bun.$`sh -c ${`rm -rf ${name}`}`.cwd(folder);
  });

  test("may lose, empty and swap files while it is read", async () => {
    using directory = temporaryDirectory();
    const folder = directory.path;
    for (const name of ["a", "b", "c", "d", "e"]) writeFileSync(join(folder, `${name}.md`), `# ${name}`);
    // It is listed last, when no file has been read yet.
    writeFileSync(join(folder, "z.png"), "");
    const { documents, leftOut } = await namesOf(folder, (path) => {
      if (path !== "z.png") return;
      rmSync(join(folder, "a.md"));
      writeFileSync(join(folder, "b.md"), "");
      rmSync(join(folder, "c.md"));
      symlinkSync("/etc/hostname", join(folder, "c.md"));
      rmSync(join(folder, "d.md"));
      mkdirSync(join(folder, "d.md"));
    });
    expect(documents).toEqual(["e.md"]);
    expect(leftOut).toEqual({
      "z.png": "unknown_kind",
      "a.md": "unreadable",
      "b.md": "empty",
      "c.md": "link",
      "d.md": "special",
    });
  });

  test("keeps files of other kinds to itself, with their reasons", async () => {
    using directory = temporaryDirectory();
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    const files: Record<string, string | Uint8Array> = {
      "a.md": "# A",
      "empty.md": "",
      "blank.txt": " \n\t \n",
      "pointer.md": pointer,
      // Who writes about pointers may begin with one.
      "about.md": `${pointer}${"This is what a pointer looks like. ".repeat(40)}`,
      "huge.md": new Uint8Array(20 * 1024 * 1024 + 1).fill(97),
      "zero.md": new Uint8Array([35, 32, 0]),
      "photo.png": new Uint8Array([0x89, 0x50]),
      "page.html": "<p>without an extractor</p>",
      Makefile: "all:",
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory.path, name), content);
    const { documents, leftOut } = await namesOf(directory.path);
    expect(documents).toEqual(["a.md", "about.md"]);
    expect(leftOut).toEqual({
      Makefile: "unknown_kind",
      "blank.txt": "empty",
      "empty.md": "empty",
      "huge.md": "too_large",
      "page.html": "unknown_kind",
      "photo.png": "unknown_kind",
      "pointer.md": "lfs_pointer",
      "zero.md": "not_text",
    });
  });
});
