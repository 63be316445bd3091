import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Failure } from "../../src/base/failure.ts";
import type { BodyKind, Extraction, ExtractionOptions } from "../../src/extraction/index.ts";
import type { ExtractionTask } from "../../src/extraction/types.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";

/** The door that every extractor has, wherever it does its work. */
export type ExtractorDoor = AsyncDisposable & { extract(task: ExtractionTask): Promise<Extraction> };

/** What every extractor does, whatever thread it works on. */
export function describeExtractor(kind: string, open: () => ExtractorDoor): void {
  describe(`the extractor ${kind}`, () => {
    let door: ExtractorDoor;
    beforeAll(() => {
      door = open();
    });
    afterAll(() => door[Symbol.asyncDispose]());
    const extract = (body: string, options: Partial<ExtractionOptions> = {}, kind: BodyKind = "html") =>
      door.extract(extractionTask(body, options, kind));

    describeResult(extract);
    describeOptions(extract);
    describeFailures(extract);
  });
}

export const SENTENCE =
  "The mill at the river mouth has turned again since the spring, and people sleep better. ";
const PROSE = SENTENCE.repeat(4);

/** A task with nothing removed and no rendering, unless the options say otherwise. */
export function extractionTask(
  body: string,
  options: Partial<ExtractionOptions> = {},
  kind: BodyKind = "html",
): ExtractionTask {
  const plain = { ...DEFAULT_EXTRACTION, minWordCount: 0, renderings: [] };
  return { kind, body, url: parsePageUrl("https://site.test/dir/page"), options: { ...plain, ...options } };
}

const PAGE = `<!doctype html><html lang="en"><head><title>The mill | Site</title>
  <meta name="robots" content="noindex"><link rel="canonical" href="/mill"><meta name="author" content="Ann Quay">
  </head><body><nav><a href="/">Home</a></nav><article><h1>The mill</h1><p>${PROSE}</p>
  <figure><img src="mill.png" alt="The mill"><figcaption>In spring</figcaption></figure>
  <pre><code class="language-sh">turn  the mill</code></pre><aside class="note"><p>A note of the editor about the mill.</p></aside>
  <p>${PROSE} <a rel="nofollow" href="more">More</a></p></article></body></html>`;

type Extract = (body: string, options?: Partial<ExtractionOptions>, kind?: BodyKind) => Promise<Extraction>;

function describeResult(extract: Extract): void {
  test("yields article, links, robots directives and canonical URL from one call", async () => {
    const { article, links, robots, canonical } = await extract(PAGE);
    expect(article).toMatchObject({ title: "The mill", byline: "Ann Quay", lang: "en", publishedDate: null });
    expect(article?.text).toStartWith(PROSE.trim());
    expect(links).toEqual([
      { url: "https://site.test/", text: "Home", isNofollow: false },
      { url: "https://site.test/dir/more", text: "More", isNofollow: true },
    ] as unknown as Extraction["links"]);
    expect(robots).toEqual({ noindex: true, nofollow: false });
    expect(canonical).toBe(parsePageUrl("https://site.test/mill"));
  });

  test("yields links, directives and canonical URL of a page without words", async () => {
    const { article, links, canonical } = await extract(`<link rel=canonical href="/c"><a href="/a"></a>`);
    expect(article).toBeNull();
    expect(links).toHaveLength(1);
    expect(canonical).toBe(parsePageUrl("https://site.test/c"));
  });

  test("reads Markdown and plain text bodies as such", async () => {
    const markdown = await extract("# Title\n\n*Some* text", { renderings: ["markdown"] }, "markdown");
    expect(markdown.article).toMatchObject({ title: "Title", text: "Some text", markdown: "*Some* text" });
    const plain = await extract("*Some* <b>text</b>", {}, "plain");
    expect(plain.article?.text).toBe("*Some* <b>text</b>");
  });

  test("gives the same result for the same page again", async () => {
    const first = await extract(PAGE, { renderings: ["content", "markdown"] });
    await extract("<p>another page in between</p>");
    expect(await extract(PAGE, { renderings: ["content", "markdown"] })).toEqual(first);
  });
}

function describeOptions(extract: Extract): void {
  const articleWith = async (options: Partial<ExtractionOptions>) => {
    const { article } = await extract(PAGE, { renderings: ["content", "markdown"], ...options });
    if (!article) throw new Error("the page holds no article");
    return article;
  };

  test("makes no rendering that was not asked for", async () => {
    const { content, markdown } = await articleWith({ renderings: [] });
    expect([content, markdown]).toEqual([null, null]);
    expect((await articleWith({ renderings: ["content"] })).markdown).toBeNull();
    expect((await articleWith({ renderings: ["markdown"] })).content).toBeNull();
  });

  test("makes the renderings that were asked for", async () => {
    const { content, markdown } = await articleWith({});
    expect(content).toContain(`<img src="https://site.test/dir/mill.png" alt="The mill">`);
    expect(markdown).toContain("![The mill](https://site.test/dir/mill.png)");
    expect(markdown).toContain("```sh\nturn  the mill\n```");
  });

  test("leaves images out on demand and nothing else", async () => {
    const whole = await articleWith({});
    const bare = await articleWith({ includeImages: false });
    expect(bare.content).toBe((whole.content ?? "").replace(/<img[^>]*>/g, ""));
    expect(bare.text).toBe(whole.text);
    expect(bare.markdown).not.toContain("![");
  });

  test("leaves code blocks out on demand and nothing else", async () => {
    const whole = await articleWith({});
    const bare = await articleWith({ includeCode: false });
    expect(bare.content).toBe((whole.content ?? "").replace(/<pre>.*<\/pre>/s, ""));
    expect(bare.text).toBe(whole.text.replace("turn  the mill\n\n", ""));
    expect(bare.markdown).toBe((whole.markdown ?? "").replace("```sh\nturn  the mill\n```\n\n", ""));
  });

  test("takes the content from the selected elements, each once", async () => {
    expect((await articleWith({ select: "figcaption" })).text).toBe("In spring");
    expect((await articleWith({ select: "figure, figcaption, nav" })).text).toBe("Home\n\nIn spring");
  });

  test("finds no article where nothing is selected, and says so of the selector", async () => {
    for (const [select, elements] of [
      ["#nowhere", 0],
      ["img", 1],
    ] as const) {
      const { article, emptySelection } = await extract(PAGE, { select });
      expect(article).toBeNull();
      expect(emptySelection).toEqual({ selector: select, elements });
    }
    expect((await extract(PAGE, { select: "nav" })).emptySelection).toBeNull();
    expect((await extract("<p></p>", {})).emptySelection).toBeNull();
  });

  test("warns of each excluded selector that matches nothing, whatever the others take away", async () => {
    const { article } = await extract(PAGE, { exclude: ["nav", ".nowhere", "nav a", "aside.none"] });
    expect(article?.warnings.filter((warning) => warning.includes("excluded"))).toEqual([
      'No element matches the excluded selector ".nowhere"',
      'No element matches the excluded selector "aside.none"',
    ]);
    const selected = await extract(PAGE, { select: "article", exclude: ["nav", "b > u"] });
    expect(selected.article?.warnings).toContain('No element matches the excluded selector "b > u"');
  });

  test("keeps excluded elements out, the links in", async () => {
    const { article, links } = await extract(PAGE, { exclude: [".note", "nav, figure"], select: "body" });
    expect(article?.text).not.toMatch(/editor|In spring|Home/);
    expect(article?.text).toContain("turn  the mill");
    expect(links).toHaveLength(2);
  });

  for (const everything of ["html", "body", "*", "article"]) {
    test(`finds no article where ${everything} is excluded`, async () => {
      const { article, canonical } = await extract(PAGE, { exclude: ["nav", everything] });
      expect(article).toBeNull();
      expect(canonical).toBe(parsePageUrl("https://site.test/mill"));
    });
  }

  test("warns below the minimum of words", async () => {
    const article = await articleWith({ minWordCount: 1000 });
    expect(article.warnings).toEqual([`Content below minimum word count (${article.wordCount} < 1000)`]);
    expect((await articleWith({ minWordCount: article.wordCount })).warnings).toEqual([]);
  });
}

function describeFailures(extract: Extract): void {
  for (const selector of ["p[", "", " ", "::::", "p:unknown-class(x)"]) {
    test(`refuses the selector ${JSON.stringify(selector)} by naming it`, async () => {
      const chosen = await failureOf(extract(PAGE, { select: selector }));
      expect([chosen.code, chosen.message]).toEqual([
        "invalid_usage",
        `select ${JSON.stringify(selector)} is not a CSS selector`,
      ]);
      const excluded = await failureOf(extract(PAGE, { exclude: [selector] }));
      expect([excluded.code, excluded.message]).toEqual([
        "invalid_usage",
        `exclude ${JSON.stringify(selector)} is not a CSS selector`,
      ]);
    });
  }

  test("reads a page however deep it nests, and refuses it to a selector", async () => {
    const page = `${"<div>".repeat(4000)}<p>${PROSE}</p>`;
    expect((await extract(page)).article?.text).toBe(PROSE.trim());
    const failure = await failureOf(extract(page, { select: "p" }));
    expect([failure.code, failure.message]).toEqual([
      "too_large",
      "the page nests elements deeper than 2500 levels",
    ]);
    const quoted = await extract(`${">".repeat(10_000)} mill`, {}, "markdown");
    expect(quoted.article?.text).toEndWith("mill");
  });

  test("takes the next page after a failure", async () => {
    await failureOf(extract(PAGE, { select: "p[" }));
    expect((await extract(PAGE)).article?.title).toBe("The mill");
  });
}

/** The Failure that the promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const outcome = await promise.then(
    () => "a result",
    (error: unknown) => error,
  );
  if (outcome instanceof Failure) return outcome;
  throw new Error(`expected a Failure, got ${String(outcome)}`);
}
