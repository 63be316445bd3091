import { describe, expect, test } from "bun:test";
import {
  type Files,
  hashOf,
  unexplainedChanges,
  unheldStatements,
  unlikeDocument,
} from "../../../scripts/specification.ts";

const TEST = 'statement("Limits", "10 redirects", () => {});\n';
const folder = (changes: Readonly<Record<string, string | null>> = {}): Files => {
  const files = {
    "extraction-limits.test.ts": TEST,
    "extraction.json": '{"Limits": ["10 redirects"]}',
    "exceptions.json": "[]",
    "README.md": "# Tests\n",
    ...changes,
  };
  const kept = Object.entries(files).filter((file): file is [string, string] => file[1] !== null);
  return new Map(kept);
};
const landed = (files: Files): Record<string, string> =>
  Object.fromEntries(
    [...files].filter(([name]) => name.endsWith(".ts")).map(([name, text]) => [name, hashOf(text)]),
  );
const withHashes = (changes: Readonly<Record<string, string | null>> = {}): Files =>
  new Map([...folder(changes), ["hashes.json", JSON.stringify(landed(folder()))]]);

describe("files of the specification's tests", () => {
  test("are as they landed", () => {
    expect(unexplainedChanges(withHashes(), "")).toEqual([]);
    expect(unexplainedChanges(withHashes({ "README.md": "# Other\n" }), "")).toEqual([]);
  });

  test("change only with a line that names the file and its new hash", () => {
    const text = TEST.replace("10", "20");
    const files = withHashes({ "extraction-limits.test.ts": text });
    const line = `Specification test changed: extraction-limits.test.ts ${hashOf(text)} — the limit is another`;
    expect(unexplainedChanges(files, "")).toEqual([expect.stringContaining(hashOf(text))]);
    expect(unexplainedChanges(files, line.replace(hashOf(text), hashOf(TEST)))).toHaveLength(1);
    expect(unexplainedChanges(files, line)).toEqual([]);
  });

  test("go only with a line, and need a hash when they come", () => {
    const files = withHashes({ "extraction-limits.test.ts": null, "extraction-new.test.ts": "" });
    expect(unexplainedChanges(files, "")).toEqual([
      expect.stringContaining("limits.test.ts is gone"),
      expect.stringContaining("extraction-new.test.ts has no hash"),
    ]);
    expect(
      unexplainedChanges(
        files,
        "Specification test removed: extraction-limits.test.ts — it is said elsewhere",
      ),
    ).toHaveLength(1);
  });
});

describe("a statement", () => {
  const exception = JSON.stringify([
    { document: "extraction", section: "Limits", words: "10 redirects", reason: "x" },
  ]);

  test("has a test or an exception, and not both", () => {
    expect(unheldStatements(folder())).toEqual([]);
    expect(
      unheldStatements(folder({ "extraction-limits.test.ts": "", "exceptions.json": exception })),
    ).toEqual([]);
    for (const changes of [{ "extraction-limits.test.ts": "" }, { "exceptions.json": exception }])
      expect(unheldStatements(folder(changes))).toHaveLength(1);
  });

  test("stands in the inventory once, and so does one that has an exception", () => {
    expect(
      unheldStatements(folder({ "extraction.json": '{"Limits": ["10 redirects", "10 redirects"]}' })),
    ).toHaveLength(1);
    expect(unheldStatements(folder({ "exceptions.json": exception.replace("10", "11") }))).toHaveLength(1);
  });

  test("quotes its section, and no section of the document is without one", () => {
    const text = "# Service\n\n## Limits\n\n| Setting | Default |\n|---|---|\n| PORT | `3000` |\n";
    expect(unlikeDocument({ Limits: ["PORT | 3000"] }, text)).toEqual([]);
    expect(unlikeDocument({ "Limits 2(b)": ["PORT"] }, text)).toEqual([]);
    expect(unlikeDocument({ Limits: ["PORT | 80"] }, text)).toHaveLength(1);
    expect(unlikeDocument({ Errors: ["PORT"] }, text)).toHaveLength(2);
    expect(unlikeDocument({ Limits: [] }, text.replace("Limits", "Limits (`serve`)"))).toEqual([]);
  });
});
