const repeated =
  (piece: string, { before = "", after = "" } = {}) =>
  (length: number): string =>
    before + piece.repeat(Math.ceil(length / piece.length)) + after;

/** Words that are all different. */
function distinctWords(length: number): string {
  const words: string[] = [];
  for (let size = 0, number = 46_656; size < length; number++) {
    const word = `w${number.toString(36)}`;
    words.push(word);
    size += word.length + 1;
  }
  return words.join(" ");
}

const increasingRuns =
  (unit: string) =>
  (length: number): string => {
    const runs: string[] = [];
    for (let size = 0, run = 1; size < length; run++) {
      runs.push(unit.repeat(run));
      size += run + 1;
    }
    return runs.join(" ");
  };

/**
 * Texts that cost readers of Markdown and its relatives more than their length: unclosed, nested, repeated, one
 * line, one letter a line. Each is a function of its length in characters.
 */
export const HOSTILE_TEXTS: Readonly<Record<string, (length: number) => string>> = {
  "a tag of hyphens": repeated("a-", { before: "<" }),
  "a hidden element with a long name": repeated("a", { before: "<", after: " hidden>x\n" }),
  "a long name and many tags": (length) => `<${"a".repeat(length / 2)} hidden>${"<a ".repeat(length / 6)}`,
  "hidden elements inside each other": repeated("<div hidden>"),
  "hidden elements beside each other": repeated("<b hidden>x</b>y "),
  "hidden elements that are void": repeated("a<br hidden>"),
  "hidden elements of different names": (length) => {
    let text = "";
    for (let number = 0; text.length < length; number++) text += `<x-${number} hidden>`;
    return text;
  },
  "tags that never end": repeated("<a "),
  "a style that never ends": repeated(" style = ", { before: "<p" }),
  "styles of spaces": repeated(`<p style="display ${" ".repeat(900)}`),
  "attributes of quotes": repeated(`<a "`),
  "attributes without value": repeated("hidde ", { before: "<p " }),
  "comments that never end": repeated("<!--"),
  "comments that end": repeated("<!-- a -->"),
  "scripts that never end": repeated("<script>"),
  "script ends": repeated("</script", { before: "<script>" }),
  brackets: repeated("["),
  "closing brackets": repeated("]"),
  "links that never end": repeated("[a]("),
  "nested parentheses": repeated("](("),
  images: repeated("![a]("),
  stars: repeated("*a "),
  "stars and underscores": repeated("*_"),
  underscores: repeated("_a_"),
  tildes: repeated("~~a"),
  backticks: repeated("`"),
  "backticks apart": repeated("` "),
  "growing backticks": increasingRuns("`"),
  "backticks and spaces": repeated("`` ` "),
  backslashes: repeated("\\"),
  "escaped brackets": repeated("\\["),
  quotes: repeated("> "),
  "quotes and items": repeated("> - "),
  "items inside each other": (length) =>
    Array.from({ length: Math.sqrt(length) }, (_, at) => `${"  ".repeat(at)}- a\n`).join(""),
  items: repeated("- a\n"),
  "numbered items": repeated("1. a\n"),
  "a row of cells": (length) => `${"|a".repeat(length / 4)}|\n${"|-".repeat(length / 4)}|\n`,
  "rows of cells": (length) => `|a|b|\n|-|-|\n${"|c|d|\n".repeat(length / 6)}`,
  headings: repeated("# a\n"),
  "deeper headings": repeated("# a\n## b\n### c\n"),
  "headings of their own": (length) =>
    Array.from({ length: length / 9 }, (_, at) => `# a-${at}\n`).join("") + "# a\n".repeat(9),
  "a long heading": repeated("a ", { before: "# " }),
  "a heading of hashes": repeated(" #", { before: "# a" }),
  "headings with anchors": repeated("{#a} ", { before: "# " }),
  underlines: repeated("a\n=\n"),
  "underlines without headings": repeated("=\n"),
  "rst headings": repeated("aa\n==\n"),
  "rst adornments": (length) => `${"=".repeat(length)}x\n${"=".repeat(length)}\n`,
  "rst literals": repeated("a::\n\n b\n"),
  "rst blank literals": (length) => `.. code::\n${"\n".repeat(length)}`,
  "rst long literal": repeated(" b\n", { before: "a::\n\n" }),
  "rst double backticks": repeated("``a"),
  "rst roles": repeated(":a:`b"),
  "rst substitutions": repeated("|a| ", { before: `.. |a| replace:: ${"b".repeat(900)}\n\n` }),
  "rst references": repeated("a_ ", { before: `.. _a: http://h.test/${"b".repeat(480)}\n\n` }),
  "rst references that are unknown": repeated("a_ "),
  "rst targets": repeated(".. _a: b_\n"),
  "rst items inside each other in one line": repeated("- "),
  "rst lines that are indented more and more": (length) =>
    Array.from({ length: Math.sqrt(2 * length) }, (_, at) => `${" ".repeat(at)}a`).join("\n"),
  "rst lines that are indented less and less": (length) =>
    Array.from(
      { length: Math.sqrt(2 * length) },
      (_, at) => `${" ".repeat(Math.sqrt(2 * length) - at)}a`,
    ).join("\n"),
  "rst directives inside each other": (length) =>
    Array.from({ length: Math.sqrt(length / 2) }, (_, at) => `${"   ".repeat(at)}.. note::\n`).join("\n"),
  "rst options": repeated(" :a: b\n", { before: ".. image:: a\n" }),
  "rst fields": repeated(":a"),
  "rst grids": (length) =>
    `+${"-+".repeat(300)}\n${`|${"a|".repeat(300)}\n+${"-+".repeat(300)}\n`.repeat(length / 1204)}`,
  "rst simple tables": repeated("= =\n"),
  "rst definitions": (length) =>
    Array.from({ length: Math.sqrt(2 * length) }, (_, at) => `${" ".repeat(at)}a`).join("\n"),
  "asciidoc source": repeated("a", { before: "[source," }),
  "asciidoc brackets": repeated("]", { before: "[source,a", after: "x" }),
  "asciidoc titles": repeated("= a\n"),
  "asciidoc boxes": repeated("====\n"),
  "asciidoc boxes inside each other": (length) =>
    Array.from({ length: Math.sqrt(2 * length) }, (_, at) => "=".repeat(at + 4)).join("\n"),
  "asciidoc items inside each other": (length) =>
    Array.from({ length: length / 8 }, (_, at) => `${"*".repeat((at % 10) + 1)} a\n`).join(""),
  "asciidoc terms": repeated("a:: b\n"),
  "asciidoc terms of colons": repeated("::"),
  "asciidoc attributes": repeated("{a} ", { before: `:a: ${"b".repeat(480)}\n\n` }),
  "asciidoc attributes of themselves": repeated("{a}", { before: ":a: {a}{a}{a}\n\n" }),
  "asciidoc macros": repeated("link:a["),
  "asciidoc marks": repeated("*_`#"),
  "asciidoc cells": repeated("a|", { before: "|===\n|" }),
  "asciidoc cells over rows": repeated(".9999+|a ", { before: "|===\n" }),
  "asciidoc cells repeated": repeated("999*|a\n", { before: "|===\n" }),
  "asciidoc continuations": repeated("+\n", { before: "* a\n" }),
  "lists of JSON": repeated("["),
  "objects of JSON": repeated('{"a":'),
  "lists of YAML": repeated("- ", { before: "openapi: 3.0\n" }),
  "keys of YAML": repeated("a: ", { before: "openapi: 3.0\n" }),
  "aliases of YAML": repeated("- *a\n", { before: "openapi: 3.0\na: &a []\nb:\n" }),
  "paths of an API": (length) =>
    `openapi: 3.0.0\npaths:\n${Array.from({ length: length / 20 }, (_, at) => `  /a${at}: {get: {}}\n`).join("")}`,
  "cells of a notebook": (length) => `{"cells":[${'{"source":"a"},'.repeat(length / 15)}{"source":"b"}]}`,
  "pictures of a notebook": (length) => `{"cells":[{"source":"${"![a](data:".repeat(length / 10)}"}]}`,
  "manual insets": repeated(".RS\n.TP\na\n"),
  "manual escapes": repeated("\\f"),
  "manual arguments": repeated('"a""', { before: ".B " }),
  "manual tables": repeated("a\tT{\n", { before: ".TS\nl.\n" }),
  "manual lists": repeated(".Bl\n.It a\n"),
  "manual conditions": repeated(".if n \\{\n"),
  "mdx imports": repeated("import a from b\n\n"),
  "mdx exports that never end": repeated("export const a = {\n\n"),
  "mdx braces": repeated("{"),
  "mdx attributes": repeated(" a='b'", { before: "<A" }),
  "mdx tags with expressions": repeated("<A b={c} {...d}>"),
  fences: repeated("```\n"),
  "fences that differ": repeated("~~~\n```\n"),
  "growing fences": (length) => increasingRuns("`")(length).replaceAll(" ", "\n"),
  "fences with backticks": repeated("```a`\n"),
  "blank lines": repeated("\n"),
  "carriage returns": repeated("\r"),
  "spaces and a letter": repeated(" ", { after: "x" }),
  tabs: repeated("\t", { after: "x" }),
  "one letter a line": repeated("a\n"),
  "one line": repeated("word "),
  "one word": repeated("a"),
  "capital and small letters": repeated("aB"),
  "letters and digits": repeated("a1"),
  "dots and letters": repeated("a."),
  "words with underscores": repeated("ab_"),
  "words with slashes": repeated("ab/"),
  "different words": distinctWords,
  entities: repeated("&amp;"),
  ampersands: repeated("&"),
  "half entities": repeated("&#x"),
  surrogates: repeated("\ud83d"),
  "tag characters": repeated("\u{e0041}"),
  flags: repeated("\u{1f3f4}\u{e0067}"),
  "zero-width characters": repeated("\u200b"),
  "combining marks": repeated("a\u0301\u0302"),
  ideographs: repeated("\u4e2d"),
  "front matter that never ends": repeated("a: b\n", { before: "---\n" }),
  "nested front matter": (length) =>
    `---\na: ${"[".repeat(Math.min(length, 30_000))}\n---\n${"a ".repeat(length / 2)}`,
  "front matter anchors": (length) => `---\n${"a: &a b\n".repeat(Math.min(length, 30_000) / 8)}---\nx`,
  "front matter quotes": (length) => `---\na: "${"\\".repeat(Math.min(length, 30_000))}\n---\nx`,
  urls: repeated("https://h.test/a?b=c#d "),
  emails: repeated("a@"),
  footnotes: repeated("[^1]: a\n"),
  "reference definitions": repeated("[a]: b\n"),
  formulas: repeated("$a"),
  "html blocks": repeated("<div>\n\n</div>\n"),
  details: repeated("<details><summary>"),
};
