import { describe, expect, test } from "bun:test";
import { html, page, serveCrawlSite } from "../support/crawl-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { openLibraryProject, RUNTIMES } from "../support/library-project.ts";
import { serveSite } from "../support/site.ts";

const project = forAllTests(await openLibraryProject());
const site = forAllTests(await serveSite());
const gone = forAllTests(
  serveCrawlSite({
    "/deep": () => html(page("The mill (by the river)").padEnd(600), { status: 404 }),
    "*": ({ path }) => html(page(`Nobody home at ${path}`).padEnd(600), { status: 404 }),
  }),
);
const { run } = project;

const HTML = JSON.stringify(
  `<html lang="en"><title>Tides</title><article><h1>Tides</h1><p>The <a href="b">sea</a> rises twice a day.</p></article>`,
);
const FAILURE = "catch (error) { return [error instanceof Failure, error.code]; }";

for (const { name, executable, isMissing } of RUNTIMES) {
  describe.skipIf(isMissing)(`the library on ${name}`, () => {
    test("obeys a signal, for a string and for a URL", async () => {
      const body = `const signal = AbortSignal.abort();
        const code = (work) => work.then(() => null, (error) => error.code);
        return [await code(extractArticle(${HTML}, null, { signal })),
          await code(extractArticleFromUrl("http://127.0.0.1:1/", { signal }))];`;
      expect(await run(executable, body)).toEqual(["cancelled", "cancelled"]);
    });

    test("extracts an HTML string with the links made absolute", async () => {
      const body = `const a = await extractArticle(${HTML}, "https://example.org/a");
        return [a.title, a.wordCount, a.markdown, a.text, a.lang, a.byline, a.fetcher];`;
      expect(await run(executable, body)).toEqual([
        "Tides",
        6,
        "# Tides\n\nThe [sea](https://example.org/b) rises twice a day.",
        "The sea rises twice a day.",
        "en",
        null,
        "file",
      ]);
    });

    test("takes options", async () => {
      const body = `const a = await extractArticle(${HTML}, null, { minWordCount: 3, exclude: ["a"] });
        return [a.text, a.warnings];`;
      expect(await run(executable, body)).toEqual(["The rises twice a day.", []]);
    });

    test("gives links, images and structured data where they are asked for", async () => {
      const body = `const page = ${HTML}.replace("rises", '<img src="i.png" alt="i"> rises');
        const fields = ({ links, images, structuredData, language }) => ({ links, images, structuredData, language });
        const include = ["links", "images", "structuredData"];
        return [fields(await extractArticle(page, "https://example.org/a")),
          fields(await extractArticle(page, "https://example.org/a", { include }))];`;
      expect(await run(executable, body)).toEqual([
        { links: null, images: null, structuredData: null, language: "en" },
        {
          links: [{ url: "https://example.org/b", text: "sea" }],
          images: [{ url: "https://example.org/i.png", alt: "i", width: null, height: null }],
          structuredData: { jsonLd: [], microdata: [], openGraph: [] },
          language: "en",
        },
      ]);
    });

    test("fetches and extracts a URL", async () => {
      const body = `const a = await extractArticleFromUrl("${site.origin}/news/borrowed-tools.html");
        return [a.title, a.statusCode, a.finalUrl, a.warnings];`;
      expect(await run(executable, body)).toEqual([
        "What we learned from two years of lending tools",
        200,
        `${site.origin}/news/borrowed-tools.html`,
        [],
      ]);
    });

    test("tells a page behind a 404 from one that only says so", async () => {
      const body = `const read = (path, options) => extractArticleFromUrl("${gone.origin}" + path, options)
          .then((article) => article.statusCode, (error) => error.code);
        return [await read("/deep"), await read("/other"), await read("/deep", { failOnHttpError: true })];`;
      expect(await run(executable, body)).toEqual([404, "http_status", "http_status"]);
    });

    test("follows redirects", async () => {
      const body = `const a = await extractArticleFromUrl("${site.origin}/docs"); return a.finalUrl;`;
      expect(await run(executable, body)).toBe(`${site.origin}/docs/`);
    });

    test("refuses what the egress policy refuses", async () => {
      const url = `${site.origin}/news/borrowed-tools.html`;
      const body = `try { await extractArticleFromUrl("${url}", { network: { egress: "public" } }); } ${FAILURE}`;
      expect(await run(executable, body)).toEqual([true, "egress_refused"]);
    });

    test("fails with a code for a page without words, a wrong URL and a closed port", async () => {
      const attempt = (call: string): string => `try { await ${call}; } ${FAILURE}`;
      expect(await run(executable, attempt('extractArticle("<p> </p>")'))).toEqual([true, "no_content"]);
      expect(await run(executable, attempt('extractArticle("x", "ftp://h/")'))).toEqual([
        true,
        "invalid_url",
      ]);
      const secret = "extractArticleFromUrl('http://user:pwsecret@host:99999/')";
      const message = `try { await ${secret}; } catch (error) { return error.message; }`;
      expect(String(await run(executable, message))).not.toContain("pwsecret");
      const closed = 'extractArticleFromUrl("http://127.0.0.1:9/", { network: { retries: 0 } })';
      expect(await run(executable, attempt(closed))).toEqual([true, "network"]);
    });

    test("goes through the proxy of the environment", async () => {
      const body = `try { await extractArticleFromUrl("http://tides.example/", { network: { retries: 0 } }); } ${FAILURE}`;
      // Nobody listens there: what counts is that the request goes there and nowhere else.
      expect(await run(executable, body, { HTTP_PROXY: "http://127.0.0.1:9" })).toEqual([true, "network"]);
    });
  });
}
