import {
  holdsFormulas,
  RENDERERS,
  type Shape,
  shapeOfHtml,
  shapeOfMarkdown,
} from "../../test/support/round-trip.ts";

/** One article in both renderings, the Markdown without its title. */
export type Written = { readonly html: string; readonly markdown: string };

/** How the rendered Markdown differs from what was written; null when it does not. */
export function readBackFault({ html, markdown }: Written): string | null {
  const expected = shapeOfHtml(html);
  // Markdown unfolds cells that span rows or columns, so tables with spans are not compared.
  const hasSpans = /(?:col|row)span=/.test(html);
  for (const [name, render] of Object.entries(RENDERERS)) {
    const found = shapeOfMarkdown(markdown, render, holdsFormulas(html));
    const fault = hasSpans
      ? differenceOf({ headings: expected.headings, code: expected.code }, found)
      : differenceOf(expected, found);
    if (fault !== null) return `${name}: ${fault}`;
  }
  return null;
}

function differenceOf(expected: Partial<Shape>, found: Shape): string | null {
  for (const key of Object.keys(expected) as (keyof Shape)[]) {
    const [a, b] = [expected[key], found[key]].map((value) =>
      typeof value === "string" ? value : JSON.stringify(value),
    );
    if (a === undefined || b === undefined || a === b) continue;
    let at = 0;
    while (a[at] === b[at]) at++;
    return `${key}: …${a.slice(Math.max(0, at - 60), at + 60)}… became …${b.slice(Math.max(0, at - 60), at + 60)}…`;
  }
  return null;
}
