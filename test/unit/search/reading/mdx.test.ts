import { describe, expect, test } from "bun:test";
import { withoutComponents } from "../../../../src/search/reading/mdx.ts";
import { documentsOfText, markdownOf } from "../../../support/search/read-text.ts";

const read = (text: string): string =>
  markdownOf(text, "mdx")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

test.each([
  ["nothing", "", ""],
  ["Markdown", "# A\n\n- *b*\n  - c\n\n1. d\n\n   e", "# A\n\n- *b*\n  - c\n\n1. d\n\n   e"],
  ["imports", "import A from 'a'\nimport {\n  B,\n} from 'b'\n\n# Title", "# Title"],
  ["exports", "# Title\n\nexport const meta = {\n  a: [1,\n\n  2],\n}\n\nText.", "# Title\n\nText."],
  [
    "sentences like imports",
    "import duties are high.\n\nexport of goods",
    "import duties are high.\n\nexport of goods",
  ],
  ["a component", '<Card href="/x">\n  Text *here*.\n</Card>', "Text *here*."],
  [
    "titles of components",
    '<Tabs>\n  <Tab title="npm">\n    ```sh\n    npm i\n    ```\n  </Tab>\n  <Tab label={"yarn"}>\n\n    Words.\n\n  </Tab>\n</Tabs>',
    "**npm**\n\n```sh\nnpm i\n```\n\n**yarn**\n\nWords.",
  ],
  [
    "a component in a line",
    'Press <Key name="x">Ctrl</Key> and <kbd className="k">C</kbd>.',
    "Press Ctrl and <kbd>C</kbd>.",
  ],
  ["attributes with expressions", "<A style={{ a: '>' }} on={() => { x > 1 }} {...rest} b>text</A>", "text"],
  ["expressions", "a {props.b} c {'d'} {`e`} {/* f */}g", "a  c d e g"],
  [
    "ids of headings",
    "## Set up {#set-up}\n\n## More {/*more*/}",
    "## Set up {#set-up}\n\n## More {/*more*/}",
  ],
  [
    "code",
    "`<A>{b}</A>` and\n\n```jsx\nimport A from 'a'\n\n<A>{b}</A>\n```",
    "`<A>{b}</A>` and\n\n```jsx\nimport A from 'a'\n\n<A>{b}</A>\n```",
  ],
  ["code in an item", "- a\n\n  ```js\n  <A/>\n  ```\n- b", "- a\n\n  ```js\n  <A/>\n  ```\n- b"],
  [
    "links and pictures of HTML",
    '<a href="/x" className="y">link</a> <img src={"a.png"} alt="A boat" />',
    '<a href="/x">link</a> ![A boat](a.png)',
  ],
  ["headings of HTML", '<h2 id="a">Title</h2>', "## Title"],
  ["fragments", "<>a</>", "a"],
  ["signs of mathematics", "1 < 2 and {3", "1 < 2 and {3"],
  ["escaped signs", "\\{a\\} \\<b>", "\\{a\\} \\<b>"],
  ["an unclosed tag", '<Card title="a', '<Card title="a'],
] as const)("%s", (_, text, markdown) => {
  expect(read(text)).toBe(markdown);
});

test("front matter and headings name the document", () => {
  expect(documentsOfText("---\ntitle: Sails\n---\nimport A from 'a'\n\n# B", "mdx")[0]?.title).toBe("Sails");
  expect(documentsOfText("import A from 'a'\n\n<A/>\n\n# B", "mdx")[0]?.title).toBe("B");
});

test("hidden markup is cut as in other Markdown", () => {
  expect(read("Seen.<!-- not --> <script>not()</script>")).not.toContain("<!--");
});

describe("components in Markdown", () => {
  test.each([
    [
      "<Tabs>\n<TabItem value='a' label=\"Oars\">\n\nRow.\n\n</TabItem>\n</Tabs>",
      "**Oars**\n\n\n\nRow.",
      "Tab",
    ],
    ['<Card title="Mast" />\n\nUp.', "**Mast**", "Card"],
    ["A <Badge>new</Badge> {rope}.", "A new {rope}.", "Badge"],
  ])("of %j leave what they hold", (written, kept, gone) => {
    const shown = withoutComponents(written);
    expect(shown).toContain(kept);
    expect(shown).not.toContain(gone);
  });

  test.each([
    "Use `<Tabs></Tabs>` here.",
    "```jsx\n<Tabs></Tabs>\n```",
    "## List<String> and <T> of Map<K, V>\n\nPut <Name> there.",
    "- Step\n\n  ```\n  <Tabs>\n  </Tabs>\n  ```",
  ])("are not seen in %j", (text) => {
    expect(withoutComponents(text)).toBe(text);
  });
});
