import { expect, test } from "bun:test";
import { kindOf } from "../../../../src/search/testing.ts";

test.each([
  ["a.md", "", "markdown"],
  ["b/A.MD", "", "markdown"],
  ["a.mdx", "", "mdx"],
  ["a.markdown", "", "markdown"],
  ["a.html", "", "html"],
  ["a.rst", "", "rst"],
  ["a.adoc", "", "asciidoc"],
  ["a.asciidoc", "", "asciidoc"],
  ["a.ipynb", "", "notebook"],
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
  ["a.json", '{"openapi": "3.1.0"}', "api"],
  ["a.json", '{"info":{},"swagger":"2.0"}', "api"],
  ["a.json", '{"asyncapi" : "3.0.0"}', "api"],
  ["package.json", '{"dependencies": {"openapi": "^3.0.0"}}', null],
  ["a.json", "", null],
  ["a.yaml", "# words\nopenapi: 3.1.0\n", "api"],
  ["a.yml", "info: {}\nswagger: '2.0'\n", "api"],
  ["a.yml", '"asyncapi": "2.6.0"\n', "api"],
  ["a.yaml", '{"openapi": "3.1.0"}', "api"],
  ["a.yml", "on: push\nsteps:\n  openapi: 3\n", null],
  ["release-1.2", "Words", null],
] as const)("%s with the text %j is of the kind %s", (path, text, kind) => {
  expect(kindOf(path, text)).toBe(kind);
});
