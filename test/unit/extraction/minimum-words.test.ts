import { describe, expect, test } from "bun:test";
import { articleOf, extract, PROSE, pageWith } from "../../support/extraction.ts";

describe("the minimum of words", () => {
  test("missed is a warning in exactly these words", async () => {
    const article = await articleOf(pageWith(""), { minWordCount: 500 });
    expect(article.warnings).toEqual([`Content below minimum word count (${article.wordCount} < 500)`]);
    expect(article.wordCount).toBe(162);
  });

  test("met is none", async () => {
    expect((await articleOf(pageWith(""), { minWordCount: 162 })).warnings).toEqual([]);
    expect((await articleOf(pageWith(""), { minWordCount: 163 })).warnings).toHaveLength(1);
  });

  test("is counted in Markdown and plain text bodies, too", async () => {
    for (const kind of ["markdown", "plain"] as const) {
      expect((await articleOf("three more words", { kind, minWordCount: 4 })).warnings).toEqual([
        "Content below minimum word count (3 < 4)",
      ]);
    }
  });

  test("does not make a page without words an article", async () => {
    for (const html of [
      "",
      "<p></p>",
      "<p>… — !</p>",
      "<img src=/a.png>",
      "<script>let words = 1</script>",
      "🙂",
    ]) {
      expect((await extract(html)).article).toBeNull();
    }
  });
});

describe("the renderings", () => {
  test("are null unless asked for", async () => {
    for (const kind of ["html", "markdown", "plain"] as const) {
      const body = kind === "html" ? pageWith("") : PROSE;
      const bare = await articleOf(body, { kind, renderings: [] });
      expect([bare.content, bare.markdown]).toEqual([null, null]);
      const one = await articleOf(body, { kind, renderings: ["markdown"] });
      expect(one.content).toBeNull();
      expect(one.markdown).toContain("The mill");
      expect<unknown>({ ...one, markdown: null }).toEqual(bare);
    }
  });
});
