import { describe, expect, test } from "bun:test";
import { articleWithHead, jsonLd } from "../../../support/extraction.ts";

const meta = (name: string, content: string): string => `<meta name="${name}" content="${content}">`;
const property = (name: string, content: string): string => `<meta property="${name}" content="${content}">`;
const keywordsOf = async (head: string) => {
  const { keywords, sources } = await articleWithHead(head);
  return [keywords, sources.keywords];
};

describe("the keywords", () => {
  test("are none where the page names none", async () => {
    expect(await keywordsOf("")).toEqual([[], null]);
    expect(await keywordsOf(meta("keywords", " , ,"))).toEqual([[], null]);
  });

  test("are those of the meta element, each once", async () => {
    expect(await keywordsOf(meta("keywords", "tides, Mills,tides ,  sea  walls"))).toEqual([
      ["tides", "Mills", "sea walls"],
      "meta",
    ]);
  });

  test("are all tags of Open Graph, before the meta element's", async () => {
    const head =
      property("article:tag", "tides") +
      property("article:tag", "mills, old ones") +
      meta("keywords", "news");
    expect(await keywordsOf(head)).toEqual([["tides", "mills, old ones"], "meta"]);
  });

  test("are the article's own in JSON-LD, a text or a list", async () => {
    const article = (keywords: unknown): string =>
      jsonLd({ "@type": "Article", keywords }) + meta("keywords", "news");
    expect(await keywordsOf(article("tides, mills"))).toEqual([["tides", "mills"], "json-ld"]);
    expect(await keywordsOf(article(["tides", { "@type": "DefinedTerm", name: "mills" }]))).toEqual([
      ["tides", "mills"],
      "json-ld",
    ]);
    expect(await keywordsOf(article([]))).toEqual([["news"], "meta"]);
  });

  test("are 100 at most, and no sentences", async () => {
    const many = Array.from({ length: 5000 }, (_, index) => `k${index}`);
    const { keywords } = await articleWithHead(jsonLd({ "@type": "Article", keywords: many }));
    expect(keywords).toEqual(many.slice(0, 100));
    expect(await keywordsOf(meta("keywords", "word ".repeat(300)))).toEqual([[], null]);
  });
});

describe("the section", () => {
  test("is that of JSON-LD, then of Open Graph; else null", async () => {
    const sectionOf = async (head: string) => {
      const { section, sources } = await articleWithHead(head);
      return [section, sources.section];
    };
    const head = property("article:section", "Coast");
    expect(await sectionOf("")).toEqual([null, null]);
    expect(await sectionOf(head)).toEqual(["Coast", "meta"]);
    expect(
      await sectionOf(head + jsonLd({ "@type": "NewsArticle", articleSection: ["Harbour", "News"] })),
    ).toEqual(["Harbour", "json-ld"]);
  });
});

describe("the size of the image", () => {
  const sizeOf = async (head: string) => {
    const { image, imageWidth, imageHeight } = await articleWithHead(head);
    return [image?.replace("https://site.test/", ""), imageWidth, imageHeight];
  };

  test("is null where there is no image, or no size", async () => {
    expect(await sizeOf(property("og:image:width", "100"))).toEqual([undefined, null, null]);
    expect(await sizeOf(property("og:image", "/a.png"))).toEqual(["a.png", null, null]);
    expect(await sizeOf(property("og:image", "/a.png") + property("og:image:width", "wide"))).toEqual([
      "a.png",
      null,
      null,
    ]);
  });

  test("is that of the first image of Open Graph alone", async () => {
    const first =
      property("og:image", "/a.png") +
      property("og:image:width", "1200") +
      property("og:image:height", "630");
    const second =
      property("og:image", "/b.png") + property("og:image:width", "5") + property("og:image:height", "6");
    expect(await sizeOf(first + second)).toEqual(["a.png", 1200, 630]);
    expect(await sizeOf(property("og:image", "/a.png") + second)).toEqual(["a.png", null, null]);
  });

  test("is that of JSON-LD's object of the same image", async () => {
    const image = {
      "@type": "ImageObject",
      url: "https://site.test/a.png",
      width: "800px",
      height: { value: 600 },
    };
    expect(await sizeOf(jsonLd({ "@type": "Article", image }))).toEqual(["a.png", 800, 600]);
    expect(await sizeOf(property("og:image", "/a.png") + jsonLd({ "@type": "Article", image }))).toEqual([
      "a.png",
      800,
      600,
    ]);
    expect(await sizeOf(property("og:image", "/b.png") + jsonLd({ "@type": "Article", image }))).toEqual([
      "b.png",
      null,
      null,
    ]);
  });
});
