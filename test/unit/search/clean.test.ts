import { expect, test } from "bun:test";
import { cleanDocument } from "../../../src/search/reading/read-document.ts";
import { docsUrl } from "../../../src/urls/index.ts";

const clean = (markdown: string): string =>
  cleanDocument({ url: docsUrl("t", "d"), title: "", markdown }).markdown;

const KEPT = [
  `<p title="the hidden door">x</p>`,
  "<a-b>x</a-b>",
  "a <b and > c hidden",
  "`<!-- code -->`",
  "``a ` <p hidden>``",
  "~~~\n<p hidden>x</p>\n~~~\nend",
  "```\n<!-- a -->\n``` \nend",
  "- item\n\n  ```html\n  <!-- a --><script src=x>\n  ```\n- end",
  "1. item\n\n   ~~~~\n   <p hidden>\n   ~~~~\n\n   end",
  "> ```\n> <!-- a\n> ```\n\nend",
  "text\n\n    <script src=x>\n    <!-- a\n\nend",
  "```\n<!-- never closed",
  "the <template> element, and <script> too",
  "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f} flag",
  "<p style='font-size: 0.9em'>x</p>",
];

test.each(KEPT)("text that readers see is kept: %j", (markdown) => {
  expect(clean(markdown)).toBe(markdown);
});

const CUT: readonly (readonly [markdown: string, shown: string])[] = [
  ["a<!-- b -->c", "ac"],
  ["a<p hidden>b</p>c", "ac"],
  ["a<P HIDDEN>b</p >c", "ac"],
  [`a<p title=">" hidden>b</p>c`, "ac"],
  ["a<p hidden=''>b<p>c</p></p>d", "ad"],
  [`a<i aria-hidden = "true">b</i>c`, "ac"],
  ["a<i popover>b</i>c", "ac"],
  ["a<p style='clip-path:inset(100%)'>b</p>c", "ac"],
  ["a<p style='opacity:.5'>b</p>c", "a<p style='opacity:.5'>b</p>c"],
  ["a<i style='color:red; DISPLAY : none'>b</i>c", "ac"],
  ["a<script>b</script>c", "ac"],
  ["a<br hidden>c", "ac"],
  ["a<p hidden>b", "a"],
  ["``` `\n<p hidden>b</p>c", "``` `\nc"],
  ["<p hidden>b</p>\n```\n<p hidden>x</p>\n```\n<p hidden>b</p>c", "\n```\n<p hidden>x</p>\n```\nc"],
  ["a\u200b\u202eb\u{e0041}\u{e0042}c", "abc"],
  ["<!--\n```\nb\n```\n-->\nc", "\nc"],
  ["<script>\n    b\n</script>\nc", "\nc"],
  ["```\na\n```\nb<!-- c -->\n```js\nd\n```", "```\na\n```\nb\n```js\nd\n```"],
  ["```\na\n```\n    <i>b\n<!-- c -->d", "```\na\n```\n    <i>b\nd"],
  [`a<${"x".repeat(100)} hidden>b`, "a"],
];

test.each(CUT)("text that they do not see is removed: %j", (markdown, shown) => {
  expect(clean(markdown)).toBe(shown);
});
