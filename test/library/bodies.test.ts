import { describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { openLibraryProject, RUNTIMES } from "../support/library-project.ts";

const project = forAllTests(await openLibraryProject());

const SENTENCE = "La marée monte à l'étale, où règne l'été.";
const PAGE = `<html><head>META<title>La marée</title></head><body><p>${SENTENCE}</p></body></html>`;
const page = (meta = ""): string => JSON.stringify(PAGE.replace("META", meta));

/** Ways to hand the page over. */
const BODIES: Readonly<Record<string, string>> = {
  text: `extractArticle(${page()})`,
  "a Buffer": `extractArticle(Buffer.from(${page()}))`,
  "bytes in UTF-8": `extractArticle(new TextEncoder().encode(${page()}))`,
  "a part of a larger buffer": `extractArticle(Buffer.from("xx" + ${page()} + "yy").subarray(2, -2))`,
  "an ArrayBuffer": `extractArticle(new TextEncoder().encode(${page()}).buffer)`,
  "bytes whose meta names the charset": `extractArticle(Buffer.from(${page('<meta charset="iso-8859-1">')}, "latin1"))`,
  "bytes whose header names the charset": `extractArticle(Buffer.from(${page()}, "latin1"), null, { contentType: "text/html; charset=iso-8859-1" })`,
  "bytes of no named charset": `extractArticle(Buffer.from(${page()}.replace("</p>", "</p>" + "<p>Été, marée, bientôt, forêt, où règne l'été. ".repeat(40)), "latin1"), null, { select: "p:first-of-type" })`,
  "UTF-16 with its mark": `extractArticle(Buffer.from("\\ufeff" + ${page()}, "utf16le"))`,
  "Markdown by its type": `extractArticle("# La marée\\n\\n" + ${JSON.stringify(SENTENCE)}, null, { contentType: "text/markdown; charset=utf-8" })`,
  "XHTML by its type": `extractArticle(${page()}.replace("<p>", "<p><a id='x'/>"), null, { contentType: "Application/XHTML+XML" })`,
  "options that are not given": `extractArticle(${page()}, undefined, { favor: undefined, select: undefined, minWordCount: undefined, contentType: null })`,
};

/** Wrong calls, each with what their message says. */
const WRONG: readonly (readonly [call: string, message: string])[] = [
  ...(
    [
      ["null", "null"],
      ["", "undefined"],
      ["42", "the number 42"],
      ["true", "the boolean true"],
      ["Promise.resolve('x')", "a promise: await it first"],
      ["new Response('x')", "a value of type Response: pass what its arrayBuffer() resolves to"],
      ["{}", "a value of type Object"],
      ["Object.create(null)", "a value of type Object"],
      ["['x']", 'the list ["x"]'],
      ["new Date(0)", "a value of type Date"],
      ["() => 'x'", "a function"],
      ["Symbol('x')", "the symbol Symbol(x)"],
    ] as const
  ).map(
    ([given, said]) =>
      [
        `extractArticle(${given})`,
        `extractArticle takes the page as a string, Uint8Array or ArrayBuffer, not ${said}`,
      ] as const,
  ),
  ["extractArticle('x', 5)", "extractArticle takes the page's url as text or null, not the number 5"],
  ["extractArticle('x', null, null)", "extractArticle takes options as an object, not null"],
  [
    "extractArticle('x', null, { minWordCout: 5 })",
    'extractArticle has no option "minWordCout"; did you mean minWordCount?',
  ],
  ["extractArticle('x', null, { network: {} })", 'extractArticle has no option "network"'],
  [
    "extractArticle('x', null, { minWordCount: '5' })",
    'extractArticle: minWordCount must be a whole number from 0 to 1000000000, not the text "5"',
  ],
  [
    "extractArticle('x', null, { favor: 'all' })",
    'extractArticle: favor must be one of balanced, precision, recall, not the text "all"',
  ],
  [
    "extractArticle('x', null, { exclude: 'nav' })",
    'extractArticle: exclude must be a list of texts, not the text "nav"',
  ],
  [
    "extractArticle('x', null, { includeCode: 0 })",
    "extractArticle: includeCode must be true or false, not the number 0",
  ],
  [
    "extractArticle('x', null, { signal: {} })",
    "extractArticle: signal must be an AbortSignal, not a value of type Object",
  ],
  [
    "extractArticle('x', null, { include: ['link'] })",
    'extractArticle: include must be a list of links, images, structuredData, not the list ["link"]',
  ],
  ["extractArticle('x', null, { select: '[' })", 'select "[" is not a CSS selector'],
  ["extractArticleFromUrl(null)", "extractArticleFromUrl takes the page's address as text, not null"],
  [
    "extractArticleFromUrl('http://h/', { network: { retries: -1 } })",
    "extractArticleFromUrl's network: retries must be a whole number from 0 to 20, not the number -1",
  ],
];

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`the library on ${name}`, () => {
    test("reads a page in every form that it may have", async () => {
      const calls = Object.entries(BODIES).map(([what, call]) => `[${JSON.stringify(what)}, () => ${call}]`);
      const body = `const answers = [];
        for (const [what, call] of [${calls.join(",")}]) {
          const { text, title, fetcher, url } = await call();
          answers.push([what, text, title, fetcher, url]);
        }
        return answers;`;
      const expected = Object.keys(BODIES).map((what) => [what, SENTENCE, "La marée", "file", null]);
      expect(await project.run(executable, body)).toEqual(expected);
    });

    test("says what was wrong with a call", async () => {
      const calls = WRONG.map(([call]) => `() => ${call}`);
      const body = `const outcomes = [];
        for (const call of [${calls.join(",")}])
          outcomes.push(await call().then(() => "no error", (error) => [error instanceof Failure, error.code, error.message]));
        return outcomes;`;
      const expected = WRONG.map(([, message]) => [true, "invalid_usage", message]);
      expect(await project.run(executable, body)).toEqual(expected);
    });

    test("finds no content in an empty page, and no text in other bytes", async () => {
      const pages = ["''", "new Uint8Array()", "new ArrayBuffer(0)", "'<p></p>'"];
      const body = `const codeOf = (page) => extractArticle(page).then(() => null, ({ code }) => code);
        return [${pages.map((page) => `await codeOf(${page})`).join(",")}, await codeOf(Buffer.from("GIF89a\\0\\0\\x01\\x02"))];`;
      const none = pages.map(() => "no_content");
      expect(await project.run(executable, body)).toEqual([...none, "unsupported_content"]);
    });

    test("has the other engine where its packages are", async () => {
      const body = `const { markdown } = await extractArticle(${page()}, null, { engine: "readability" }); return markdown;`;
      expect(await project.run(executable, body)).toBe(`# La marée\n\n${SENTENCE}`);
    });
  });
}
