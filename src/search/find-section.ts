import type { Section, StoredDocument } from "./types.ts";

/**
 * Finds the section that the fragment of an address means.
 * @param anchor without `#`, in any case, percent-encoded or not: browsers, people and models write it
 * differently
 */
export function findSection({ sections }: StoredDocument, anchor: string): Section | null {
  const wanted = decodeLoosely(anchor).toLowerCase();
  return sections.find((section) => section.anchor !== "" && section.anchor.toLowerCase() === wanted) ?? null;
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
