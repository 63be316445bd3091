import type { Block, Inline, Locale } from "./model.ts";

/** What a reader carries downwards. */
export type Place = {
  /** Elements between the root and here. */
  readonly depth: number;
  /** Lists, quotations and the like around here. */
  readonly nesting: number;
  readonly locale: Locale;
  /** The link around these blocks, until a block has taken it. */
  readonly link: { readonly href: string | null } | null;
};

/** Reads what is inside an element. */
export interface BlockReader {
  blocks(parent: Element, place: Place): Block[];
  phrases(element: Element, place: Place): Inline[];
}
