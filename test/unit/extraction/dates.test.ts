import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import fc from "fast-check";
import { articleOf, articleWithHead, jsonLd, PROSE, pageWith } from "../../support/extraction.ts";

const published = async (content: string): Promise<string | null> =>
  (await articleWithHead(`<meta property="article:published_time" content="${content}">`)).publishedDate;

describe("a date", () => {
  const readable: readonly (readonly [written: string, iso: string])[] = [
    ["2024-03-12", "2024-03-12"],
    [" 2024-03-12 ", "2024-03-12"],
    ["2024-03-12T08:30", "2024-03-12T08:30"],
    ["2024-03-12 08:30:15", "2024-03-12T08:30:15"],
    ["2024-03-12T08:30:15Z", "2024-03-12T08:30:15Z"],
    ["2024-03-12T08:30:15.250+01:00", "2024-03-12T08:30:15.250+01:00"],
    ["2024-03-12T08:30:15+0100", "2024-03-12T08:30:15+01:00"],
    ["2024-02-29", "2024-02-29"],
    ["12 March 2024", "2024-03-12"],
    ["12th Mar. 2024", "2024-03-12"],
    ["March 12, 2024", "2024-03-12"],
    ["Tuesday, March 1st, 2024 at 8 pm", "2024-03-01"],
    ["Sept. 3, 2023", "2023-09-03"],
    ["Tue, 12 Mar 2024 08:30:15 GMT", "2024-03-12"],
    ["12 mars 2024", "2024-03-12"],
    ["Thu, 25/09/2025 - 11:38", "2025-09-25"],
    ["09/25/2025", "2025-09-25"],
  ];
  for (const [written, iso] of readable) {
    test(`written ${JSON.stringify(written)} is ${iso}`, async () => {
      expect(await published(written)).toBe(iso);
    });
  }

  const refused = [
    "2024-02-30",
    "2023-02-29",
    "2024-13-01",
    "2024-00-10",
    "0000-00-00",
    "1970-01-01",
    "03/04/2024",
    "2024",
    "yesterday",
    "31 June 2024",
    "0 March 2024",
    "12 Marching 2024",
    "Junior 5, 2024",
    "12 Marsala 2024",
    "2 days ago",
    "1710232215",
    `${"x ".repeat(40)}12 March 2024`,
  ];
  for (const written of refused) {
    test(`written ${JSON.stringify(written.slice(0, 30))} is none`, async () => {
      expect(await published(written)).toBeNull();
    });
  }

  test("with an impossible time keeps the day", async () => {
    expect(await published("2024-03-12T25:61:00Z")).toBe("2024-03-12");
    expect(await published("2024-03-12T10:00:00+99:00")).toBe("2024-03-12");
  });

  test("of any day that has come is given as it was written, and of no day as none", async () => {
    const part = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, "0"));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1990, max: 2100 }), part(14), part(33), async (year, month, day) => {
        const written = `${year}-${month}-${day}`;
        const time = new Date(`${written}T00:00:00Z`);
        const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(written);
        expect(await published(written)).toBe(isReal && time.getTime() < Date.now() ? written : null);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the dates of a page", () => {
  test("come from JSON-LD before meta elements that say the same, and say so", async () => {
    const article = await articleWithHead(
      `<meta property="article:published_time" content="2024-03-12">${jsonLd({ "@type": "NewsArticle", datePublished: "2024-03-12T08:00:00Z", dateModified: "2024-03-13T09:00:00Z" })}`,
    );
    expect(article.publishedDate).toBe("2024-03-12T08:00:00Z");
    expect(article.modifiedDate).toBe("2024-03-13T09:00:00Z");
    expect(article).toMatchObject({ sources: { publishedDate: "json-ld", modifiedDate: "json-ld" } });
  });

  test("are shown beside the title in the page's own language", async () => {
    const shown = async (lang: string, line: string): Promise<string | null> => {
      const body = `<article><h1>The mill turns again</h1><p class="date">${line}</p><p>${PROSE}</p><p>${PROSE}</p></article>`;
      const article = await articleOf(
        `<html lang="${lang}"><head><title>The mill turns again</title></head><body>${body}</body></html>`,
      );
      expect(article.sources.publishedDate).toBe(article.publishedDate === null ? null : "text");
      return article.publishedDate;
    };
    expect(await shown("de", "12. März 2024")).toBe("2024-03-12");
    expect(await shown("es", "12 de marzo de 2024")).toBe("2024-03-12");
    expect(await shown("ru", "12 марта 2024")).toBe("2024-03-12");
    expect(await shown("ja", "2024年3月12日")).toBe("2024-03-12");
    expect(await shown("en-US", "03/12/2024")).toBe("2024-03-12");
    expect(await shown("en-GB", "12/03/2024")).toBe("2024-03-12");
    expect(await shown("en", "three days ago")).toBeNull();
  });

  describe("of two numbers that may be day or month", () => {
    afterEach(() => setSystemTime());

    const dated = async (lang: string, line: string, more = ""): Promise<string | null> => {
      const body = `<article><h1>The mill turns again</h1><p class="date">${line}</p>${more}<p>${PROSE}</p><p>${PROSE}</p></article>`;
      return (
        await articleOf(
          `<html lang="${lang}"><head><title>The mill turns again</title></head><body>${body}</body></html>`,
        )
      ).publishedDate;
    };

    test("are not read as a day that has not come yet where the other reading has", async () => {
      setSystemTime(new Date("2026-11-22T10:00:00Z"));
      for (const lang of ["en", "en-US", "en-GB", ""])
        expect(await dated(lang, "12/03/2026")).toBe("2026-03-12");
      expect(await dated("en-GB", "11/12/2026")).toBe("2026-11-12");
      setSystemTime(new Date("2027-02-01T10:00:00Z"));
      expect(await dated("en-US", "12/03/2026")).toBe("2026-12-03");
    });

    test("are read as in the month that the page names elsewhere", async () => {
      const updated = '<p class="date">Updated 20 March 2024</p>';
      expect(await dated("en", "12/03/2024", updated)).toBe("2024-03-12");
      expect(await dated("en", "03/12/2024", updated)).toBe("2024-03-12");
    });
  });

  test("of events and members are none of the page", async () => {
    for (const line of [
      "Member since March 12, 2014",
      "© 12 March 2014 Harbour News",
      "Joined: Mar 12, 2014",
    ]) {
      expect((await articleOf(pageWith(`<p>${line}</p>`))).publishedDate).toBeNull();
    }
  });

  test("shown in prose are none of the page", async () => {
    const article = await articleOf(pageWith(`<p>${PROSE} On March 12, 2014 the wheel broke. ${PROSE}</p>`));
    expect(article.publishedDate).toBeNull();
  });

  test("of the last change come from a line that says so", async () => {
    const { publishedDate, modifiedDate, sources } = await articleOf(
      `<html lang="en"><head><title>The mill turns again</title></head><body><article><h1>The mill turns again</h1><p class="date">Published March 12, 2024</p><p class="date">Updated March 14, 2024</p><p>${PROSE}</p><p>${PROSE}</p></article></body></html>`,
    );
    expect([publishedDate, modifiedDate]).toEqual(["2024-03-12", "2024-03-14"]);
    expect(sources.modifiedDate).toBe("text");
  });

  test("name no change from before the publication", async () => {
    const { publishedDate, modifiedDate } = await articleOf(
      pageWith(
        `<h1>The mill turns again</h1><p class="date">Published March 12, 2024</p>`,
        jsonLd({ "@type": "NewsArticle", datePublished: "2024-03-12", dateModified: "2024-03-01" }),
      ),
    );
    expect([publishedDate, modifiedDate]).toEqual(["2024-03-12", null]);
  });

  test("are read from the next place when the first one makes no sense", async () => {
    const article = await articleWithHead(
      `${jsonLd({ "@type": "Article", datePublished: "soon" })}<meta property="article:published_time" content="0000-00-00"><meta name="pubdate" content="2024-03-12">`,
    );
    expect(article).toMatchObject({ publishedDate: "2024-03-12", sources: { publishedDate: "meta" } });
  });

  test("come from a time element in the article's header", async () => {
    const article = await articleOf(
      `<article><header><h1>T</h1><time datetime="2024-03-12T10:00">a while ago</time></header><p>${PROSE}</p><p>${PROSE}</p></article>`,
    );
    expect(article).toMatchObject({ publishedDate: "2024-03-12T10:00", sources: { publishedDate: "time" } });
  });

  test("do not come from the time elements of other stories", async () => {
    const article = await articleOf(
      `<article><p>${PROSE}</p><p>${PROSE}</p></article><aside><a href="/x">Other</a> <time datetime="2024-03-12">12 March</time></aside>`,
    );
    expect(article.publishedDate).toBeNull();
    expect(article).toMatchObject({ modifiedDate: null, sources: { publishedDate: null } });
  });
});
