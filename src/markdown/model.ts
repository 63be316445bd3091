/** A Markdown document as data, from which `render.ts` makes elements. */
export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "math"; readonly tex: string }
  | { readonly kind: "rule" }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "note"; readonly label: string; readonly blocks: readonly Block[] }
  | {
      readonly kind: "details";
      readonly summary: string;
      readonly isOpen: boolean;
      readonly blocks: readonly Block[];
    }
  | ListBlock
  | TableBlock;

export type ListBlock = {
  readonly kind: "list";
  readonly isOrdered: boolean;
  readonly start: number;
  readonly items: readonly { readonly isDone: boolean | null; readonly blocks: readonly Block[] }[];
};

export type Alignment = "left" | "center" | "right";

export type TableBlock = {
  readonly kind: "table";
  readonly alignments: readonly Alignment[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

export type MarkdownDocument = {
  readonly blocks: readonly Block[];
  /** The footnotes by label, in the order of their definition. */
  readonly footnotes: ReadonlyMap<string, readonly Block[]>;
  /** The addresses of reference links, by label in lower case. */
  readonly references: ReadonlyMap<string, string>;
};

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "math"; readonly tex: string }
  | { readonly kind: "break" }
  | { readonly kind: "image"; readonly address: string; readonly text: string }
  | { readonly kind: "footnote"; readonly label: string }
  | { readonly kind: "link"; readonly address: string; readonly children: readonly Inline[] }
  | { readonly kind: "span"; readonly tag: SpanTag; readonly children: readonly Inline[] };

/** The elements that a phrase may use: none of them loads, runs or hides anything. */
export const SPAN_TAGS = [
  ...(["em", "strong", "del", "b", "i", "u", "s", "ins", "sub", "sup"] as const),
  ...(["kbd", "mark", "small", "q", "samp", "var", "cite", "code"] as const),
] as const;
export type SpanTag = (typeof SPAN_TAGS)[number];
