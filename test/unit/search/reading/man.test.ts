import { expect, test } from "bun:test";
import { markdownOf } from "../../../support/search/read-text.ts";

const read = (text: string): string => markdownOf(text, "man");

test.each([
  ["nothing", "", ""],
  [
    "a title and a section",
    '.TH BOAT 1 "2026"\n.SH NAME\nboat \\- sails',
    "# boat(1)\n\n## NAME\n\nboat - sails",
  ],
  ["a section on the next line", ".SH\nNAME\nText.", "## NAME\n\nText."],
  [
    "options",
    ".TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\nTakes\nall.\n.TP\n.B \\-b\nMore.\n.PP\nEnd.",
    "`-a, --all`\n\n- Takes\n  all.\n\n`-b`\n\n- More.\n\nEnd.",
  ],
  ["items", ".IP \\(bu 2\nOne\n.IP \\(bu 2\nTwo\n.LP\nEnd.", "- One\n- Two\n\nEnd."],
  ["an inset list", ".TP\na\nA\n.RS\n.TP\nb\nB\n.RE\n.PP\nEnd.", "**a**\n\n- A\n\n  **b**\n\n  - B\n\nEnd."],
  ["code", ".nf\na *b*\n  c\n.fi\nEnd.", "```\na *b*\n  c\n```\n\nEnd."],
  ["fonts", ".B bold words\n.I it\n.BR boat (1),\nplain", "**bold words**\n*it*\nboat(1),\nplain"],
  ["conditions and definitions", ".de X\nnot\n..\n.ie n \\{\\\nnot\n.\\}\nSeen.", "Seen."],
  [
    "a table",
    ".TS\ntab(;);\nl l.\nA;B\n1;T{\nlong\ntext\nT}\n.TE",
    "| A | B |\n| --- | --- |\n| 1 | long text |",
  ],
  [
    "a page in mdoc",
    ".Dd 1\n.Dt BOAT 1\n.Os\n.Sh NAME\n.Nm boat\n.Nd sails\n.Sh SYNOPSIS\n.Nm\n.Op Fl a\n.Ar file",
    "# boat(1)\n\n## NAME\n\n**boat**\n— sails\n\n## SYNOPSIS\n\n**boat**\n[`-a`]\n*file*",
  ],
  [
    "a list in mdoc",
    ".Bl -tag -width x\n.It Fl a\nAll.\n.It Fl b Ar c\nMore.\n.El\n.Pp\nEnd, see\n.Xr boat 2 .",
    "`-a`\n\n- All.\n\n`-b c`\n\n- More.\n\nEnd, see\nboat(2).",
  ],
  ["another file", ".so /etc/passwd", ""],
] as const)("%s", (_, text, markdown) => {
  expect(read(text)).toBe(markdown);
});

test.each([1, 5, 19, 100])("insets inside %i others keep their words", (depth) => {
  const markdown = read(Array.from({ length: depth }, (_, at) => `.RS\n.TP\nt${at}t\nw${at}w`).join("\n"));
  for (let at = 0; at < depth; at++) expect(markdown.split(`w${at}w`)).toHaveLength(2);
});
