import { describe, expect, test } from "bun:test";
import { articleOf, PROSE } from "../../support/extraction.ts";

const BARE = "Nobody wrote tags around this.";
const pageOf = (frame: string, content: string): string =>
  `<header><a href="/">Site</a></header><nav><a href="/a">A</a> <a href="/b">B</a></nav>` +
  `<${frame}><h1>Mill</h1>${content}</${frame.split(" ")[0]}><footer>© 2020</footer>`;

describe("text that stands between paragraphs without an element of its own stays", () => {
  for (const frame of ["main", "article", "div", 'div class="entry-content post-body"']) {
    test.each([
      ["behind the first paragraph", `<p>${PROSE}</p>${BARE}<p>${PROSE} Twice.</p>`],
      ["behind the last paragraph", `<p>${PROSE}</p><p>${PROSE} Twice.</p>${BARE}`],
      ["with emphasis", `<p>${PROSE}</p><em>So:</em> ${BARE}<p>${PROSE} Twice.</p>`],
    ])(`in ${frame}, %s`, async (_, content) => {
      const { text } = await articleOf(pageOf(frame, content));
      expect(text).toContain(BARE);
      expect(text).not.toContain("2020");
    });
  }
});
