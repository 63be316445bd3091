import type { SearchHit } from "../../../search/index.ts";
import { type Paint, wrap } from "../../terminal/paint.ts";

/** A hit as programs read it. */
export function hitToJson(hit: SearchHit, isExplained: boolean): Record<string, unknown> {
  const { url, title, score, snippet, anchor, headings, explanation } = hit;
  return { url, title, score, snippet, anchor, headings, ...(isExplained && { explanation }) };
}

export type HitFormat = {
  /** Columns. */
  readonly width: number;
  readonly paint: Paint;
  /** Whether snippets are HTML with marks, which are painted. */
  readonly isMarked: boolean;
  /** Said after the title: where the hit was found. */
  readonly place?: string;
};

/** A hit as people read it: a few lines that end in a line break. */
export function formatHit(
  hit: SearchHit,
  rank: number,
  { width, paint, isMarked, place }: HitFormat,
): string {
  const address = hit.anchor === null ? hit.url : `${hit.url}#${hit.anchor}`;
  const where = place === undefined ? "" : `  (${place})`;
  const lines = [`${rank}. ${paint.bold(printable(hit.title) || address)}${where}`, `   ${address}`];
  // The title is often the first heading too.
  const headings = hit.headings.filter((heading) => heading !== hit.title);
  if (headings.length > 0) lines.push(`   ${printable(headings.join(" › "))}`);
  const indent = "   ";
  if (hit.snippet !== "") {
    const seen = (word: string): number => (isMarked ? decode(withoutMarks(word)).length : word.length);
    for (const line of wrap(printable(hit.snippet), width - indent.length, seen)) {
      lines.push(indent + (isMarked ? paintMarks(line, paint) : line));
    }
  }
  if (hit.explanation !== null) lines.push(...explain(hit).map((line) => indent + line));
  return `${lines.join("\n")}\n`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

// As `SnippetStyle` "html" writes them.
const decode = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
const withoutMarks = (html: string): string => html.replace(/<\/?mark>/g, "");
const paintMarks = (html: string, paint: Paint): string =>
  decode(html.replace(/<mark>([^<]*)<\/mark>/g, (_, word: string) => paint.yellow(word)));

const round = (score: number): string => score.toFixed(3);

/** The score as a sum: a line for each term with its fields, and one for each further part. */
function explain({ score, explanation }: SearchHit): string[] {
  if (explanation === null) return [];
  const { terms, ...parts } = explanation;
  const termLines = terms.map(({ term, fields }) => {
    const values = Object.entries(fields);
    const total = values.reduce((sum, [, value]) => sum + value, 0);
    return `${round(total)}  ${printable(term)}: ${values.map(([field, value]) => `${field} ${round(value)}`).join(", ")}`;
  });
  const partLines = Object.entries(parts)
    .filter(([, value]) => value !== 0)
    .map(
      ([part, value]) => `${round(value)}  ${part.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
    );
  return [`score ${round(score)} =`, ...[...termLines, ...partLines].map((line) => `  ${line}`)];
}
