import { describe, expect, test } from "bun:test";
import { articleOf, PROSE } from "../../../support/extraction.ts";
import { framed } from "../../../support/framed.ts";
import { GOLDEN_URL, readGolden } from "../../../support/golden.ts";

const cases = (await readGolden()).flatMap(({ topic, cases: all }) =>
  all.map((golden) => ({ ...golden, title: `${topic}: ${golden.name}` })),
);

/** Paragraphs and items of a word or two between longer ones: the choice by blocks takes them for no content. */
const SHORT_PARAGRAPHS = new Set([
  "blocks: paragraphs written with two line breaks",
  "blocks: text beside blocks becomes paragraphs",
  "blocks: cards are links on their headings",
  "blocks: direction and language stay in the HTML",
  "links: links that run code are text",
  "links: a base is obeyed",
  "links: lazy images",
  "links: a title that says the text again goes",
  "phrases: a line that looks like a quotation or rule is text",
  "phrases: a line that looks like a fence or table is text",
]);

function partsOf(input: string): { readonly head: string; readonly body: string } {
  const [, head = "", body = ""] = /^(?:<head>(.*?)<\/head>)?(.*)$/s.exec(input) ?? [];
  return { head, body };
}

// Notes stand at the end of the article.
const inPieces = (text: string, notes: RegExp): string[] => {
  const at = text.search(notes);
  return at < 0 ? [text] : [text.slice(0, at).trimEnd(), text.slice(at)];
};

describe("inside the article of a site", () => {
  for (const { title, input, expected } of cases) {
    if (SHORT_PARAGRAPHS.has(title)) continue;
    test(`${title}, as where it is all of the content`, async () => {
      const { head, body } = partsOf(input);
      const { markdown, text, content } = await articleOf(framed(body, head), { url: GOLDEN_URL });
      for (const piece of inPieces(expected.markdown, /^\[\^1\]: /m)) expect(markdown).toContain(piece);
      for (const piece of inPieces(expected.text, /^\[1\] /m)) expect(text).toContain(piece);
      for (const piece of inPieces(expected.html, /<section class="footnotes">/))
        expect(content).toContain(piece);
    });
  }

  test("the text is the same whether or not other renderings are asked for, on every page", async () => {
    for (const { input } of cases) {
      const { head, body } = partsOf(input);
      const whole = await articleOf(framed(body, head));
      expect((await articleOf(framed(body, head), { renderings: [] })).text, body).toBe(whole.text);
    }
  });

  test("the text is the same without images, and without code where there is none", async () => {
    for (const { input, expected } of cases) {
      const { head, body } = partsOf(input);
      const page = framed(body, head);
      const { text } = await articleOf(page);
      expect((await articleOf(page, { includeImages: false })).text).toBe(text);
      // A signature becomes code, whatever it is written in.
      if (/<pre|<code|highlight|crayon|fragment/i.test(body) || expected.markdown.includes("```")) continue;
      expect((await articleOf(page, { includeCode: false })).text).toBe(text);
    }
  });
});

test("the empty cells at the end of a table stay where it ends the content", async () => {
  const row = "<tr><td>Monday</td><td>412</td><td>north</td></tr>";
  const last = "<tr><td>Tuesday</td><td></td><td></td></tr>";
  const table = `<table><tr><th>Day</th><th>Turns</th><th>Wind</th></tr>${row}${last}</table>`;
  expect((await articleOf(`<main><p>${PROSE}</p><p>${PROSE}</p>${table}</main>`)).content).toContain(last);
});

const PARAGRAPHS = [0, 1, 2, 3].map(
  (number) =>
    `<p>The heron number ${number} waited by the weir until evening and then flew slowly over the quiet river towards the mill.</p>`,
);

/** Remarks as publishing systems write them. */
const REMARKS = {
  Docusaurus:
    '<div class="theme-admonition theme-admonition-warning admonition_xJq3 alert alert--warning"><div class="admonitionHeading_Gvgb"><span class="admonitionIcon_Rf37"><svg></svg></span>warning</div><div class="admonitionContent_BuS1"><p>Never open both gates.</p></div></div>',
  Starlight:
    '<aside aria-label="Caution" class="starlight-aside starlight-aside--caution"><p class="starlight-aside__title" aria-hidden="true">Caution</p><div class="starlight-aside__content"><p>Never open both gates.</p></div></aside>',
  Sphinx:
    '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Never open both gates.</p></div>',
  GitHub:
    '<div class="markdown-alert markdown-alert-caution"><p class="markdown-alert-title">Caution</p><p>Never open both gates.</p></div>',
  "a handwritten manual": '<aside class="tip"><p>Never open both gates.</p></aside>',
};

describe("a remark stays at each place of a text", () => {
  for (const [system, remark] of Object.entries(REMARKS)) {
    test(`as written by ${system}`, async () => {
      for (let place = 0; place <= PARAGRAPHS.length; place++) {
        const paragraphs = PARAGRAPHS.toSpliced(place, 0, remark).join("");
        const page = `<main><h1>Herons at the weir</h1>${paragraphs}</main><footer><p>© 2024 Weirside</p></footer>`;
        const { markdown, text } = await articleOf(page);
        for (const rendering of [markdown, text]) expect(rendering).toContain("Never open both gates.");
      }
    });
  }

  test("unless it is a sidebar", async () => {
    const sidebar = '<aside class="author"><p>Never open both gates.</p></aside>';
    expect((await articleOf(`<main>${PARAGRAPHS.join("")}${sidebar}</main>`)).text).not.toContain("gates");
  });
});

describe("what belongs to chosen text", () => {
  test("comes along, but for what is named as the frame of a page", async () => {
    const { text } = await articleOf(
      framed('<h2>Weirs</h2><ul class="related"><li>Mills elsewhere</li></ul><h3>Gates</h3>'),
    );
    expect(text).toContain("Weirs");
    expect(text).toContain("Gates");
    expect(text).not.toContain("Mills elsewhere");
  });

  test("the page's own picture stands above the text, other pictures there do not", async () => {
    const page = framed(
      "",
      '<meta property="og:image" content="https://site.test/i/wheel-1200x630.jpg">',
    ).replace(
      "</h1>",
      `</h1><p class="share"><a href="/s">Share</a></p><img src="/i/logo-of-us.png"><img src="/i/wheel-800x400.jpg" alt="Wheel">
       <div class="meta"><a href="/tags">Tags</a></div>`,
    );
    const { markdown } = await articleOf(page);
    expect(markdown).toStartWith("![Wheel](https://site.test/i/wheel-800x400.jpg)");
    expect(markdown).not.toContain("logo-of-us");
  });

  test("videos that play by themselves are decoration", async () => {
    const page = framed(
      '<video autoplay muted loop src="/waves.mp4"></video><video controls src="/talk.mp4"></video>',
    );
    const { markdown } = await articleOf(page);
    expect(markdown).toContain("[Video](https://site.test/talk.mp4)");
    expect(markdown).not.toContain("waves.mp4");
  });
});
