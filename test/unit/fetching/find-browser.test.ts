import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { findBrowser } from "../../../src/fetching/browser/hosts.ts";
import type { FindBrowserOptions } from "../../../src/fetching/index.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";

const directory = directoryForEachTest();

function put(path: string, mode = 0o755): string {
  const whole = join(directory(), path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, "#!/bin/sh\n", { mode });
  return whole;
}

// On a Mac the places are below the home directory, so no browser of this machine is found.
const find = (options: Partial<FindBrowserOptions> = {}): string | null =>
  findBrowser({ explicit: null, searchPath: "", platform: "darwin", home: directory(), ...options });
const onPath = (...names: string[]) => ({
  searchPath: names.map((name) => join(directory(), name)).join(delimiter),
});

test("no browser is found when there is none", () => {
  expect(find(onPath("a", "b"))).toBeNull();
});

test("PATH comes before the usual places, and Chromium before Chrome", () => {
  const usual = put("Applications/Chromium.app/Contents/MacOS/Chromium");
  expect(find()).toBe(usual);
  const chrome = put("a/google-chrome");
  expect(find(onPath("a", "b"))).toBe(chrome);
  const chromium = put("b/chromium");
  expect(find(onPath("a", "b"))).toBe(chromium);
});

test("directories, files that cannot be run and relative entries of PATH are ignored", () => {
  mkdirSync(join(directory(), "a/chromium"), { recursive: true });
  put("b/chromium", 0o644);
  put("c/chromium");
  const searchPath = relative(process.cwd(), join(directory(), "c"));
  expect(find(onPath("a", "b"))).toBeNull();
  expect(find({ searchPath })).toBeNull();
});

test("a named browser comes before all others, and must be executable", () => {
  const named = put("own/browser");
  put("a/chromium");
  expect(find({ ...onPath("a"), explicit: named })).toBe(named);
  const missing = join(directory(), "nowhere");
  expect(() => find({ ...onPath("a"), explicit: missing })).toThrow(
    `ARTICLE_EXTRACTOR_BROWSER_PATH: ${JSON.stringify(missing)} is not a program that can be run`,
  );
});

test("the name none means no browser, whatever the machine has", () => {
  put("a/chromium");
  expect(find({ ...onPath("a"), explicit: "none" })).toBeNull();
});
