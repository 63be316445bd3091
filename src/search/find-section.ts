import type { Section, StoredDocument } from "./types.ts";

/**
 * The section that an address means by its fragment.
 * @param anchor without `#`, percent-encoded or not, in any case: as browsers, people and models write it
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
