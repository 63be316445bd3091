import { describe, expect, test } from "bun:test";
import type { ArticleResult } from "../../../src/articles/fetched-article.ts";
import {
  articleFields,
  articleFromDocument,
  bodyKind,
  DEFAULT_FIELDS,
  type LocalDocument,
} from "../../../src/articles/index.ts";
import { Failure } from "../../../src/base/failure.ts";
import { type ExtractionOptions, extractBody } from "../../../src/extraction/index.ts";
import { parsePageUrl } from "../../../src/urls/index.ts";
import { OPTIONS } from "../../support/extraction.ts";

const fromDocument = (document: Partial<LocalDocument>, options: Partial<ExtractionOptions> = {}) =>
  articleFromDocument(
    { name: "page.html", kind: "html", body: "", url: null, warnings: [], ...document },
    { ...OPTIONS, ...options },
    { extractor: { extract: extractBody } },
  );

const resultOf = async (document: Partial<LocalDocument>, options: Partial<ExtractionOptions> = {}) =>
  articleFields(await fromDocument(document, options), DEFAULT_FIELDS) as Omit<
    ArticleResult,
    "links" | "images" | "structured_data" | "blocks"
  >; // they are all there

describe("the extraction result", () => {
  test("has its fields in their order", async () => {
    const result = await resultOf({ body: "<p>word</p>" });
    expect(Object.keys(result)).toEqual(
      "url final_url canonical_url status_code http_status fetcher title byline siteName published_date modified_date lang language dir excerpt image image_width image_height keywords section page_type confidence sources content markdown text length word_count success warnings".split(
        " ",
      ),
    );
    expect(Object.keys(result.sources)).toEqual(
      "title byline published_date modified_date language keywords section markdown".split(" "),
    );
  });

  test("has null for everything that the page does not say", async () => {
    expect(await resultOf({ body: "some words" })).toEqual({
      url: null,
      final_url: null,
      canonical_url: null,
      status_code: null,
      http_status: null,
      fetcher: "file",
      title: null,
      byline: null,
      siteName: null,
      published_date: null,
      modified_date: null,
      lang: null,
      language: null,
      dir: null,
      excerpt: null,
      image: null,
      image_width: null,
      image_height: null,
      keywords: [],
      section: null,
      page_type: null,
      confidence: null,
      sources: {
        title: null,
        byline: null,
        published_date: null,
        modified_date: null,
        language: null,
        keywords: null,
        section: null,
        markdown: null,
      },
      content: expect.stringContaining("some words"),
      markdown: "some words",
      text: "some words",
      length: 10,
      word_count: 2,
      success: true,
      warnings: null,
    });
  });

  test("has everything that the page says", async () => {
    const head = `<title>The mill</title><meta name="author" content="Ann Quay"><meta property="og:site_name" content="Harbour News">
      <meta property="article:published_time" content="2024-03-12"><meta property="article:modified_time" content="2024-03-13T10:00:00Z">
      <meta name="description" content="It turns."><meta property="og:image" content="a.png"><meta property="og:image:width" content="1200">
      <meta name="keywords" content="mills, tides"><meta property="article:section" content="Coast"><link rel="canonical" href="/mill">`;
    const url = parsePageUrl("https://site.test/dir/page");
    const body = `<html lang="en" dir="ltr"><head>${head}</head><body><h1>The mill</h1><p>It turns again 🙂.</p></body></html>`;
    const result = await resultOf({ body, url, warnings: ["read with care"] }, { minWordCount: 10 });
    expect(result).toMatchObject({
      url,
      final_url: url,
      canonical_url: "https://site.test/mill",
      title: "The mill",
      byline: "Ann Quay",
      siteName: "Harbour News",
      published_date: "2024-03-12",
      modified_date: "2024-03-13T10:00:00Z",
      lang: "en",
      dir: "ltr",
      excerpt: "It turns.",
      image: "https://site.test/dir/a.png",
      language: "en",
      keywords: ["mills", "tides"],
      section: "Coast",
      image_width: 1200,
      image_height: null,
      sources: {
        title: "heading",
        byline: "meta",
        published_date: "meta",
        modified_date: "meta",
        language: "lang",
        keywords: "meta",
        section: "meta",
      },
      markdown: "# The mill\n\nIt turns again 🙂.",
      text: "It turns again 🙂.",
      word_count: 3,
      warnings: ["read with care", "Content below minimum word count (3 < 10)"],
    });
    expect(result.length).toBe(result.text.length);
  });

  test("has null instead of an empty text", async () => {
    const blank = `<html lang="" dir=""><head><title> </title><meta name="author" content=""><meta name="description" content=" ">
      <meta property="og:image" content=""><meta property="og:site_name" content="\u200b"><link rel="canonical" href="">
      <script type="application/ld+json">{"@type":"Article","author":{"name":""},"datePublished":"","publisher":""}</script></head>`;
    for (const document of [
      { body: `${blank}<body><p>word</p></body></html>` },
      { kind: "markdown", body: "word" },
    ] as const) {
      const { text: _, ...result } = await resultOf(document);
      expect(JSON.stringify(result)).not.toContain('""');
    }
  });

  test("shows a title with markup unchanged", async () => {
    const result = await resultOf({ body: "<title>a *b* [c](d) &lt;i> e_f</title><p>word</p>" });
    expect(result.title).toBe("a *b* [c](d) <i> e_f");
    expect(result.markdown).toBe("# a \\*b\\* [c]\\(d) \\<i> e_f\n\nword");
  });

  test("has no rendering that was not made", async () => {
    expect(await resultOf({ body: "<title>t</title><p>word</p>" }, { renderings: [] })).toMatchObject({
      content: null,
      markdown: null,
    });
  });
});

describe("a local document", () => {
  test("without words fails as no_content under its name", async () => {
    const failure = await fromDocument({ name: "empty.html", body: "<p> </p>" }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: "no_content", message: "empty.html holds no words of content" });
  });

  test("keeps relative links without an address", async () => {
    const { article } = await fromDocument({ body: `<p>a <a href="b.html">link</a></p>` });
    expect(article.markdown).toBe("a [link](b.html)");
  });

  test("is read according to its media type", () => {
    const kinds = [
      "text/markdown",
      "text/x-markdown",
      "text/plain",
      "text/html",
      "application/xhtml+xml",
      "",
    ].map(bodyKind);
    expect(kinds).toEqual(["markdown", "markdown", "plain", "html", "xhtml", "html"]);
  });
});
