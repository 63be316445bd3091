import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { forAllTests } from "../support/for-all-tests.ts";
import { openLibraryProject, RUNTIMES } from "../support/library-project.ts";

const ROOT = join(import.meta.dir, "../..");
const project = forAllTests(await openLibraryProject());

const PAGE = "<title>Tides</title><p>The sea rises twice a day.</p>";
await writeFile(join(project.path, "page.html"), PAGE);
await mkdir(join(project.path, "pages"));
await writeFile(join(project.path, "pages/a.html"), PAGE);
await writeFile(join(project.path, "pages/b.html"), "");

async function examplesOf(document: string): Promise<string[]> {
  const text = await Bun.file(join(ROOT, document)).text();
  return [...text.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```/gm)].map(([, source = ""]) => source);
}

/** What each example of the documentation prints. */
const OUTPUTS = [
  "Tides 6\n# Tides\n\nThe sea rises twice a day.\n",
  "a.html Tides\nb.html no_content\n",
  "invalid_usage extractArticle takes the page as a string, Uint8Array or ArrayBuffer, not a promise: await it first\n",
];

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`on ${name}`, () => {
    test("the examples of the library's documentation print what they say", async () => {
      const examples = await examplesOf("docs/library.md");
      // The example's host is nobody's; what counts is that nobody waits for the answer.
      const isolated = examples.map((source) => source.replace("fetch(", "Promise.resolve("));
      expect(await Promise.all(isolated.map((source) => project.print(executable, source)))).toEqual(OUTPUTS);
    });

    test("the example of the README prints what the article holds", async () => {
      const [example = ""] = (await examplesOf("README.md")).filter((source) =>
        source.includes("article-extractor"),
      );
      const source = `const html = ${JSON.stringify(PAGE)};\n${example}`;
      expect(await project.print(executable, source)).toBe(
        "Tides 6 # Tides\n\nThe sea rises twice a day.\nTides\nno_content\n",
      );
    });
  });
}
