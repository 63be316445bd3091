import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { type CrawlRoute, serveCrawlSite } from "../../support/crawl-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = "The wheel turns with the tide, and the miller counts the sacks of the morning. ".repeat(12);
const MARKDOWN = `---
title: The mill
---

# The mill

> Written by the **site**.

## Gates

${WORDS}See [the weir](../weir.md#low), ![the gate](gate.png) and [the law][law].

[law]: /law "The law"
`;

const article = (
  head = "",
  more = "",
) => `<html><head><title>The mill — Tide</title>${head}</head><body><main><article>
<h1>The mill</h1><p>Written by the <b>site</b>.</p><h2 id="the-gates">Gates</h2>
<p>${WORDS}See <a href="/weir">the weir</a>, <img src="gate.png" alt="the gate"> and <a href="/law">the law</a>.</p>
${more}</article></main></body></html>`;

const asHtml = (body: string, headers: Record<string, string> = {}) =>
  new Response(body, { headers: { "content-type": "text/html; charset=utf-8", ...headers } });
const asMarkdown = (body: string, type = "text/markdown; charset=utf-8") =>
  new Response(body, { headers: { "content-type": type } });
const linked = (href: string, attributes = 'rel="alternate" type="text/markdown"') =>
  article(`<link ${attributes} href="${href}">`);

const ROUTES: Readonly<Record<string, CrawlRoute>> = {
  "/docs/alternate": () => asHtml(linked("raw/mill.md")),
  "/docs/raw/mill.md": () => asMarkdown(MARKDOWN),
  "/docs/header": () =>
    asHtml(article(), {
      link: '</style.css>; rel=preload, <raw/mill.md>; rel="alternate"; type="text/markdown"',
    }),
  "/docs/link": () => asHtml(article("", '<p><a href="/docs/link.md">View as Markdown</a></p>')),
  "/docs/link.md": () => asMarkdown(MARKDOWN, "text/plain"),
  "/docs/page.html": () => asHtml(article("", '<p><a href="page.md">Source</a></p>')),
  "/docs/page.md": () => asMarkdown(MARKDOWN),
  "/docs/folder/": () => asHtml(article("", '<p><a href="index.html.md">Source</a></p>')),
  "/docs/folder/index.html.md": () => asMarkdown(MARKDOWN),
  "/docs/indexed": () => asHtml(linked("/docs/llms.txt", 'rel="describedby"')),
  "/docs/indexed2": () => asHtml(linked("/docs/llms.txt")),
  "/docs/llms.txt": () => asMarkdown("# Tide\n\n- [The mill](/docs/indexed.md)\n- [Again](indexed2.md)\n"),
  "/docs/indexed.md": () => asMarkdown(MARKDOWN),
  "/docs/indexed2.md": () => asMarkdown(MARKDOWN),
  "/docs/varied": ({ headers }) =>
    headers.accept?.startsWith("text/markdown")
      ? asMarkdown(MARKDOWN)
      : asHtml(article(), { vary: "Accept-Encoding, Accept" }),
  "/docs/pictures": () => asHtml(article(), { vary: "accept" }),
  // What is not believed.
  "/docs/gone": () => asHtml(linked("/docs/nowhere.md")),
  "/docs/html": () => asHtml(linked("/docs/html.md")),
  "/docs/html.md": () => asHtml(article()),
  "/docs/short": () => asHtml(linked("/docs/short.md")),
  "/docs/short.md": () => asMarkdown("# The mill\n\nRead more on our site.\n"),
  "/docs/other": () => asHtml(linked("/docs/other.md")),
  "/docs/other.md": () => asMarkdown(MARKDOWN.replaceAll("The mill", "The weir")),
  "/docs/whole": () => asHtml(linked("/llms-full.md")),
  "/llms-full.md": () =>
    asMarkdown(`${MARKDOWN}\n${"Another page altogether says other things. ".repeat(120)}`),
  "/docs/led": () => asHtml(linked("/docs/led.md")),
  "/docs/led.md": () => new Response(null, { status: 302, headers: { location: "http://localhost:1/x.md" } }),
  "/docs/far": () => asHtml(linked("http://localhost:1/x.md")),
  "/docs/slow": () => asHtml(linked("/docs/slow.md")),
  "/docs/slow.md": async () => {
    await Bun.sleep(20_000);
    return asMarkdown(MARKDOWN);
  },
  "/docs/bare": () => asHtml(article()),
};
const site = forAllTests(serveCrawlSite(ROUTES));

async function read(path: string, ...words: string[]) {
  const run = await runCommand([`${site.origin}${path}`, "--no-browser", "--retries", "0", ...words]);
  expect(run.exitCode).toBe(0);
  return JSON.parse(run.stdout);
}

describe("a site's own Markdown", () => {
  test.each([
    ["/docs/alternate", "/docs/raw/mill.md", "alternate"],
    ["/docs/header", "/docs/raw/mill.md", "header"],
    ["/docs/link", "/docs/link.md", "link"],
    ["/docs/page.html", "/docs/page.md", "link"],
    ["/docs/folder/", "/docs/folder/index.html.md", "link"],
    ["/docs/indexed", "/docs/indexed.md", "llms.txt"],
    ["/docs/indexed2", "/docs/indexed2.md", "llms.txt"],
    ["/docs/varied", "/docs/varied", "vary"],
  ])("of %s is taken from %s, which is named by its %s", async (path, from, sign) => {
    const { title, markdown, sources, warnings, text } = await read(path);
    expect(sources.markdown).toEqual({ url: `${site.origin}${from}`, sign });
    expect(title).toBe("The mill");
    expect(markdown).toStartWith("# The mill\n\n> Written by the **site**.\n\n## Gates\n\nThe wheel");
    expect(text).toStartWith("Written by the site.");
    expect(warnings).toBeNull();
  });

  test("leads where it led on its site", async () => {
    const { markdown } = await read("/docs/alternate");
    const { origin } = site;
    expect(markdown).toContain(`[the weir](${origin}/docs/weir.md#low)`);
    expect(markdown).toContain(`![the gate](${origin}/docs/raw/gate.png)`);
    expect(markdown).toContain(`[law]: ${origin}/law "The law"`);
  });

  test.each([
    ["/docs/gone", "there is none"],
    ["/docs/html", "there is none"],
    ["/docs/short", "% of the page's words"],
    ["/docs/other", 'its title is "The weir", and that of the page "The mill"'],
    ["/docs/whole", " words, and the page "],
    ["/docs/led", "there is none"],
  ])("of %s is not taken, with the reason", async (path, reason) => {
    const { markdown, sources, warnings } = await read(path);
    expect(sources.markdown).toBeNull();
    expect(markdown).toStartWith("# The mill\n\nWritten by the **site**.");
    expect(warnings).toEqual([expect.stringMatching(/^The site's Markdown http\S+ is not taken: /)]);
    expect(warnings[0]).toContain(reason);
  });

  test.each(["/docs/pictures", "/docs/far", "/docs/bare"])(
    "%s has none, and nothing is said",
    async (path) => {
      expect(await read(path)).toMatchObject({ warnings: null, sources: { markdown: null } });
    },
  );

  test.each([
    [["--no-native-markdown"]],
    [["--output", "text"]],
    [["--select", "article"]],
    [["--exclude", "h2"]],
    [["--engine", "readability"]],
  ])("is not asked for with %p", async (words) => {
    const before = site.visits.length;
    await runCommand([`${site.origin}/docs/alternate`, "--no-browser", ...words]);
    expect(site.visits.slice(before).map(({ path }) => path)).toEqual(["/docs/alternate"]);
  });

  test("is not waited for", async () => {
    const before = performance.now();
    const { warnings, markdown } = await read("/docs/slow");
    expect(performance.now() - before).toBeLessThan(15_000);
    expect([markdown.startsWith("# The mill"), warnings]).toEqual([
      true,
      [expect.stringContaining("there is none")],
    ]);
  }, 30_000);

  test("gets the anchors of the page's headings", async () => {
    using directory = temporaryDirectory();
    const words = [
      "crawl",
      `${site.origin}/docs/alternate`,
      "--no-follow-links",
      "--rate-limit",
      "0",
      "--no-browser",
    ];
    expect((await runCommand([...words, "--output-dir", directory.path])).exitCode).toBe(0);
    const name = readdirSync(directory.path, { recursive: true })
      .map(String)
      .find((file) => file.endsWith(".md"));
    const stored = readFileSync(join(directory.path, name!), "utf8");
    expect(stored).toContain("> Written by the **site**.");
    expect(stored).toMatch(/^anchors: .*the-gates/m);
  });

  test("is left alone by a crawl after three disappointments", async () => {
    const names = Array.from({ length: 40 }, (_, number) => `p${number}`);
    const routes = Object.fromEntries(names.map((name) => [`/${name}`, () => asHtml(linked(`/${name}.md`))]));
    await using other = serveCrawlSite(routes);
    using directory = temporaryDirectory();
    const seeds = names.map((name) => `${other.origin}/${name}`);
    const words = [
      "crawl",
      ...seeds,
      "--no-follow-links",
      "--rate-limit",
      "0",
      "--concurrency",
      "1",
      "--no-browser",
    ];
    await runCommand([...words, "--output-dir", directory.path]);
    const asked = other.visits.map(({ path }) => path).filter((path) => path.endsWith(".md"));
    // Pages that were under way at the third one had asked already.
    expect(asked.length).toBeWithin(3, 20);
  });
});
