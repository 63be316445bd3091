import type { DocumentKind } from "../attributes/attributes.ts";

/** What a query asks for besides the words of a subject. */
export type Intent = {
  /** The kinds of documents that it names. */
  readonly kinds: ReadonlySet<DocumentKind>;
  /** Those of them that come before others. */
  readonly wanted: ReadonlySet<DocumentKind>;
  /** The versions that it names. */
  readonly versions: readonly string[];
  /** Whether it is in a script of which only translations have words. */
  readonly isForeign: boolean;
  /** Equal for equal intents, but for their versions. */
  readonly key: string;
};

const ASKING: readonly (readonly [DocumentKind, RegExp])[] = [
  [
    "changelog",
    /\bchange[- ]?logs?\b|\brelease[- ]notes?\b|\bwhat['\u2019]?s new\b|\bnew features?\b|\b(?:breaking|summary of) changes\b/i,
  ],
  ["blog", /\bblogs?\b|\bannouncements?\b|\bannouncing\b|\bnews\b/i],
  ["archive", /\barchived?\b|\barchives\b|\blegacy\b|\bobsolete\b/i],
];

// Who asks how one is written wants a guide.
const HOW_TO = /^\s*how\b/i;

/** Versions are looked for in this much of a query. */
const READ = 400;
const MAX_VERSIONS = 8;

/** Letters that are neither Latin nor signs. */
const FOREIGN = /[\p{L}--\p{Script=Latin}--\p{Script=Common}--\p{Script=Greek}]/v;

/** Reads what a query asks for. */
export function intentOf(query: string): Intent {
  const text = query.slice(0, READ);
  const asked = HOW_TO.test(text) ? [] : ASKING.filter(([, words]) => words.test(text));
  const kinds = new Set(asked.map(([kind]) => kind));
  const versions = (text.match(/\b\d{1,4}(?:\.\d{1,4}){0,2}\b/g) ?? []).slice(0, MAX_VERSIONS);
  const isForeign = FOREIGN.test(text);
  // To archive is also what people do with files.
  const wanted = kinds.difference(new Set(["archive"]));
  return {
    kinds,
    wanted,
    versions,
    isForeign,
    key: [...kinds, "", ...wanted, isForeign].join(),
  };
}
