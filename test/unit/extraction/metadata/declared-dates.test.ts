import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import fc from "fast-check";
import { parseLeniently } from "../../../../src/extraction/metadata/metadata-page.ts";
import { articleOf, PROSE } from "../../../support/extraction.ts";

const ARTICLE = {
  "@context": "https://schema.org",
  "@type": "Article",
  headline: "Closing // a /* gate */ <![CDATA[, ]",
  datePublished: "2017-12-15T08:00:00Z",
  dateModified: "2018-07-24T08:00:00Z",
  author: { "@type": "Person", name: "Marta Oyelaran" },
};
const JSON_LD = JSON.stringify(ARTICLE);
const open = "<script type='application/ld+json'>";
const script = (text: string): string => `${open}${text}</script>`;
const of = (value: unknown): string => script(JSON.stringify(value));

/** The same declaration in each spelling that pages use. */
const SPELLINGS: Readonly<Record<string, string>> = {
  plain: script(JSON_LD),
  "with a byte order mark": script(`\ufeff${JSON_LD}`),
  "in bare CDATA": script(`<![CDATA[${JSON_LD}]]>`),
  "in commented CDATA": script(`//<![CDATA[\n${JSON_LD}\n//]]>`),
  "in commented CDATA on one line": script(`//<![CDATA[ ${JSON_LD} //]]>`),
  "in CDATA within comments": script(`/*<![CDATA[*/ ${JSON_LD} /*]]>*/`),
  "in spaced CDATA within comments": script(`/* <![CDATA[ */${JSON_LD}/* ]]> */`),
  "in CDATA for every old browser": script(`<!--//--><![CDATA[//><!--\n${JSON_LD}\n//--><!]]>`),
  "in an HTML comment": script(`<!--\n${JSON_LD}\n-->`),
  "in escaped CDATA": script(`&lt;![CDATA[${JSON_LD}]]&gt;`),
  "with HTML entities": script(JSON_LD.replace(/"/g, "&quot;")),
  "with numeric entities": script(JSON_LD.replace(/"/g, "&#34;")),
  "with comments": script(`// data\n${JSON_LD.replace(',"author"', ', /* who, */ // and when\n"author"')}`),
  "with trailing commas": script(JSON_LD.replace("}}", ",\n} , }").replace(/$/, ",")),
  "with a semicolon": script(`${JSON_LD};`),
  "with raw line breaks": script(JSON_LD.replace("Closing", "Closing\n\t")),
  "with needless escapes": script(JSON_LD.replace("Closing", "Clo\\\\\\'sing")),
  "in a list": of([ARTICLE]),
  "in lists in a list": of([[{ "@type": "Organization", name: "Weir" }], [ARTICLE]]),
  "in a graph": of({ "@graph": [{ "@type": "WebSite", name: "Weir" }, ARTICLE] }),
  "in a graph of one": of({ "@graph": ARTICLE }),
  "nested in its page": of({ "@type": "WebPage", mainEntity: ARTICLE }),
  "as the page of another thing": of({ "@type": "ImageObject", mainEntityOfPage: ARTICLE }),
  "with several types": of({ ...ARTICLE, "@type": ["Thing", "NewsArticle"] }),
  "with an address as its type": of({ ...ARTICLE, "@type": "https://schema.org/BlogPosting" }),
  "with typed values": of({ ...ARTICLE, datePublished: { "@type": "Date", "@value": "2017-12-15" } }),
  "behind a broken block": `${script('{"@type": "Article", "datePublished": "2016')}${script(JSON_LD)}`,
  "before a broken block": `${script(JSON_LD)}${script("{{ page.jsonld }}")}`,
  "in meta elements": `<meta property="article:published_time" content="2017-12-15T08:00:00Z"><meta property="article:modified_time" content="2018-07-24T08:00:00Z"><meta name="author" content="Marta Oyelaran">`,
};

const UPDATES: Readonly<Record<string, string>> = {
  "no update": "",
  "an update": "<p>Updated <time datetime='2018-07-24'>24 July 2018</time></p>",
  "a line on the update": "<p>Last updated: 24 July 2018</p>",
  "an update in the byline":
    "<div class='post-meta'>By <a rel='author' href='/authors/marta'>Marta Oyelaran</a> <span>Updated on July 24, 2018</span></div>",
};

const page = (declaration: string, update: string, isAtEnd: boolean): string =>
  `<!doctype html><html lang="en"><head><title>Gates</title>${isAtEnd ? "" : declaration}</head><body><nav><a href="/">Home</a> <a href="/a">About</a></nav><main><article><h1>Gates</h1>${update}<p>${PROSE}</p><p>${PROSE}</p></article></main><footer>© 2024 Weir</footer>${isAtEnd ? declaration : ""}</body></html>`;

describe("a declared date of publication", () => {
  for (const [spelling, declaration] of Object.entries(SPELLINGS)) {
    test(`${spelling} is given, wherever it stands and whatever update is shown`, async () => {
      for (const [shown, update] of Object.entries(UPDATES)) {
        for (const isAtEnd of spelling.includes("meta") ? [false] : [false, true]) {
          const { publishedDate, byline } = await articleOf(page(declaration, update, isAtEnd));
          const found = { shown, isAtEnd, published: publishedDate?.slice(0, 10), byline };
          expect(found).toEqual({ shown, isAtEnd, published: "2017-12-15", byline: "Marta Oyelaran" });
        }
      }
    });
  }

  test("of any day is not taken for the later one of its update", async () => {
    const days = fc.tuple(fc.integer({ min: 4000, max: 8000 }), fc.integer({ min: 1, max: 2000 }));
    await fc.assert(
      fc.asyncProperty(days, fc.constantFrom(...Object.keys(UPDATES)), async ([first, after], kind) => {
        const iso = (day: number): string => new Date((7000 + day) * 86_400_000).toISOString().slice(0, 10);
        const [published, modified] = [iso(first), iso(first + after)];
        const update = UPDATES[kind]!.replace("2018-07-24", modified).replace(
          /24 July 2018|July 24, 2018/,
          modified,
        );
        const declaration = of({ ...ARTICLE, datePublished: published, dateModified: modified });
        expect((await articleOf(page(declaration, update, false))).publishedDate).toBe(published);
      }),
      { numRuns: 60 },
    );
  });

  describe("that has not come yet", () => {
    afterEach(() => setSystemTime());

    test("contradicts the time of extraction", async () => {
      const declared = async (): Promise<string | null> =>
        (await articleOf(page(of({ ...ARTICLE, dateModified: undefined }), "", false))).publishedDate;
      setSystemTime(new Date("2017-12-13T10:00:00Z"));
      expect(await declared()).toBeNull();
      setSystemTime(new Date("2017-12-14T10:00:00Z"));
      expect(await declared()).toBe("2017-12-15T08:00:00Z");
    });
  });
});

describe("the lenient reading of JSON", () => {
  test("changes nothing inside strings, and no JSON that is valid", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(parseLeniently(json)).toEqual(JSON.parse(json));
        expect(parseLeniently(`//<![CDATA[\n[${json},]\n//]]>`)).toEqual([JSON.parse(json)]);
      }),
    );
  });

  test("takes time in proportion to the text, however hostile", () => {
    const hostile = [
      '"',
      '\\"',
      "/*",
      "//",
      "<!--",
      "<![CDATA[",
      ", ",
      "/* ",
      " ",
      "&quot;",
      "]]>",
      "[",
      ",\n\n",
    ];
    for (const part of hostile) {
      const start = performance.now();
      expect(parseLeniently(`{${part.repeat(400_000 / part.length)}`)).toBeNull();
      expect(performance.now() - start, part).toBeLessThan(1500);
    }
  });
});
