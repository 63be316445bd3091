import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../src/pages/index.ts";
import { openObjectStore } from "../../src/scale/objects/open.ts";
import { createObjectPageStore } from "../../src/scale/page-store.ts";
import type { DocumentUrl } from "../../src/urls/index.ts";
import { optionsFor } from "../support/bucket.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { describePageStore } from "./page-store.contract.ts";

describePageStore("files", async () => {
  const directory = temporaryDirectory();
  return { ...directory, open: () => createFileStore(directory.path) };
});

describePageStore("objects in a directory", async () => {
  const directory = temporaryDirectory();
  const store = await openObjectStore({ kind: "directory", path: directory.path }, optionsFor(""));
  return { ...directory, open: () => createObjectPageStore(store) };
});

test("objects that are no pages, and pages of folders below, are passed over", async () => {
  const path = await mkdtemp(join(tmpdir(), "page-store-"));
  const store = await openObjectStore({ kind: "directory", path }, optionsFor(""));
  const page = {
    url: "https://h.test/a" as DocumentUrl,
    title: "A page",
    extractedAt: "2026-11-05T09:30:00.000Z",
    wordCount: 3,
    markdown: "Some body text.",
  };
  const pages = createObjectPageStore(store);
  const name = await pages.put(page);
  const text = (await store.read(name)) ?? "";
  for (const key of ["gone/page.md", `gone/${name}`, "page.txt", "copy-of-page.md"])
    await store.put(key, text);
  await store.put("readme.md", "# No page of ours");
  const listed = [];
  for await (const one of pages.list()) listed.push(one);
  expect(listed).toEqual([page]);
  await store.put(name, "# Overwritten by somebody");
  expect(await pages.get(page.url)).toBeNull();
  await rm(path, { recursive: true });
});
