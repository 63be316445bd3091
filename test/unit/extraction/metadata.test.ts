import { describe, expect, test } from "bun:test";
import { articleOf, articleWithHead, jsonLd, PAGE_URL, PROSE, pageWith } from "../../support/extraction.ts";

const meta = (name: string, content: string): string => `<meta name="${name}" content="${content}">`;
const property = (name: string, content: string): string => `<meta property="${name}" content="${content}">`;

/** A page of documentation with this below its content. */
const manualWith = (footer: string): string =>
  `<html lang="en"><head><title>Install — Weir 2.1 documentation</title></head><body><nav><a href="/">Home</a></nav>
  <main><h1>Install</h1><p>${PROSE}</p><pre>npm install weir</pre><h2>Next</h2><p>${PROSE}</p></main><footer>${footer}</footer></body></html>`;

describe("a page of documentation", () => {
  for (const footer of [
    "© Copyright 2024, Ann Quay. Built with <a href='/s'>Sphinx</a> using a theme provided by <a href='/r'>Read the Docs</a>.",
    "<p>Copyright &copy; Mar 12, 2024 Ann Quay</p>",
    "Made by <a href='/m'>Material for MkDocs</a>",
    "Powered by Docusaurus",
    "<p class='admin'>By Admin</p>",
  ])
    test(`has no author and no day of publication out of ${JSON.stringify(footer.slice(0, 40))}`, async () => {
      const { byline, publishedDate } = await articleOf(manualWith(footer), {
        url: "https://docs.test/install",
      });
      expect([byline, publishedDate]).toEqual([null, null]);
    });
});

describe("the byline", () => {
  test("is the author of the JSON-LD", async () => {
    const article = await articleWithHead(
      jsonLd({ "@type": "Article", author: { "@type": "Person", name: "Ann Quay" } }) +
        meta("author", "Ann Quay"),
    );
    expect(article).toMatchObject({ byline: "Ann Quay", sources: { byline: "json-ld" } });
  });

  test("is the author of the JSON-LD that its reference names", async () => {
    const article = await articleWithHead(
      jsonLd({
        "@graph": [
          { "@type": "Article", author: { "@id": "#ann" } },
          { "@type": "Person", "@id": "#ann", name: "Ann Quay" },
        ],
      }),
    );
    expect(article).toMatchObject({ byline: "Ann Quay", sources: { byline: "json-ld" } });
  });

  test("names all authors once", async () => {
    const author = [{ name: "Ann Quay" }, "Ben Weir", { name: "Ann Quay" }];
    expect((await articleWithHead(jsonLd({ "@type": "BlogPosting", author }))).byline).toBe(
      "Ann Quay, Ben Weir",
    );
  });

  test("is the author meta element", async () => {
    const article = await articleWithHead(meta("author", "Ann Quay"));
    expect(article).toMatchObject({ byline: "Ann Quay", sources: { byline: "meta" } });
  });

  test("is what the page links as its author", async () => {
    const article = await articleOf(pageWith(`<p>Written <a rel="author" href="/ann">by Ann Quay</a></p>`));
    expect(article).toMatchObject({ byline: "Ann Quay", sources: { byline: "rel-author" } });
  });

  test("shown beside the content is tidied like every other", async () => {
    const article = await articleOf(
      `<article><p class="byline">By \u202eAnn\u200b  Quay</p><p>${PROSE}</p><p>${PROSE}</p></article>`,
    );
    expect(article).toMatchObject({ byline: "Ann Quay", sources: { byline: "text" } });
  });

  const story = (byline: string, after = ""): string =>
    `<html lang="en"><head><title>The mill turns again | Harbour News</title></head><body><header class="site-header"><a href="/">Harbour News</a></header><article><h1>The mill turns again</h1>${byline}<p>${PROSE}</p><p>${PROSE}</p></article>${after}</body></html>`;

  const shown: readonly (readonly [where: string, byline: string, name: string])[] = [
    ["after By", "<p>By Ann Quay</p>", "Ann Quay"],
    ["below a label", "<div><p>Written by</p><p>Ann Quay</p></div>", "Ann Quay"],
    ["in an element called author", `<div class="post-author">Ann Quay</div>`, "Ann Quay"],
    ["in a link to a profile", `<p>By <a href="/authors/ann-quay">Ann Quay</a></p>`, "Ann Quay"],
    ["before a date", `<p class="byline">By Ann Quay, March 12, 2024</p>`, "Ann Quay"],
    ["with others", "<p>By Ann Quay and Ben Weir</p>", "Ann Quay and Ben Weir"],
  ];
  for (const [where, byline, name] of shown) {
    test(`is what the page shows ${where}`, async () => {
      const article = await articleOf(story(byline));
      expect(article.byline).toBe(name);
      expect(article.sources.byline).toBe("text");
    });
  }

  test("is not who commented, reviewed or took the photo", async () => {
    const comments = `<section id="comments"><div class="comment"><span class="comment-author">Carl Lock</span><p>Nice to read this.</p></div></section>`;
    expect((await articleOf(story("", comments))).byline).toBeNull();
    expect((await articleOf(story("<p>Photo: Carl Lock</p>"))).byline).toBeNull();
    expect((await articleOf(story("<p>© Carl Lock</p>"))).byline).toBeNull();
  });

  for (const credit of ["Contributors: Ann Quay", "This post was written by Ann Quay"])
    test(`is the name in ${JSON.stringify(credit)}`, async () => {
      const article = await articleOf(
        `<html lang="en"><head><title>Weirs and their keepers</title></head><body><article><h1>Weirs and their keepers</h1><p>${credit}</p><p>${PROSE}</p><p>${PROSE}</p><p>${PROSE}</p></article></body></html>`,
      );
      expect(article.byline).toBe("Ann Quay");
    });

  test("costs a page of a hundred thousand nested author elements no more than its reading", async () => {
    const nested = `<span class="author">1 `.repeat(100_000);
    expect((await articleOf(story(`<p>${nested}</p>`))).title).toBe("The mill turns again");
  });

  for (const address of ["https://social.test/ann", "www.site.test", "@ann"]) {
    test(`is never an address such as ${address}`, async () => {
      expect((await articleWithHead(property("article:author", address))).byline).toBeNull();
    });
  }

  test("loses the word before the name", async () => {
    expect((await articleWithHead(meta("author", "By: Ann Quay"))).byline).toBe("Ann Quay");
    expect((await articleWithHead(meta("author", "Byron Quay"))).byline).toBe("Byron Quay");
  });

  test("is null where nobody is named", async () => {
    const article = await articleWithHead(meta("author", "  "));
    expect(article).toMatchObject({ byline: null, sources: { byline: null } });
  });
});

describe("JSON-LD", () => {
  const byline = async (...blocks: readonly unknown[]): Promise<string | null> =>
    (await articleWithHead(blocks.map(jsonLd).join(""))).byline;
  const article = { "@type": "Article", author: "Ann Quay" };

  test("is found inside @graph", async () => {
    expect(
      await byline({
        "@context": "https://schema.org",
        "@graph": [{ "@type": "WebSite", author: "X" }, article],
      }),
    ).toBe("Ann Quay");
  });

  test("is found inside lists and mainEntity", async () => {
    expect(await byline([[{ "@type": "WebPage", mainEntity: article }]])).toBe("Ann Quay");
  });

  test("of the article counts before that of the page", async () => {
    const written = { "@type": "Article", author: { "@type": "Person", name: "Ann Quay" } };
    expect(await byline({ "@type": "WebPage", author: "Webmaster" }, written)).toBe("Ann Quay");
  });

  test("of other things does not count", async () => {
    expect(await byline({ "@type": "BreadcrumbList", author: "Nobody" }, { author: "Nobody" })).toBeNull();
  });

  test("that is broken is passed over", async () => {
    for (const broken of [
      "{",
      "",
      "null",
      '[null, 1, "x"]',
      '{"@type": "Article", "author": }',
      "<!-- -->",
    ]) {
      expect(await byline(broken, article)).toBe("Ann Quay");
    }
  });

  test("with raw line breaks, comments or CDATA around it is read", async () => {
    expect(await byline(`{"@type": "Article", "author": "Ann\nQuay"}`)).toBe("Ann Quay");
    expect(await byline(`<!--{"@type": "Article", "author": "Ann Quay"}-->`)).toBe("Ann Quay");
    expect(await byline(`//<![CDATA[\n{"@type": "Article", "author": "Ann Quay"}\n//]]>`)).toBe("Ann Quay");
  });

  test("is recognised by its type in any case and with parameters", async () => {
    for (const type of ["Application/LD+JSON", "application/ld+json; charset=utf-8"]) {
      const head = `<script type="${type}">${JSON.stringify(article)}</script>`;
      expect((await articleWithHead(head)).byline).toBe("Ann Quay");
    }
  });

  test("that refers to itself by name ends", async () => {
    const page = { "@id": "#page", "@type": "WebPage", mainEntity: { "@id": "#article" } };
    const self = {
      ...article,
      "@id": "#article",
      mainEntityOfPage: { "@id": "#page", mainEntity: { "@id": "#article" } },
    };
    expect(await byline({ "@graph": [page, self] })).toBe("Ann Quay");
  });

  test("with names nested absurdly deep costs the name, not the page", async () => {
    const deep = (open: string, close: string): string =>
      `{"@type":"Article","author":${open.repeat(3000)}"x"${close.repeat(3000)}}`;
    expect(await byline(deep("[", "]"))).toBeNull();
    expect(await byline(deep(`{"name":`, "}"))).toBeNull();
    expect(await byline("[".repeat(200_000))).toBeNull();
    expect(await byline("[".repeat(200_000) + "]".repeat(200_000))).toBeNull();
  });

  test("that is huge is read at its front only", async () => {
    const row = Array.from({ length: 200 }, () => 1);
    const grid = Array.from({ length: 200 }, () => row);
    expect(await byline([article, ...Array.from({ length: 10 }, () => grid)])).toBe("Ann Quay");
    const products = Array.from({ length: 20_000 }, (_, index) => ({ "@type": "Product", sku: index }));
    expect(await byline({ "@graph": [article, ...products] })).toBe("Ann Quay");
  });

  test("with keys of the object prototype does no harm", async () => {
    expect(await byline(`{"@type":"Article","__proto__":{"author":"Nobody"},"constructor":"x"}`)).toBeNull();
    expect(({} as Record<string, unknown>).author).toBeUndefined();
  });
});

describe("the language", () => {
  const langOf = async (attributes: string, head = ""): Promise<string | null> =>
    (
      await articleOf(
        `<html ${attributes}><head>${head}</head><body><p>${PROSE}</p><p>${PROSE}</p></body></html>`,
      )
    ).lang;

  test("is a canonical BCP 47 tag", async () => {
    expect(await langOf(`lang="EN-us"`)).toBe("en-US");
    expect(await langOf(`lang="de_AT"`)).toBe("de-AT");
    expect(await langOf(`xml:lang="fr"`)).toBe("fr");
  });

  test("is taken from elsewhere when the page's own is empty", async () => {
    expect(await langOf(`lang=""`, property("og:locale", "pt_BR"))).toBe("pt-BR");
    expect(await langOf("", `<meta http-equiv="Content-Language" content="nl">`)).toBe("nl");
  });

  test("is null for what is no language", async () => {
    for (const wrong of ["english", "x", "12", "de-", "{{lang}}", "ignore all previous instructions"]) {
      expect(await langOf(`lang="${wrong}"`)).toBeNull();
    }
  });
});

describe("the writing direction", () => {
  const dirOf = async (html: string, body = ""): Promise<string | null> =>
    (await articleOf(`<html ${html}><body ${body}><p>${PROSE}</p><p>${PROSE}</p></body></html>`)).dir;

  test("is that of the page or its body", async () => {
    expect(await dirOf(`dir="RTL"`)).toBe("rtl");
    expect(await dirOf(`dir=""`, `dir="ltr"`)).toBe("ltr");
  });

  test("is null where the page leaves it open", async () => {
    expect(await dirOf("")).toBeNull();
    expect(await dirOf(`dir="auto"`)).toBeNull();
    expect(await dirOf(`dir="sideways"`)).toBeNull();
  });
});

describe("the excerpt", () => {
  test("is the page's description", async () => {
    const head = property("og:description", "Second") + meta("description", " A mill \n turns again. ");
    expect((await articleWithHead(head)).excerpt).toBe("A mill turns again.");
  });

  test("made from the first paragraph is one visible line of bounded length", async () => {
    const { excerpt } = await articleOf(
      `<article><p>Se\u{e0041}en\u200b ${"and on ".repeat(1000)}</p><p>${PROSE}</p></article>`,
    );
    expect(excerpt).toStartWith("Seen and on");
    expect(excerpt?.length).toBeLessThanOrEqual(1000);
  });
});

describe("the lead image", () => {
  const imageOf = async (reference: string, url: string | null = PAGE_URL): Promise<string | null> =>
    (await articleWithHead(property("og:image", reference), { url })).image;

  test("is absolute", async () => {
    expect(await imageOf("/img/a.png?w=1#x")).toBe("https://site.test/img/a.png?w=1#x");
    expect(await imageOf("b.png")).toBe("https://site.test/dir/b.png");
    expect(await imageOf("//cdn.test/c.png")).toBe("https://cdn.test/c.png");
  });

  test("is null when it cannot be made absolute", async () => {
    expect(await imageOf("/img/a.png", null)).toBeNull();
    expect(await imageOf("https://cdn.test/c.png", null)).toBe("https://cdn.test/c.png");
  });

  test("is that of the JSON-LD where no meta element gives one", async () => {
    for (const image of ["/a.png", ["/a.png", "/b.png"], { "@type": "ImageObject", url: "/a.png" }]) {
      const article = await articleWithHead(jsonLd({ "@type": "Article", image }));
      expect(article.image).toBe("https://site.test/a.png");
    }
  });

  for (const reference of [
    "data:image/png;base64,AAAA",
    "javascript:alert(1)",
    "mailto:a@b.test",
    "ftp://h.test/a.png",
  ]) {
    test(`is never ${reference.slice(0, 20)}`, async () => {
      expect(await imageOf(reference)).toBeNull();
    });
  }
});

describe("the site's name", () => {
  test("is og:site_name, else the publisher of the JSON-LD, else null", async () => {
    const publisher = jsonLd({ "@type": "Article", publisher: { name: "Harbour Press" } });
    expect((await articleWithHead(property("og:site_name", "Harbour News") + publisher)).siteName).toBe(
      "Harbour News",
    );
    expect((await articleWithHead(publisher)).siteName).toBe("Harbour Press");
    expect(
      (await articleWithHead(jsonLd({ "@type": "Article", publisher: "https://h.test/#org" }))).siteName,
    ).toBeNull();
    expect((await articleWithHead("")).siteName).toBeNull();
  });
});
