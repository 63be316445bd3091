import { describe, expect, test } from "bun:test";
import { articleOf, extract, PROSE } from "../../../support/extraction.ts";

const SITE = `<!doctype html><html lang="en"><head><title>The mill | Harbour News</title></head><body>
<header class="site-header"><nav class="menu"><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li>
<li><a href="/sport">Sport</a></li></ul></nav></header>
<main><article class="post"><h1>The mill</h1><p>${PROSE}</p><h2>How it works</h2><p>${PROSE} It has a wheel.</p>
<figure><img src="mill.png" alt="Mill"><figcaption>In spring</figcaption></figure>
<ul><li>It turns with the ebb, twice a day, and rests in between.</li><li>It turns with the flood as well, since the gates were mended.</li></ul>
<table><tr><th>Day</th><th>Turns</th></tr><tr><td>Monday</td><td>412</td></tr></table>
<pre><code class="language-sh">mill --turn
  --slowly</code></pre><p>${PROSE} It has a gate.</p></article></main>
<aside class="sidebar related"><h3>Related</h3><ul><li><a href="/a">A ferry</a></li><li><a href="/b">A quay</a></li></ul></aside>
<footer class="footer"><p>© 2024 Harbour News. All rights reserved.</p></footer></body></html>`;

const words = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];
const withoutTags = (html: string): string => html.replace(/<[^>]*>/g, " ");

describe("the chosen content", () => {
  test("is the article without the frame of the site", async () => {
    const { text } = await articleOf(SITE);
    expect(text).toStartWith(PROSE.trim());
    expect(text).toContain("It has a gate.");
    for (const frame of ["Home", "Related", "A ferry", "All rights reserved"])
      expect(text).not.toContain(frame);
  });

  test("holds the same words in the same order in every rendering", async () => {
    const { text, content, markdown } = await articleOf(SITE);
    expect(words(withoutTags(content ?? ""))).toEqual(words(text));
    expect(words((markdown ?? "").replace(/!\[[^\]]*\]\([^)]*\)|```\w*/g, " "))).toEqual(words(text));
  });

  test("has the same text with and without renderings", async () => {
    const bare = await articleOf(SITE, { renderings: [] });
    expect(bare.text).toBe((await articleOf(SITE)).text);
    expect([bare.content, bare.markdown]).toEqual([null, null]);
  });

  test("keeps a table between chosen blocks, though its class calls it a grid", async () => {
    const cells = ["Gate", "Width", "North gate", "four ells"].map(
      (cell) => `<td><p class=MsoNormal>${cell}</p></td>`,
    );
    const table = `<table class=MsoTableGrid border=1><tr>${cells[0]}${cells[1]}</tr><tr>${cells[2]}${cells[3]}</tr></table>`;
    const paragraphs = Array.from({ length: 6 }, (_, number) => `<p>${PROSE} ${number} times a year.</p>`);
    const { markdown } = await articleOf(
      `<html><head><title>Gates</title></head><body><div class=WordSection1><h1>Gates</h1>${paragraphs.join("")}${table}<p>${PROSE} Again.</p></div></body></html>`,
    );
    expect(markdown).toContain("| North gate | four ells |");
  });

  test("keeps tables, lists, code and pictures between chosen blocks", async () => {
    // Without a frame around it, all of the page is content.
    const { content } = await articleOf(
      SITE.replace(/<header[\s\S]*<\/header>|<aside[\s\S]*<\/footer>/g, ""),
    );
    for (const part of [
      "<table>",
      "<th>Turns</th>",
      "<li>It turns with the ebb",
      'src="https://site.test/dir/mill.png"',
    ]) {
      expect(content).toContain(part);
    }
    expect(content).toContain('<pre><code class="language-sh">mill --turn\n  --slowly</code></pre>');
  });

  test("is the same each time", async () => {
    expect(await extract(SITE)).toEqual(await extract(SITE));
  });

  test("says what kind of page it is, and how sure it is of that", async () => {
    const { pageType, confidence } = await articleOf(SITE);
    expect(pageType).toBe("article");
    expect(confidence).toBeGreaterThan(0.5);
    expect(confidence).toBeLessThanOrEqual(1);
  });
});

describe("content that the markup hides", () => {
  const story = (words: string): string =>
    `<p>In the parish ${words} the miller counts his bridges before the sluice of the weir is closed again for the night.</p>`;
  const stories = ["one", "two", "three", "four", "five", "six"].map(story).join("");

  test("is kept where a script is to make the content's own container visible", async () => {
    const html = `<!doctype html><title>The weir</title><h1>The weir</h1><p>Published by the parish on a day in May</p>
      <div id="js_content" style="visibility: hidden; opacity: 0;">${stories}</div>
      <div style="display:none"><p>Scan this code to follow the parish on your telephone.</p></div>`;
    const { text } = await articleOf(html);
    expect(text).toContain("In the parish six the miller");
    expect(text).not.toContain("Scan this code");
  });

  test("stays out where the page shows a text besides", async () => {
    const html = `<!doctype html><title>The weir</title><article><h1>The weir</h1>${stories}</article>
      <div style="visibility: hidden"><p>Your session is about to end, and all that you wrote goes with it.</p></div>`;
    expect((await articleOf(html)).text).not.toContain("Your session");
  });

  const shell = (inside: string): string =>
    `<html><head><title>T</title>${inside}</head><body><nav class="menu"><a href="/">Home</a></nav><div id="root"></div></body></html>`;
  const body = Array.from({ length: 120 }, (_, index) => `word${index}`).join(" ");

  test("is taken from the article body of JSON-LD", async () => {
    const { text } = await articleOf(
      shell(
        `<script type="application/ld+json">${JSON.stringify({ "@type": "Article", articleBody: `${body}\n\nSecond <b>part</b>.` })}</script>`,
      ),
    );
    expect(text).toBe(`${body}\n\nSecond <b>part</b>.`);
  });

  test("is taken from the state of an application", async () => {
    const state = { props: { page: { html: `<p>${body}</p><script>alert(1)</script><p>End.</p>` } } };
    const { text, content } = await articleOf(
      shell(
        `<script id="__NEXT_DATA__" type="application/json">${JSON.stringify(state).replaceAll("<", "\\u003c")}</script>`,
      ),
    );
    expect(text).toBe(`${body}\n\nEnd.`);
    expect(content).not.toContain("alert");
  });

  test("is taken from a forum's preloaded topic", async () => {
    const topic = JSON.stringify({
      post_stream: {
        posts: [
          { username: "ann", cooked: `<p>${body}</p>` },
          { username: "bo", cooked: "<p>Thanks!</p>" },
        ],
      },
    });
    const preloaded = JSON.stringify({ topic_1: topic }).replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    const { text } = await articleOf(
      `<html><body><nav class="menu"><a href="/">Home</a></nav><div id="data-preloaded" data-preloaded="${preloaded}"></div></body></html>`,
    );
    expect(text).toBe(`ann\n\n${body}\n\nbo\n\nThanks!`);
  });

  test("is left where it is when the page shows it already", async () => {
    const data = `<script type="application/ld+json">${JSON.stringify({ "@type": "Article", articleBody: PROSE.repeat(3) })}</script>`;
    const { text } = await articleOf(SITE.replace("</head>", `${data}</head>`));
    expect(text).toBe((await articleOf(SITE)).text);
  });
});
