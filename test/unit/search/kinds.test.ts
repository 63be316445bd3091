import { expect, test } from "bun:test";
import { kindOf } from "../../../src/search/testing.ts";

test.each([
  ["a.md", "", "markdown"],
  ["b/A.MD", "", "markdown"],
  ["a.mdx", "", "mdx"],
  ["a.markdown", "", "markdown"],
  ["a.html", "", "html"],
  ["a.rst", "", "rst"],
  ["a.adoc", "", "asciidoc"],
  ["a.asciidoc", "", "asciidoc"],
  ["a", "# A", null],
  ["a.ts", "# A", null],
  ["a.constructor", "", null],
  ["md", "", null],
  // Endings that several kinds share.
  ["a.txt", "Words.", "plain"],
  ["a.txt", "", "plain"],
  ["a.txt", "Words.\n\n.. note:: More words.\n", "rst"],
  ["a.txt", ".. _a-target:\n\nWords\n=====\n", "rst"],
  ["a.txt", "Wait .. what:: this?", "plain"],
  ["a.rest", "Words\n=====\n", "rst"],
  ["a.rest", "\nGET https://h.test/ HTTP/1.1", null],
  ["a.rest", "@host = h.test\n", null],
  ["a.asc", "= Words", "asciidoc"],
  ["a.asc", "-----BEGIN PGP SIGNATURE-----", null],
  ["release-1.2", "Words", null],
] as const)("%s with the text %j is of the kind %s", (path, text, kind) => {
  expect(kindOf(path, text)).toBe(kind);
});
