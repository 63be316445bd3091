import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import type { BodyKind } from "../../../src/extraction/index.ts";
import { cpuMsOf } from "../../support/cpu.ts";
import { OPTIONS, openWorker, PAGE_URL, pageUrl, pageWith } from "../../support/extraction.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

/** None of these needs 2 s of CPU; what is quadratic again takes minutes. */
const MAX_CPU_MS = 8_000;
/** Only for what never ends: a machine under load gives a page a tenth of a core. */
const TIME_LIMIT_MS = 300_000;

const extractor = forAllTests(openWorker(TIME_LIMIT_MS));

/** The number of words, or the code of the failure. */
async function outcomeOf(body: string, kind: BodyKind = "html"): Promise<number | string> {
  const { result, ms } = await cpuMsOf(() =>
    extractor.extract({ kind, body, url: pageUrl(PAGE_URL), options: OPTIONS }).catch((error: unknown) => {
      if (error instanceof Failure) return error.code;
      throw error;
    }),
  );
  expect(ms).toBeLessThan(MAX_CPU_MS);
  return typeof result === "string" ? result : (result.article?.wordCount ?? 0);
}

/** Words of the two paragraphs that `pageWith` puts around everything. */
const FRAME_WORDS = 162;

describe("a page made to cost much", () => {
  const pages: Readonly<Record<string, readonly [html: () => string, outcome: number | string]>> = {
    "20 000 unclosed divs": [() => "<div>".repeat(20_000), 0],
    "20 000 unclosed links": [() => "<a href=x>w ".repeat(20_000), 20_000],
    "10 000 unclosed bold words": [() => "<b>x ".repeat(10_000), 10_000],
    "10 000 unclosed paragraphs": [() => "<p>word ".repeat(10_000), 10_000],
    "100 000 beginnings of a tag": [() => "<a".repeat(100_000), 0],
    "100 000 beginnings of a comment": [() => "<!--".repeat(100_000), 0],
    "100 000 beginnings of a declaration": [() => "<!".repeat(100_000), 0],
    "100 000 unclosed attributes": [() => `<a href="`.repeat(100_000), 0],
    "100 000 end tags": [() => "</div>".repeat(100_000), 0],
    "20 000 unclosed scripts": [() => "<script>".repeat(20_000), 0],
    "20 000 ampersands": [() => pageWith("&".repeat(20_000)), FRAME_WORDS],
    "3 000 tables in tables": [() => "<table><tr><td>".repeat(3000), 0],
    "150 tables in tables": [() => `${"<table><tr><td>".repeat(150)}word`, 1],
    "2 000 quotations in quotations": [() => pageWith(`${"<blockquote>".repeat(2000)}word`), FRAME_WORDS + 1],
    "2 600 quotations in quotations": [() => pageWith("<blockquote>".repeat(2600)), FRAME_WORDS],
    "100 lists in lists": [() => pageWith("<ul><li>word".repeat(100)), FRAME_WORDS + 100],
    "10 000 siblings": [() => "<div>word</div>".repeat(10_000), 10_000],
    "10 000 paragraphs": [() => pageWith("<p>Two words.</p>".repeat(10_000)), FRAME_WORDS + 20_000],
    "10 000 headings": [
      () => pageWith(`<h2>word<a href="#x">¶</a></h2>`.repeat(10_000)),
      FRAME_WORDS + 10_000,
    ],
    "10 000 links": [() => pageWith(`Two <a href="/a">words</a>. `.repeat(10_000)), FRAME_WORDS + 20_000],
    "10 000 images": [() => pageWith(`<img src="/a.png" alt="word">`.repeat(10_000)), FRAME_WORDS],
    "3 000 images in one picture": [
      () => pageWith(`<picture>${"<source><img src=/b.png>".repeat(3000)}</picture>`),
      FRAME_WORDS,
    ],
    "20 000 meta elements": [() => pageWith("", "<meta name=a content=b>".repeat(20_000)), FRAME_WORDS],
    "100 000 attributes": [
      () => pageWith(`<p ${Array.from({ length: 100_000 }, (_, i) => `a${i}=1`).join(" ")}>word</p>`),
      FRAME_WORDS + 1,
    ],
    "attributes of a megabyte": [
      () =>
        pageWith(
          `<p title="${"a ".repeat(5e5)}" class="${"lang ".repeat(2e5)}" lang="${"a-".repeat(5e5)}">word</p><img src="/a.png" alt="${"a\u200b".repeat(5e5)}">`,
        ),
      FRAME_WORDS + 1,
    ],
    "a code block with a class of a megabyte": [
      () => pageWith(`<pre class="${"lang".repeat(2e5)}${" ".repeat(2e5)}">word</pre>`),
      FRAME_WORDS + 1,
    ],
    "a title of a megabyte": [() => pageWith("", `<title>${"a - ".repeat(250_000)}</title>`), FRAME_WORDS],
    "two megabytes of one word": [() => pageWith(`<p>${"w".repeat(2e6)}</p>`), FRAME_WORDS + 1],
    "two megabytes of space": [() => pageWith(`<p>a${" ".repeat(2e6)}b</p>`), FRAME_WORDS + 2],
    "a megabyte of joiners": [() => pageWith(`<p>a${"\u200d".repeat(1e6)}b</p>`), FRAME_WORDS + 1],
    "a megabyte of blank lines of code": [
      () => pageWith(`<pre>word${"\n".repeat(1e6)}word</pre>`),
      FRAME_WORDS + 2,
    ],
    "a table of 20 000 cells": [
      () => pageWith(`<table>${`<tr>${"<td>word</td>".repeat(100)}</tr>`.repeat(200)}</table>`),
      FRAME_WORDS + 20_000,
    ],
    "a table of 20 000 empty cells in one row": [
      () => pageWith(`<table><tr>${"<td></td>".repeat(20_000)}<td>word</td></tr></table>`),
      FRAME_WORDS + 1,
    ],
    "deep JSON-LD": [
      () =>
        pageWith(
          "",
          `<script type="application/ld+json">{"@type":"Article","author":${"[".repeat(50_000)}${"]".repeat(50_000)}}</script>`,
        ),
      FRAME_WORDS,
    ],
    "20 000 blocks of JSON-LD": [
      () => pageWith("", `<script type="application/ld+json">[[[1]]]</script>`.repeat(20_000)),
      FRAME_WORDS,
    ],
  };
  for (const [what, [html, outcome]] of Object.entries(pages)) {
    test(`by ${what} is dealt with`, async () => {
      expect(await outcomeOf(html())).toBe(outcome);
    }, 360_000);
  }
});

describe("a Markdown body made to cost much", () => {
  const bodies: Readonly<Record<string, readonly [body: () => string, outcome: number | string]>> = {
    "20 000 quotations in quotations": [() => ">".repeat(20_000), 0],
    "50 000 brackets": [() => "[".repeat(50_000), 0],
    "50 000 beginnings of an image": [() => "![".repeat(50_000), 0],
    "10 000 beginnings of emphasis": [() => "*a **b ".repeat(10_000), 20_000],
    "50 000 backticks": [() => `a ${"`".repeat(50_000)}a`, 2],
    "20 000 pieces of code": [() => "`a` ".repeat(20_000), 20_000],
    "a heading of spaces": [() => `# a${" ".repeat(500_000)}b\n\nword`, 1],
    "a megabyte of blank lines": [() => `a${"\n".repeat(1e6)}b`, 2],
    "5 000 references": [
      () => `${Array.from({ length: 5000 }, (_, i) => `[r${i}]: /x`).join("\n")}\n\nword`,
      1,
    ],
    "200 lists in lists": [
      () => Array.from({ length: 200 }, (_, i) => `${"  ".repeat(i)}- word`).join("\n"),
      200,
    ],
  };
  for (const [what, [body, outcome]] of Object.entries(bodies)) {
    test(`by ${what} is dealt with`, async () => {
      expect(await outcomeOf(body(), "markdown")).toBe(outcome);
    }, 360_000);
  }
});
