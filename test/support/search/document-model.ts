import { type Arbitrary, array, constantFrom, letrec, oneof, record, tuple } from "fast-check";
import { wordsIn } from "../../../src/base/text.ts";
import { type Block, type Inline, readInline, readMarkdown } from "../../../src/markdown/index.ts";

/** A small model of documents, to print in several languages and to compare with what is read. */
export type ModelPhrase = { readonly kind: "text" | "code" | "strong" | "em"; readonly text: string };
export type ModelText = readonly ModelPhrase[];
export type ModelBlock =
  | { readonly kind: "paragraph"; readonly text: ModelText }
  | { readonly kind: "code"; readonly language: string; readonly lines: readonly string[] }
  | {
      readonly kind: "table";
      readonly header: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: readonly (readonly ModelBlock[])[] }
  | { readonly kind: "definition"; readonly term: string; readonly blocks: readonly ModelBlock[] }
  | { readonly kind: "note"; readonly blocks: readonly ModelBlock[] };
export type ModelSection = {
  readonly level: number;
  readonly title: string;
  readonly blocks: readonly ModelBlock[];
};

/** Writes phrases with a blank between them. @param marks how each kind of phrase is written */
export const printPhrases = (
  phrases: ModelText,
  marks: Readonly<Record<ModelPhrase["kind"], (text: string) => string>>,
): string => phrases.map(({ kind, text }) => marks[kind](text)).join(" ");

export const indented = (lines: readonly string[], indent: string): string[] =>
  lines.map((line) => (line === "" ? "" : indent + line));

const WORDS = [
  ...wordsIn(`sail Mast keel deck_plan f(x) a*b *star _low x_ <b> <!-- [1] [a](b) | # ##x 1. - -- + > :: :x: = ==
    &amp; ~~no~~ é 水 {x} image::y it's "q" .. http://h.test/a_b`),
  "`",
  "\\n",
  "$5$",
];

const words: Arbitrary<string> = array(constantFrom(...WORDS), { minLength: 1, maxLength: 5 }).map((list) =>
  list.join(" "),
);
const name: Arbitrary<string> = array(constantFrom("sail", "Mast", "keel", "sea"), {
  minLength: 1,
  maxLength: 3,
}).map((list) => list.join(" "));
const code: Arbitrary<string> = constantFrom(
  "a = b * c",
  "<!-- kept -->",
  "  indented",
  "**no**",
  "# no",
  "x::",
  "----",
  "|a|",
  "{{ y }}",
  ".. z",
  "\\fB",
  "it's",
);
const phrase: Arbitrary<ModelPhrase> = oneof(
  { weight: 4, arbitrary: words.map((text): ModelPhrase => ({ kind: "text", text })) },
  record({ kind: constantFrom("strong" as const, "em" as const), text: name }),
  record({ kind: constantFrom("code" as const), text: constantFrom("x", "a_b", "f(x)", "a.b") }),
);
/** Texts between phrases of other kinds, so that all languages can write them. */
const text: Arbitrary<ModelText> = array(phrase, { minLength: 1, maxLength: 4 }).map((list) => [
  { kind: "text", text: "Say" },
  ...list,
]);

const { blocks } = letrec<{ block: ModelBlock; blocks: readonly ModelBlock[] }>((tie) => ({
  blocks: array(tie("block"), { minLength: 1, maxLength: 3 }),
  block: oneof(
    { maxDepth: 3, withCrossShrink: true },
    record({ kind: constantFrom("paragraph" as const), text }),
    record({
      kind: constantFrom("code" as const),
      language: constantFrom("python", "c"),
      lines: array(code, { minLength: 1, maxLength: 3 }).map((lines) => ["start", ...lines, "end"]),
    }),
    tuple(array(name, { minLength: 2, maxLength: 3 }), array(words, { minLength: 3, maxLength: 6 })).map(
      ([header, cells]): ModelBlock => ({
        kind: "table",
        header,
        rows: Array.from({ length: Math.floor(cells.length / header.length) }, (_, row) =>
          cells.slice(row * header.length, (row + 1) * header.length),
        ),
      }),
    ),
    tuple(constantFrom(true, false), array(tie("blocks"), { minLength: 1, maxLength: 3 })).map(
      ([isOrdered, items]): ModelBlock => ({
        kind: "list",
        isOrdered,
        items: items.map((one) => [FIRST, ...one]),
      }),
    ),
    record({
      kind: constantFrom("definition" as const),
      term: name,
      blocks: tie("blocks").map((one) => [FIRST, ...one]),
    }),
    record({ kind: constantFrom("note" as const), blocks: tie("blocks").map((one) => [FIRST, ...one]) }),
  ),
}));

/** Items begin with a text, as people write them. */
const FIRST: ModelBlock = { kind: "paragraph", text: [{ kind: "text", text: "First" }] };

export const documentModel: Arbitrary<readonly ModelSection[]> = array(
  record({ level: constantFrom(2, 3), title: name, blocks }),
  { minLength: 0, maxLength: 4 },
).map((sections) => [
  { level: 1, title: "Title", blocks: [FIRST] },
  { level: 2, title: "Part", blocks: [] },
  ...sections,
]);

const squeezed = (value: string): string => value.replace(/\s+/g, " ").trim();

const flatText = (phrases: ModelText): string =>
  squeezed(phrases.map(({ kind, text: said }) => (kind === "text" ? said : `‹${kind}:${said}›`)).join(" "));

/** A document as a list of what it says, each with the containers around it. */
export function flatModel(sections: readonly ModelSection[]): string[] {
  const flat: string[] = [];
  const add = (block: ModelBlock, path: string): void => {
    if (block.kind === "paragraph") flat.push(`${path} paragraph ${flatText(block.text)}`);
    else if (block.kind === "code")
      flat.push(`${path} code ${block.language}`, ...block.lines.map((line) => `${path} line ${line}`));
    else if (block.kind === "table")
      for (const row of [block.header, ...block.rows])
        flat.push(`${path} row ${row.map(squeezed).join(" ‖ ")}`);
    else if (block.kind === "list") {
      for (const item of block.items) {
        flat.push(`${path} item`);
        for (const one of item) add(one, `${path}/${block.isOrdered ? "number" : "bullet"}`);
      }
    } else if (block.kind === "definition") {
      flat.push(`${path} paragraph ‹strong:${block.term}›`, `${path} item`);
      for (const one of block.blocks) add(one, `${path}/bullet`);
    } else for (const one of block.blocks) add(one, `${path}/note`);
  };
  for (const section of sections) {
    flat.push(`heading ${section.level} ${section.title}`);
    for (const block of section.blocks) add(block, "");
  }
  return flat;
}

function flatInline(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.kind === "text") return inline.text;
      if (inline.kind === "code") return `‹code:${inline.text}›`;
      if (inline.kind === "span") return `‹${inline.tag}:${flatInline(inline.children)}›`;
      if (inline.kind === "link") return flatInline(inline.children);
      return `‹${inline.kind}›`;
    })
    .join("");
}

/** The same list of a document in Markdown. */
export function flatMarkdown(markdown: string): string[] {
  const flat: string[] = [];
  const shown = (written: string): string => squeezed(flatInline(readInline(written)));
  const add = (block: Block, path: string): void => {
    if (block.kind === "heading") flat.push(`${path}heading ${block.level} ${shown(block.text)}`);
    else if (block.kind === "paragraph") flat.push(`${path} paragraph ${shown(block.text)}`);
    else if (block.kind === "code")
      flat.push(
        `${path} code ${block.language}`,
        ...block.text.split("\n").map((line) => `${path} line ${line}`),
      );
    else if (block.kind === "table")
      for (const row of [block.header, ...block.rows]) flat.push(`${path} row ${row.map(shown).join(" ‖ ")}`);
    else if (block.kind === "list") {
      for (const item of block.items) {
        flat.push(`${path} item`);
        for (const one of item.blocks) add(one, `${path}/${block.isOrdered ? "number" : "bullet"}`);
      }
    } else if (block.kind === "note") for (const one of block.blocks) add(one, `${path}/note`);
    else flat.push(`${path} ${block.kind}`);
  };
  for (const block of readMarkdown(markdown).blocks) add(block, "");
  return flat;
}
