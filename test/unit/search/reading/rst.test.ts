import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { markdownOf } from "../../../support/search/read-text.ts";

const read = (text: string): string => markdownOf(text, "rst");

test.each([
  ["nothing", "", ""],
  ["a word", "word", "word"],
  ["a title", "Title\n=====\n\nText.", "# Title\n\nText."],
  ["a title with lines above and below", "=====\nTitle\n=====\n\nPart\n=====\n", "# Title\n\n## Part"],
  ["levels in the order of their first use", "A\n~~~~\n\nB\n----\n\nC\n~~~~\n", "# A\n\n## B\n\n# C"],
  ["a transition", "Above.\n\n-----\n\nBelow.", "Above.\n\n---\n\nBelow."],
  ["fields of the file", ":orphan:\n\nTitle\n=====\n", "# Title"],
  ["a comment", "Seen.\n\n.. not\n   seen\n\nSeen too.", "Seen.\n\nSeen too."],
  ["an empty comment", "Seen.\n\n..\n\n   A quote.", "Seen.\n\n> A quote."],
  ["a literal block", "Text::\n\n  a\n    b\n\n  c\n\nEnd.", "Text:\n\n```\na\n  b\n\nc\n```\n\nEnd."],
  ["a literal block with its colons apart", "Text\n\n::\n\n  a", "Text\n\n```\na\n```"],
  ["quoted literal lines", "Text::\n\n> a\n> b\n\nEnd.", "Text:\n\n```\n> a\n> b\n```\n\nEnd."],
  ["colons without a block", "Text::\n\nEnd.", "Text:\n\nEnd."],
  ["the language of literal blocks", ".. highlight:: C\n\nText::\n\n  a", "Text:\n\n```C\na\n```"],
  ["code", ".. code:: python\n   :number-lines:\n\n   a = 1", "```python\na = 1\n```"],
  ["code with a caption", ".. code-block:: c\n   :caption: *Main*\n\n   a", "***Main***\n\n```c\na\n```"],
  ["a session", ">>> 1 + 1\n2\n\nText.", "```python\n>>> 1 + 1\n2\n```\n\nText."],
  ["a note in its first line", ".. tip:: Do *it*.", "> [!TIP]\n> Do *it*."],
  ["a note with a title", ".. admonition:: Please\n\n   Do it.", "> [!NOTE]\n> **Please**\n>\n> Do it."],
  ["a change", ".. versionadded:: 3.2 Now *in*.", "**New in version 3.2:** Now *in*."],
  ["a picture", ".. image:: a.png\n   :alt: A boat", "![A boat](a.png)"],
  ["a figure", ".. figure:: a.png\n   :alt: A boat\n\n   Its caption.", "![A boat](a.png)\n\nIts caption."],
  ["a picture without words", ".. image:: a.png", ""],
  [
    "a list of options",
    "-a  All\n-f FILE, --file=FILE\n    The file",
    "`-a`\n\n- All\n\n`-f FILE, --file=FILE`\n\n- The file",
  ],
  [
    "a list of terms",
    "term : type\n  What\n\nother\n  More",
    "**term** : type\n\n- What\n\n**other**\n\n- More",
  ],
  [
    "fields",
    ":param x: The x\n   of it\n:rtype: int",
    "**param x**\n\n- The x\n  of it\n\n**rtype**\n\n- int",
  ],
  ["lines", "| one\n| two", "one\\\ntwo"],
  ["items", "- a\n\n- b\n  c", "- a\n- b\n  c"],
  ["numbered items", "3. a\n4. b\n#. c", "3. a\n4. b\n1. c"],
  ["a text that begins like an item", "A. Turing was\nhere.", "A. Turing was\nhere."],
  [
    "a function",
    ".. py:function:: f(x)\n                 g(x)\n   :noindex:\n\n   Does *it*.",
    "**`f(x)`**\n\n**`g(x)`**\n\n- Does *it*.",
  ],
  ["an unknown directive", ".. fancy:: Words\n   :opt: x\n\n   More words.", "**`Words`**\n\n- More words."],
  ["a mathematical block", ".. math::\n\n   a^2", "$$\na^2\n$$"],
  ["a footnote", "See [#n]_.\n\n.. [#n] What it says.", "See [n].\n\n[n]\n\n- What it says."],
  [
    "a grid table",
    "+---+---+\n| A | B |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+",
    "| A | B |\n| --- | --- |\n| 1 | 2 3 |",
  ],
  [
    "a grid table with cells over columns and rows",
    "+---+---+\n| A     |\n+---+---+\n| 1 | 2 |\n|   +---+\n|   | 3 |\n+---+---+",
    "|  |  |\n| --- | --- |\n| A |  |\n| 1 | 2 |\n|  | 3 |",
  ],
  [
    "a simple table",
    "== ==\nA  B\n== ==\n1  2\n   3\n\\  4\n== ==\n\nEnd.",
    "| A | B |\n| --- | --- |\n| 1 | 2 3 |\n|  | 4 |\n\nEnd.",
  ],
  [
    "a table of comma-separated values",
    '.. csv-table:: T\n   :header: "A, x", B\n\n   1, "2 ""b"""\n',
    '**T**\n\n| A, x | B |\n| --- | --- |\n| 1 | 2 "b" |',
  ],
  [
    "a table of lists",
    ".. list-table::\n\n   * - a\n     - b\n   * - c\n     - d",
    "|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
  ],
  [
    "code in a cell",
    ".. list-table::\n\n   * - a::\n\n        x | y\n",
    "|  |\n| --- |\n| a:<br>`x \\| y` |",
  ],
] as const)("%s", (_, text, markdown) => {
  expect(read(text)).toBe(markdown);
});

test.each([
  ["*em* **strong** ``co*de``", "*em* **strong** `co*de`"],
  ["a*b, 2 * 3 * 4, '*', *args", "a\\*b, 2 * 3 * 4, '\\*', \\*args"],
  ["\\*not\\* re\\ *em*\\ phasis", "\\*not\\* re*em*phasis"],
  ["`name` `two words` :func:`f` :func:`~a.b.c` :py:meth:`!m`", "`name` *two words* `f` `c` `m`"],
  [
    ":ref:`a title <place>` :doc:`/a/b` :pep:`8` :kbd:`C-c` `f`:func: :math:`a_b`",
    "a title /a/b PEP 8 `C-c` `f` $a_b$",
  ],
  ["`home <https://h.test/a b>`_ `x`__ http://h.test/", "[home](https://h.test/ab) x http://h.test/"],
  [
    "Named_ and `two words`_.\n\n.. _named: https://h.test/\n.. _Two Words: named_",
    "[Named](https://h.test/) and [two words](https://h.test/).",
  ],
  ["unknown_ and un_known and __init__", "unknown\\_ and un_known and \\_\\_init\\_\\_"],
  ["|a|, |b| and |none|\n\n.. |a| replace:: the *A*\n.. |b| unicode:: 0xA9", "the *A*, © and |none|"],
  ["<script>x</script> & &amp;", "&lt;script>x&lt;/script> & &amp;amp;"],
  ["`bad <javascript:alert(1)>`_", "bad"],
  ["an ``unclosed and *unclosed", "an \\`\\`unclosed and \\*unclosed"],
])("the phrases of %j", (text, markdown) => {
  expect(read(text)).toBe(markdown);
});

describe("no other file", () => {
  test.each(["include", "literalinclude", "csv-table", "raw"])("is read by %s", (name) => {
    const text = `Before.\n\n.. ${name}:: /etc/hostname\n   :file: /etc/hostname\n   :url: http://h.test/\n\nAfter.`;
    expect(read(text)).not.toContain(readFileSync("/etc/hostname", "utf8").trim());
  });
});

test("raw HTML is cleaned as other HTML is", () => {
  expect(
    read(
      ".. raw:: html\n\n   <b>Seen</b><script>not()</script><i hidden>not</i>\n\n.. raw:: latex\n\n   not",
    ),
  ).toBe("<b>Seen</b>");
});

test("code of any depth is kept as it is", () => {
  expect(
    read("- a\n\n  - b\n\n    .. code-block:: html\n\n       <!-- kept -->\n       <script>kept()</script>"),
  ).toContain("<!-- kept -->\n    <script>kept()</script>");
});

test.each([1, 5, 13, 25, 200])("blocks inside %i others keep their words", (depth) => {
  const nested = Array.from({ length: depth }, (_, at) => `${"  ".repeat(at)}- w${at}w\n`).join("\n");
  const quoted = Array.from({ length: depth }, (_, at) => `${" ".repeat(at)}v${at}v\n`).join("\n");
  for (const [text, sign] of [
    [nested, "w"],
    [quoted, "v"],
  ] as const) {
    const markdown = read(text);
    for (let at = 0; at < depth; at++) expect(markdown.split(`${sign}${at}${sign}`)).toHaveLength(2);
  }
});
