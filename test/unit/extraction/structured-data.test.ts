import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Article } from "../../../src/extraction/index.ts";
import { articleOf, jsonLd, pageWith } from "../../support/extraction.ts";

const described = async (
  inner: string,
  head = "",
): Promise<Article & { structuredData: NonNullable<Article["structuredData"]> }> => {
  const article = await articleOf(pageWith(inner, head), { renderings: ["structuredData"] });
  if (article.structuredData === null) throw new Error("it was asked for");
  return { ...article, structuredData: article.structuredData };
};

describe("JSON-LD", () => {
  test("is there as it was parsed, one value a script", async () => {
    const values = [{ "@type": "Article", x: [1, { y: null }] }, [{ "@type": "Thing" }], "text"];
    const { structuredData, warnings } = await described("", values.map(jsonLd).join(""));
    expect(structuredData.jsonLd).toEqual([values[0], values[1]]);
    expect(warnings).toEqual(["structured_data: 1 of 3 JSON-LD scripts left out (no JSON)"]);
  });

  test("is null unless it is asked for, and empty where there is none", async () => {
    expect((await articleOf(pageWith(""))).structuredData).toBeNull();
    expect((await described("")).structuredData).toEqual({ jsonLd: [], microdata: [], openGraph: [] });
  });

  test("comes back as any JSON was written", async () => {
    const value = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 4 }));
    await fc.assert(
      fc.asyncProperty(value, async (written) => {
        const script = JSON.stringify(written).replaceAll("<", "\\u003c");
        const { structuredData } = await described("", jsonLd(script));
        expect(JSON.stringify(structuredData.jsonLd)).toBe(JSON.stringify([written]));
      }),
      { numRuns: 100 },
    );
  });

  test("keeps keys such as __proto__ as keys, and the world as it was", async () => {
    const { structuredData } = await described(
      "",
      jsonLd('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}'),
    );
    expect(JSON.stringify(structuredData.jsonLd)).toBe(
      '[{"__proto__":{"polluted":1},"constructor":{"prototype":2}}]',
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("is left out and named when it is too large, too deep or too much", async () => {
    const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
    const large = JSON.stringify({ text: "x".repeat(1_100_000) });
    const { structuredData, warnings } = await described(
      "",
      jsonLd({ ok: 1 }) + jsonLd(deep) + jsonLd(large),
    );
    expect(structuredData.jsonLd).toEqual([{ ok: 1 }]);
    expect(warnings).toEqual([expect.stringContaining("structured_data: 2 of 3 JSON-LD scripts left out")]);
    const many = await described("", jsonLd({ ok: 1 }).repeat(70));
    expect(many.structuredData.jsonLd).toHaveLength(60);
    expect(many.warnings).toEqual([expect.stringContaining("10 of 70 JSON-LD scripts left out")]);
  });
});

describe("Open Graph", () => {
  test("has every property in its order, as often as it is given", async () => {
    const head = `<meta property="og:image" content="/a.png"><meta property="og:image:width" content="10">
      <meta property="og:image" content="/b.png"><meta name="twitter:card" content="summary"><meta name="author" content="x">`;
    expect((await described("", head)).structuredData.openGraph).toEqual([
      { property: "og:image", content: "/a.png" },
      { property: "og:image:width", content: "10" },
      { property: "og:image", content: "/b.png" },
      { property: "twitter:card", content: "summary" },
    ]);
  });

  test("is limited, and says so", async () => {
    const { structuredData, warnings } = await described(
      "",
      '<meta property="og:x" content="y">'.repeat(2500),
    );
    expect(structuredData.openGraph).toHaveLength(2000);
    expect(warnings).toEqual(["structured_data: 500 of 2500 Open Graph properties left out"]);
  });
});

describe("microdata", () => {
  test("is nested as the page nests it, with the value that each element has", async () => {
    const inner = `<div itemscope itemtype="https://schema.org/Recipe" itemid="urn:x">
      <h2 itemprop="name headline">Tide <b>soup</b></h2><script>no</script>
      <a itemprop="url" href="/soup">the page</a><time itemprop="datePublished" datetime="2024-03-12">March</time>
      <meta itemprop="yield" content="4"><img itemprop="image" src="/s.png" alt="s">
      <span itemprop="author" itemscope itemtype="https://schema.org/Person"><i itemprop="name">Ann Quay</i></span>
      <span itemprop="ingredient">salt</span><span itemprop="ingredient">water</span></div>
      <p itemprop="name">outside of all</p>`;
    expect((await described(inner)).structuredData.microdata).toEqual([
      {
        type: ["https://schema.org/Recipe"],
        id: "urn:x",
        properties: {
          name: ["Tide soup"],
          headline: ["Tide soup"],
          url: ["/soup"],
          datePublished: ["2024-03-12"],
          yield: ["4"],
          image: ["/s.png"],
          author: [{ type: ["https://schema.org/Person"], id: null, properties: { name: ["Ann Quay"] } }],
          ingredient: ["salt", "water"],
        },
      },
    ]);
  });

  test("has items side by side, also where one ends with another", async () => {
    const item = (name: string, more = ""): string =>
      `<div itemscope><b itemprop="name">${name}</b>${more}</div>`;
    const { structuredData } = await described(item("a", item("b", item("c"))) + item("d"));
    expect(structuredData.microdata.map(({ properties }) => properties.name)).toEqual([
      ["a"],
      ["b"],
      ["c"],
      ["d"],
    ]);
  });

  test("keeps a property named __proto__", async () => {
    const { structuredData } = await described('<div itemscope><b itemprop="__proto__">x</b></div>');
    expect(JSON.stringify(structuredData.microdata)).toBe(
      '[{"type":[],"id":null,"properties":{"__proto__":["x"]}}]',
    );
  });

  for (const [what, inner] of Object.entries({
    "nested bombs": '<div itemscope itemprop="a">'.repeat(2000) + "x".repeat(1000) + "</div>".repeat(2000),
    "texts inside of each other": `<div itemscope>${'<span itemprop="a">'.repeat(1500)}${"word ".repeat(20_000)}${"</span>".repeat(1500)}</div>`,
    "very many items": '<div itemscope><b itemprop="name">x</b></div>'.repeat(20_000),
  })) {
    test(`is limited by ${what}, and says so`, async () => {
      const { structuredData, warnings } = await described(inner);
      expect(JSON.stringify(structuredData).length).toBeLessThan(3_000_000);
      expect(warnings.filter((one) => one.startsWith("structured_data: microdata is left out"))).toHaveLength(
        1,
      );
    });
  }
});
