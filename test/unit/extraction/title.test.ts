import { describe, expect, test } from "bun:test";
import { articleOf, articleWithHead, jsonLd, PROSE, pageWith } from "../../support/extraction.ts";

const withHeading = (title: string, heading: string, head = ""): string =>
  `<html><head><title>${title}</title>${head}</head><body><article><h1>${heading}</h1><p>${PROSE}</p><p>${PROSE}</p></article></body></html>`;

describe("the title", () => {
  test("is the first heading that the page's title agrees with", async () => {
    const article = await articleOf(
      withHeading("Night shift at the sluice | Harbour News", "Night shift at the sluice"),
    );
    expect(article).toMatchObject({ title: "Night shift at the sluice", sources: { title: "heading" } });
  });

  for (const separator of [" — ", " – ", " - ", ": ", " | "]) {
    for (const title of [
      `The ferryman's last day${separator}a diary`,
      `A diary${separator}the ferryman's last day at the tiller`,
      `Tides${separator}how the harbour counts them`,
    ]) {
      test(`keeps the subtitle that its heading has: ${title}`, async () => {
        expect((await articleOf(withHeading(title, title))).title).toBe(title);
        const head = `<meta property="og:site_name" content="Harbour News">`;
        expect((await articleOf(withHeading(title, title, head))).title).toBe(title);
      });
    }
    if (separator === ": ") continue;
    test(`loses the site's name also where its heading has it: ${separator}`, async () => {
      const title = `Night shift at the sluice${separator}Harbour News`;
      const head = `<meta property="og:site_name" content="Harbour News">`;
      expect((await articleOf(withHeading(title, title, head))).title).toBe("Night shift at the sluice");
    });
  }

  test("is not a heading that says something else than the page's title", async () => {
    const article = await articleOf(withHeading("Night shift at the sluice", "Subscribe to our newsletter"));
    expect(article).toMatchObject({ title: "Night shift at the sluice", sources: { title: "title" } });
  });

  test("is not a heading that names the site", async () => {
    const head = `<meta property="og:site_name" content="Harbour News"><meta property="og:title" content="Night shift">`;
    const article = await articleOf(withHeading("Night shift - Harbour News", "Harbour News", head));
    expect(article).toMatchObject({ title: "Night shift", sources: { title: "meta" } });
  });

  test("is og:title before the title element", async () => {
    const article = await articleWithHead(
      `<title>Doc 4711</title><meta property="og:title" content="Tide tables">`,
    );
    expect(article.title).toBe("Tide tables");
  });

  test("is a heading where nothing else says a title", async () => {
    expect((await articleOf(pageWith("<h1>Tide tables</h1>"))).title).toBe("Tide tables");
  });

  test("is a heading of another level where it says what the title element says", async () => {
    const { title, sources } = await articleOf(
      `<head><title>Tide tables explained - Harbour News</title></head><article><h2>Tide tables explained</h2><p>${PROSE}</p><p>${PROSE}</p></article>`,
    );
    expect([title, sources.title]).toEqual(["Tide tables explained", "heading"]);
  });

  test("has no characters that were escaped twice", async () => {
    const head = `<meta property="og:title" content="Salt &amp;#8211; a history of Ann&amp;#8217;s mill">`;
    expect((await articleWithHead(head)).title).toBe("Salt – a history of Ann’s mill");
  });

  test("that speaks of markup keeps it", async () => {
    expect((await articleWithHead("<title>How to write &amp;nbsp; in HTML</title>")).title).toBe(
      "How to write &nbsp; in HTML",
    );
  });

  test("may hold tags and entities, also among preformatted text, where it is a title no more", async () => {
    const article = await articleOf(
      `<title>A &lt;b> &amp; <i></title><pre>c<title>&<title></title><title>&<h> </pre>${PROSE}`,
    );
    expect(article.title).toBe("A <b> & <i>");
  });

  test("is null where the page has none", async () => {
    expect(await articleOf(pageWith(""))).toMatchObject({ title: null, sources: { title: null } });
  });

  test("is null for an empty title element", async () => {
    expect((await articleWithHead("<title> \n </title>")).title).toBeNull();
  });

  test("is not the title of an icon", async () => {
    const article = await articleOf(
      `<body><svg><title>Menu</title></svg><article><p>${PROSE}</p><p>${PROSE}</p></article>`,
    );
    expect(article.title).toBeNull();
  });

  test("keeps the words on both sides of a line break apart", async () => {
    const article = await articleOf(withHeading("Night shift at the sluice", "Night shift<br>at the sluice"));
    expect(article.title).toBe("Night shift at the sluice");
    expect(article.text).toStartWith("The mill");
  });

  test("has no permalink sign of its heading", async () => {
    const article = await articleOf(withHeading("Install", `Install <a href="#install">¶</a>`));
    expect(article.title).toBe("Install");
  });

  test("is one line with its entities decoded", async () => {
    const article = await articleWithHead("<title>Salt &amp;\n  water:   a &lt;short&gt; history</title>");
    expect(article.title).toBe("Salt & water: a <short> history");
  });

  test("is cut where a character ends, at 1000 characters at most", async () => {
    expect((await articleWithHead(`<title>${"x".repeat(999)}🙂</title>`)).title).toBe("x".repeat(999));
  });

  test("is not repeated at the start of the text", async () => {
    const article = await articleOf(withHeading("Night shift", "Night shift"));
    expect(article.text).not.toContain("Night shift");
    expect(article.content).not.toContain("Night shift");
    expect(article.markdown).not.toContain("Night shift");
  });
});

describe("the site's name in the title", () => {
  const cases: readonly (readonly [title: string, expected: string, head?: string])[] = [
    ["Tide tables explained | Harbour News", "Tide tables explained"],
    ["Tide tables explained - Harbour News", "Tide tables explained"],
    ["Tide tables explained — Harbour News", "Tide tables explained"],
    ["Tide tables explained · Harbour News", "Tide tables explained"],
    ["Tide tables explained » Harbour News", "Tide tables explained"],
    ["Site – Tide tables explained", "Tide tables explained"],
    ["Harbour News: all about tides", "Harbour News: all about tides"],
    ["Tide-tables and well-known harbours", "Tide-tables and well-known harbours"],
    [
      "The Ministry of Long Institutional Names and Offices | Tides",
      "Tides",
      `<meta property="og:site_name" content="The Ministry of Long Institutional Names and Offices">`,
    ],
    [
      "Tides | Harbour News of the Northern Coast Ltd",
      "Tides",
      jsonLd({ "@type": "Article", publisher: { name: "Harbour News of the Northern Coast Ltd" } }),
    ],
  ];
  for (const [title, expected, head = ""] of cases) {
    const does = title === expected ? "is not seen in" : "goes from";
    test(`${does} ${JSON.stringify(title)}`, async () => {
      expect((await articleWithHead(`<title>${title}</title>${head}`)).title).toBe(expected);
    });
  }
});

describe("the box of a manual's title", () => {
  const SENTENCE = `<p>The gate may be opened in steps with <code>--slow</code>, so that the boats below the weir have time
    to leave; each of the steps takes as long as the gauge needs to show a new level of the water.</p>`;
  const section = (name: string, body: string) =>
    `<div class="sect1"><h2 id="_${name}">${name.toUpperCase()}</h2><div class="sectionbody">${body}</div></div>`;
  const read = async (box: string): Promise<string> => {
    const parts = [
      section("synopsis", "<pre>mill open [--slow] [--gate=&lt;name&gt;] [-n] [--force] &lt;weir&gt;</pre>"),
      ...["description", "options", "examples"].map((name) => section(name, SENTENCE.repeat(4))),
    ];
    const html = `<html><head><title>mill-open(1)</title></head><body class="manpage"><div id="header">
      <h1>mill-open(1) Manual Page</h1><h2>NAME</h2><div class="sectionbody"><p>${box}</p></div></div>
      <div id="content">${parts.join("")}</div>
      <div id="footer"><div id="footer-text">Last updated 2024-05-31</div></div></body></html>`;
    return (await articleOf(html)).markdown ?? "";
  };

  test("begins the text with its heading and its sentence", async () => {
    expect(await read("mill-open - Open gates")).toStartWith(
      "## NAME\n\nmill-open - Open gates\n\n## SYNOPSIS",
    );
  });

  test("is a head where it leads somewhere", async () => {
    const menu = ["start", "news", "mills"].map((name) => `<a href="/${name}">${name}</a>`).join(" ");
    expect(await read(menu)).not.toContain("NAME");
  });
});
