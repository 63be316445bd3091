/**
 * The content of a page as a small tree: what a reader sees, and nothing of how the page made it. All renderings are
 * written from it, so they contain the same things in the same order.
 */
export type ContentDocument = {
  readonly blocks: readonly Block[];
  readonly footnotes: readonly Footnote[];
};

/** A note below the text; a `footnote-ref` refers to it by `label`. */
export type Footnote = { readonly label: string; readonly blocks: readonly Block[] };

/** Language (BCP 47) and direction, where the page states them. */
export type Locale = { readonly lang?: string; readonly dir?: string };

export type Block =
  | ({ readonly kind: "paragraph"; readonly children: readonly Inline[] } & Locale)
  | ({ readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] } & Locale)
  | ({ readonly kind: "quote"; readonly blocks: readonly Block[]; readonly cite: string | null } & Locale)
  | ({ readonly kind: "rule" } & Locale)
  | List
  | CodeBlock
  | Table
  | Admonition
  | Details
  | DefinitionList
  | Figure
  | MathBlock;

export type List = {
  readonly kind: "list";
  readonly isOrdered: boolean;
  /** The number of the first item of an ordered list. */
  readonly start: number;
  readonly items: readonly ListItem[];
} & Locale;

/** @property isDone null for an item that is no task */
export type ListItem = { readonly isDone: boolean | null; readonly blocks: readonly Block[] };

/** Code exactly as the page shows it, without a final line break. */
export type CodeBlock = {
  readonly kind: "code-block";
  readonly text: string;
  readonly language: string | null;
  /** The file name, or the name of the tab that shows the code. */
  readonly label: string | null;
} & Locale;

export type Alignment = "left" | "center" | "right" | null;

export type Cell = {
  readonly blocks: readonly Block[];
  readonly isHeader: boolean;
  readonly colspan: number;
  readonly rowspan: number;
  readonly alignment: Alignment;
};

/** The rows as the page has them, with spans not expanded; the first `headerRows` are the header. */
export type Table = {
  readonly kind: "table";
  readonly caption: readonly Inline[];
  readonly headerRows: number;
  readonly rows: readonly (readonly Cell[])[];
} & Locale;

/** The five kinds of GitHub's alerts; those of other generators are mapped to them. */
export type AdmonitionKind = "note" | "tip" | "important" | "warning" | "caution";

export type Admonition = {
  readonly kind: "admonition";
  readonly type: AdmonitionKind;
  /** The title that the page shows, even if it only repeats the kind; empty when it shows none. */
  readonly title: readonly Inline[];
  readonly blocks: readonly Block[];
} & Locale;

export type Details = {
  readonly kind: "details";
  readonly summary: readonly Inline[];
  readonly isOpen: boolean;
  readonly blocks: readonly Block[];
} & Locale;

export type Definition = {
  readonly terms: readonly (readonly Inline[])[];
  readonly definitions: readonly (readonly Block[])[];
};

export type DefinitionList = {
  readonly kind: "definitions";
  readonly groups: readonly Definition[];
} & Locale;

export type Figure = {
  readonly kind: "figure";
  readonly blocks: readonly Block[];
  readonly caption: readonly Block[];
} & Locale;

export type MathBlock = { readonly kind: "math-block"; readonly tex: string } & Locale;

/** The phrase elements of pages, each with the one that it is written as; by their HTML names. */
const SPAN_NAMES = {
  EM: "em",
  I: "em",
  STRONG: "strong",
  B: "strong",
  S: "del",
  DEL: "del",
  STRIKE: "del",
  INS: "ins",
  U: "u",
  MARK: "mark",
  SMALL: "small",
  SUB: "sub",
  SUP: "sup",
  KBD: "kbd",
  SAMP: "samp",
  VAR: "var",
  CITE: "cite",
  DFN: "dfn",
  ABBR: "abbr",
  ACRONYM: "abbr",
  Q: "q",
  TIME: "time",
  BDI: "bdi",
  BDO: "bdo",
} as const;
export const SPANS: Readonly<Record<string, SpanTag>> = SPAN_NAMES;
/** A `span` only has a language or a direction. */
export type SpanTag = (typeof SPAN_NAMES)[keyof typeof SPAN_NAMES] | "span";

export type Span = {
  readonly kind: "span";
  readonly tag: SpanTag;
  readonly children: readonly Inline[];
  readonly title?: string;
  readonly datetime?: string;
} & Locale;

export type Image = {
  readonly kind: "image";
  readonly src: string;
  readonly alt: string;
  readonly title: string | null;
  /** Pixels, as the page states them. */
  readonly width: string | null;
  readonly height: string | null;
};

export type Link = {
  readonly kind: "link";
  readonly href: string;
  readonly title: string | null;
  readonly children: readonly Inline[];
};

export type RubyPart = { readonly base: readonly Inline[]; readonly annotation: string };

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "math"; readonly tex: string }
  | { readonly kind: "break" }
  | { readonly kind: "footnote-ref"; readonly label: string }
  | { readonly kind: "ruby"; readonly parts: readonly RubyPart[] }
  | Span
  | Link
  | Image;

/**
 * Changes phrases from the outside in.
 * @param change returns what stands in the place of a phrase; null keeps it, and goes on with what is inside it
 */
export const mapPhrases = (
  inlines: readonly Inline[],
  change: (inline: Inline) => readonly Inline[] | null,
): Inline[] =>
  inlines.flatMap((inline): readonly Inline[] => {
    const changed = change(inline);
    if (changed !== null) return changed;
    const isNested = inline.kind === "span" || inline.kind === "link";
    return [isNested ? { ...inline, children: mapPhrases(inline.children, change) } : inline];
  });

/** Returns the text of a phrase without any markup. */
export function inlineText(inlines: readonly Inline[]): string {
  let text = "";
  for (const inline of inlines) {
    if (inline.kind === "text" || inline.kind === "code") text += inline.text;
    else if (inline.kind === "math") text += inline.tex;
    else if (inline.kind === "break") text += " ";
    else if (inline.kind === "span" || inline.kind === "link") text += inlineText(inline.children);
    else if (inline.kind === "ruby") text += inline.parts.map((part) => inlineText(part.base)).join("");
  }
  return text;
}
