import { scanBlocks } from "../../markdown/index.ts";
import { checkDeadline } from "../deadline.ts";
import type { IndexReader, ScoredDocument, Section } from "../types.ts";

/** Returns the operator or emoji that a query of nothing but signs looks for; null for other queries and single signs. */
export function signsIn(query: string): string | null {
  const signs = query.replace(/^[\s"'`]+|[\s"'`]+$/g, "");
  return /^[\p{P}\p{S}\p{M}\u200d]{2,16}$/u.test(signs) || /^\p{Extended_Pictographic}$/u.test(signs)
    ? signs
    : null;
}

/** Scanning is for queries that no term answers; this much text takes 0.1 s. Documents behind it are not read. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A document with the section that has most of the signs; nothing else makes up its score. */
type SignedDocument = ScoredDocument & { readonly sections: readonly number[]; readonly explanation: null };

type SignsReader = IndexReader & { storedBytes(document: number): Uint8Array };

type ScanOptions = {
  readonly isAllowed: (document: number) => boolean;
  readonly factors: Float64Array | null;
  readonly deadline: number;
};

/**
 * Finds the documents that have signs in a heading or in code, the best first. The index has no terms for signs, so the
 * stored texts are read. @throws Failure `timeout`
 */
export function findSigns(
  reader: SignsReader,
  signs: string,
  { isAllowed, factors, deadline }: ScanOptions,
): SignedDocument[] {
  const found: SignedDocument[] = [];
  let bytesLeft = MAX_BYTES;
  for (let document = 0; document < reader.documentCount && bytesLeft > 0; document++) {
    checkDeadline(deadline);
    if (!isAllowed(document)) continue;
    const { buffer, byteOffset, length } = reader.storedBytes(document);
    bytesLeft -= length;
    if (!Buffer.from(buffer, byteOffset, length).includes(signs)) continue;
    const { sections, markdownOf } = reader.parts(document, deadline);
    const weights = weighSections(markdownOf(0, Number.POSITIVE_INFINITY), sections, signs);
    const best = weights.indexOf(Math.max(...weights));
    const score = Math.log1p(weights.reduce((sum, weight) => sum + weight, 0)) * (factors?.[document] ?? 1);
    if (score > 0) found.push({ document, score, sections: [best], explanation: null });
  }
  return found.sort((a, b) => b.score - a.score || a.document - b.document);
}

/** A heading is about its signs; code only uses them. */
const HEADING_WEIGHT = 20;

/** How much each section has of the signs. */
function weighSections(markdown: string, sections: readonly Section[], signs: string): number[] {
  const weights = sections.map(() => 0);
  const alone = operator(signs, "u");
  let kind = "";
  let section = 0;
  scanBlocks(markdown, {
    begin: (leaf) => {
      kind = leaf.kind;
    },
    line: (start, end) => {
      while (section + 1 < sections.length && sections[section + 1]!.start <= start) section++;
      const line = markdown.slice(start, end);
      if (!line.includes(signs)) return;
      const code = kind === "heading" || kind === "code" ? line : (line.match(/`[^`]+`/g) ?? []).join(" ");
      if (alone.test(code)) weights[section]! += kind === "heading" ? HEADING_WEIGHT : 1;
    },
  });
  return weights;
}

/** Matches signs that are not part of another operator. */
export const operator = (signs: string, flags: string): RegExp =>
  new RegExp(`(?<!${OPERATOR})${RegExp.escape(signs)}(?!${OPERATOR})`, flags);

/** Characters that turn an operator beside them into another operator. */
const OPERATOR = "[!#$%&*+\\-./:<=>?@\\\\^|~]";
