import { beforeEach, describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile, rename, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../../src/base/failure.ts";
import { createFileStore, type Page, type PageStore } from "../../../src/pages/index.ts";
import { formatPage } from "../../../src/pages/page.ts";
import { type PageUrl, parsePageUrl } from "../../../src/urls/index.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";

const root = directoryForEachTest();
let directory: string;
let store: PageStore;

beforeEach(() => {
  directory = join(root(), "pages");
  store = createFileStore(directory);
});

const url = (path: string): PageUrl => parsePageUrl(`https://h.test/${path}`) as PageUrl; // literals
const page = (path: string, title = "A page"): Page => ({
  url: url(path),
  title,
  extractedAt: "2026-11-05T09:30:00.000Z",
  wordCount: 1,
  markdown: "Body.",
});
const write = (name: string, text: string): Promise<number> => Bun.write(join(directory, name), text);
const read = (name: string): Promise<string> => readFile(join(directory, name), "utf8");

async function listedUrls(): Promise<string[]> {
  const listed = [];
  for await (const one of store.list()) listed.push(one.url);
  return listed;
}

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Failure) return error;
  throw new Error(`expected a Failure, got ${error}`);
}

describe("the file store", () => {
  test("makes its directory on the first put, not before", async () => {
    expect(await listedUrls()).toEqual([]);
    expect(await readdir(root())).toEqual([]);
    expect(await store.put(page("a"))).toBe("h.test__a.md");
    expect(await read("h.test__a.md")).toBe(formatPage(page("a")));
  });

  test("leaves nothing but the pages in the directory", async () => {
    await Promise.all([store.put(page("a")), store.put(page("b")), store.put(page("a"))]);
    expect((await readdir(directory)).sort()).toEqual(["h.test__a.md", "h.test__b.md"]);
  });

  test("neither overwrites nor lists a file without our front matter", async () => {
    await write("h.test__a.md", "# My notes\n");
    expect(await store.put(page("a"))).toMatch(/^h\.test__a-[0-9a-f]{10}\.md$/);
    expect(await read("h.test__a.md")).toBe("# My notes\n");
    expect(await listedUrls()).toEqual(["https://h.test/a"]);
  });

  test("spares a foreign file that came after the store was opened", async () => {
    await store.put(page("b"));
    await write("h.test__a.md", "# My notes\n");
    expect(await store.put(page("a"))).toMatch(/^h\.test__a-[0-9a-f]{10}\.md$/);
    expect(await read("h.test__a.md")).toBe("# My notes\n");
  });

  test("spares a page's file that a foreign one has replaced", async () => {
    const name = await store.put(page("a"));
    await write(name, "# My notes\n");
    expect(await store.put(page("a"))).not.toBe(name);
    expect(await read(name)).toBe("# My notes\n");
    expect(await store.get(url("a"))).toEqual(page("a"));
  });

  test("treats a name as taken when a foreign file has it in another case", async () => {
    await write("H.TEST__A.md", "# My notes\n");
    expect(await store.put(page("a"))).toMatch(/^h\.test__a-[0-9a-f]{10}\.md$/);
  });

  test("deletes no foreign file", async () => {
    await write("h.test__a.md", "# My notes\n");
    await store.delete(url("a"));
    expect(await readdir(directory)).toEqual(["h.test__a.md"]);
  });

  test("finds, replaces and deletes a page whose file was renamed by hand", async () => {
    await store.put(page("a"));
    await rename(join(directory, "h.test__a.md"), join(directory, "mine.md"));
    store = createFileStore(directory);
    expect(await store.get(url("a"))).toEqual(page("a"));
    expect(await store.put(page("a", "New"))).toBe("mine.md");
    await store.delete(url("a"));
    expect(await readdir(directory)).toEqual([]);
  });

  test("lists a page once, and deletes it wholly, when its file was copied", async () => {
    await store.put(page("a"));
    await write("copy.md", await read("h.test__a.md"));
    store = createFileStore(directory);
    expect(await listedUrls()).toEqual(["https://h.test/a"]);
    await store.delete(url("a"));
    expect(await listedUrls()).toEqual([]);
  });

  test("follows no symbolic link and stops at no directory or pipe with a page's name", async () => {
    await mkdir(join(directory, "h.test__d.md"), { recursive: true });
    await Bun.write(join(root(), "outside.md"), formatPage(page("a", "Outside")));
    await symlink(join(root(), "outside.md"), join(directory, "h.test__a.md"));
    await symlink(join(root(), "nowhere"), join(directory, "h.test__b.md"));
    await Bun.$`mkfifo ${join(directory, "h.test__c.md")}`;
    expect(await listedUrls()).toEqual([]);
    expect(await store.get(url("a"))).toBeNull();
    for (const path of ["a", "b", "c", "d"]) await store.put(page(path));
    expect(await listedUrls()).toEqual(["a", "b", "c", "d"].map(url));
    expect(await Bun.file(join(root(), "outside.md")).text()).toBe(formatPage(page("a", "Outside")));
  });

  test("removes what a killed writer left an hour ago, and nothing else", async () => {
    const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
    const stale = `.page-${crypto.randomUUID()}.tmp`;
    const fresh = `.page-${crypto.randomUUID()}.tmp`;
    for (const name of [stale, fresh, ".page-notes.tmp", "old.tmp"]) await write(name, "half");
    for (const name of [stale, ".page-notes.tmp", "old.tmp"]) await utimes(join(directory, name), old, old);
    await store.put(page("a"));
    expect((await readdir(directory)).sort()).toEqual(
      [".page-notes.tmp", fresh, "h.test__a.md", "old.tmp"].sort(),
    );
  });

  test("lists in the order of file names", async () => {
    for (const path of ["c", "a", "b"]) await store.put(page(path));
    expect(await listedUrls()).toEqual(["a", "b", "c"].map(url));
  });

  test("refuses a page that could not be read back before it touches the disk", async () => {
    expect((await failureOf(store.put({ ...page("a"), wordCount: -1 }))).code).toBe("internal");
    expect(await readdir(root())).toEqual([]);
  });

  test("says which directory could not be written, and why", async () => {
    await Bun.write(directory, "a file where the directory should be");
    const failure = await failureOf(store.put(page("a")));
    expect(failure.code).toBe("unwritable_output");
    expect(failure.message).toContain(`${url("a")} to ${directory}: there is a file of that name`);
  });

  test("says which path could not be read, and why", async () => {
    await Bun.write(directory, "a file where the directory should be");
    const failure = await failureOf(listedUrls());
    expect(failure.code).toBe("unreadable_input");
    expect(failure.message).toContain(`${directory}: a part of the path is not a directory`);
  });
});
