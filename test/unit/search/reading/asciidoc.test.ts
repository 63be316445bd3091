import { expect, test } from "bun:test";
import { markdownOf } from "../../../support/search/read-text.ts";

const read = (text: string): string => markdownOf(text, "asciidoc");

test.each([
  ["nothing", "", ""],
  ["a word", "word", "word"],
  [
    "a title with an author",
    "= Title\nAnn Author <a@h.test>\nv1.0, 2026-01-01\n:toc:\n\nText.",
    "# Title\n\nText.",
  ],
  ["a title with a text below", "= Title\n\nText of Ann.", "# Title\n\nText of Ann."],
  ["sections", "== A\n\n=== B\n\n[#c]\n== C", "## A\n\n### B\n\n## C {#c}"],
  ["attributes", ":v: 4.2\n\nVersion {v} of {none}.", "Version 4.2 of {none}."],
  [
    "attributes with the names of what objects have, in which only marks take effect",
    "{constructor} {toString} `{constructor}` `{__proto__}` {__proto__}\n\n----\n{toString}\n----",
    "{constructor} {toString} `{constructor}` `{__proto__}` {*proto*}\n\n```\n{toString}\n```",
  ],
  ["code", ".Title\n[source,ruby]\n----\na # <1>\n----\n<1> What", "**Title**\n\n```ruby\na\n```\n\n1. What"],
  ["code by its fence", "```js\na\n```", "```js\na\n```"],
  ["code of the document's language", ":source-language: go\n\n[source]\n----\na\n----", "```go\na\n```"],
  ["a literal block", "....\n<b>\n....", "```\n<b>\n```"],
  ["a literal paragraph", "Text.\n\n  a\n    b", "Text.\n\n```\na\n  b\n```"],
  ["a block that nothing ends", "----\na", "```\na\n```"],
  ["a comment", "Seen.\n\n////\nnot\n////\n// not\nSeen too.", "Seen.\n\nSeen too."],
  ["items", "* a\n** b\n* c\n\n- d", "- a\n  - b\n- c\n  - d"],
  ["numbered items", ". a\n.. b\n. c", "1. a\n   1. b\n2. c"],
  ["items with blocks", "* a\n+\n----\nx\n----\n* b", "- a\n\n  ```\n  x\n  ```\n\n- b"],
  ["lists that a comment keeps apart", "* a\n\n//-\n\n. b", "- a\n1. b"],
  ["terms", "A:: a\nB::\nC::\n  c\nd", "**A**\n\n- a\n\n**B**\n\n**C**\n\n- c\n  d"],
  ["terms in terms", "A::\nB::: b\nC:: c", "**A**\n\n- **B**\n  - b\n\n**C**\n\n- c"],
  ["a note", "NOTE: Do *it*.", "> [!NOTE]\n> Do **it**."],
  ["a note of blocks", "[TIP]\n.Hint\n====\nA\n\n* b\n====", "> [!TIP]\n> **Hint**\n>\n> A\n>\n> - b"],
  ["an example", ".Title\n====\nA\n====", "**Title**\n\nA"],
  ["a quotation", "[quote, Ann, Book]\n____\nA\n____", "> A\n\n— Ann, Book"],
  ["a table", "|===\n|A |B\n\n|1\n|2 \\| 3\n|===", "| A | B |\n| --- | --- |\n| 1 | 2 \\| 3 |"],
  ["a table without a header", "|===\n|1 |2\n|3 |4\n|===", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"],
  [
    "a table with cells over columns and rows",
    '[cols="1,1"]\n|===\n2+|a\n.2+|b |c\n|d\n|===',
    "|  |  |\n| --- | --- |\n| a |  |\n| b | c |\n|  | d |",
  ],
  ["blocks in a cell", "[cols=2]\n|===\na|* x\n* y\n|z\n|===", "|  |  |\n| --- | --- |\n| - x<br>- y | z |"],
  ["a repeated cell", "[cols=3]\n|===\n3*|a\n|===", "|  |  |  |\n| --- | --- | --- |\n| a | a | a |"],
  [
    "comma-separated values",
    '[%header,format=csv]\n|===\nA,B\n1,"2, 3"\n|===',
    "| A | B |\n| --- | --- |\n| 1 | 2, 3 |",
  ],
  ["a picture", "image::a.png[A boat,200]", "![A boat](a.png)"],
  ["a picture without words", "image::a.png[]", ""],
  ["a formula", "[stem]\n++++\na^2\n++++", "$$\na^2\n$$"],
  ["a rule and a page break", "a\n\n'''\n\n<<<\n\nb", "a\n\n---\n\nb"],
  ["conditions", "ifdef::x[]\nA\nendif::[]\nifndef::y[B]", "A\nB"],
  ["lines that break", "a +\nb", "a\\\nb"],
] as const)("%s", (_, text, markdown) => {
  expect(read(text)).toBe(markdown);
});

test.each([
  ["*b* _i_ `c` **b**old #m# [.x]#y#", "**b** *i* `c` **b**old m y"],
  ["2 * 3 * 4 a_b_c C++ snake_case", "2 * 3 * 4 a_b_c C++ snake_case"],
  ["\\*not* \\_not_ \\`not`", "\\*not\\* \\_not\\_ \\`not\\`"],
  ["H~2~O E=mc^2^", "H2O E=mc2"],
  ["`+a*b*+` +*c*+ pass:[*d*]", "`a*b*` \\*c\\* \\*d\\*"],
  [
    "http://h.test/a[text] link:b.html[B^] http://h.test/c_d_e",
    "[text](http://h.test/a) [B](b.html) http://h.test/c_d_e",
  ],
  ["<<_set_up>> <<x,shown>> xref:a.adoc#b[C] xref:a.adoc[]", "set up shown C a"],
  ["kbd:[C] menu:File[Save > As] btn:[OK] image:i.png[alt]", "C File > Save > As OK ![alt](i.png)"],
  ["a footnote:[What *it* is] ((shown)) (((not,at all)))b", "a  (What **it** is) shown b"],
  ['"`quoted`" {plus} {nbsp}.', "“quoted” +  ."],
  ["<script>x</script> link:javascript:alert(1)[bad]", "&lt;script>x&lt;/script> bad"],
  ["an *unclosed and `unclosed", "an \\*unclosed and \\`unclosed"],
])("the phrases of %j", (text, markdown) => {
  expect(read(text)).toBe(markdown);
});

test.each([
  "include::/etc/passwd[]",
  "[source]\n----\ninclude::/etc/passwd[lines=1]\n----",
  "image::/etc/passwd[]",
  "link:/etc/passwd[]",
])("%s reads no file", (text) => {
  expect(read(`Before.\n\n${text}\n\nAfter.`)).not.toContain("root:");
});

test("HTML that is passed through is cleaned as other HTML is", () => {
  expect(read("++++\n<b>Seen</b><script>not()</script><i hidden>not</i>\n++++")).toBe("<b>Seen</b>");
});

test.each([1, 5, 13, 30])("boxes inside %i others keep their words", (depth) => {
  const lines = Array.from({ length: depth }, (_, at) => ["=".repeat(at + 4), "", `w${at}w`, ""]).flat();
  const closing = Array.from({ length: depth }, (_, at) => "=".repeat(depth - at + 3));
  const markdown = read([...lines, ...closing].join("\n"));
  for (let at = 0; at < depth; at++) expect(markdown.split(`w${at}w`)).toHaveLength(2);
});
