import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { forAllTests } from "../support/for-all-tests.ts";
import { openLibraryProject, RUNTIMES } from "../support/library-project.ts";
import { SAMPLE_PORTS } from "../support/sample-site.ts";
import { serveSite } from "../support/site.ts";

const ROOT = join(import.meta.dir, "../..");
const project = forAllTests(await openLibraryProject());

const site = forAllTests(await serveSite());
/** A page of the sample site, from where it is served now. */
const here = (text: string): string => text.replaceAll(`http://localhost:${SAMPLE_PORTS.http}`, site.origin);

// What the page of the library's documentation has its readers fetch.
await mkdir(join(project.path, "pages"));
await writeFile(
  join(project.path, "pages/about.html"),
  await (await fetch(`${site.origin}/about.html`)).text(),
);

async function examplesOf(document: string): Promise<string[]> {
  const text = await Bun.file(join(ROOT, document)).text();
  return [...text.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```/gm)].map(([, source = ""]) => here(source));
}

/** What each example of the documentation prints. */
const OUTPUTS = [
  "About the workshop 212\n# About the workshop\n",
  "about.html About the workshop\n",
  "invalid_usage extractArticle takes the page as a string, Uint8Array or ArrayBuffer, not a promise: await it first\n",
];

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`on ${name}`, () => {
    test("the examples of the library's documentation print what they say", async () => {
      const examples = await examplesOf("docs/library.md");
      expect(await Promise.all(examples.map((source) => project.print(executable, source)))).toEqual(OUTPUTS);
    });

    test("the example of the README prints what the article holds", async () => {
      const [example = ""] = (await examplesOf("README.md")).filter((source) =>
        source.includes("article-extractor"),
      );
      expect(await project.print(executable, example)).toBe(
        "What we learned from two years of lending tools 429 1\n429\nno_content\n",
      );
    });
  });
}
