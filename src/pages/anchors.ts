/** An id of a page on the web, and the place in its Markdown that it leads to. */
export type PageAnchor = {
  readonly id: string;
  /** Where a line begins, in UTF-16 code units; -1 for the title. */
  readonly start: number;
};

/** The block of front matter is limited, and so is this part of it. */
const MAX_LENGTH = 16_000;

/**
 * Writes anchors as one line: the length of the text that they are places in, then `place:id` for each. Those
 * that are too many are left out from the end.
 */
export function formatAnchors(anchors: readonly PageAnchor[], textLength: number): string {
  let line = String(textLength);
  for (const { id, start } of anchors) {
    const more = ` ${start}:${id}`;
    if (line.length + more.length > MAX_LENGTH) break;
    line += more;
  }
  return line;
}

/**
 * The inverse of `formatAnchors`.
 * @returns null for anything else, and for a text of another length: somebody has edited it
 */
export function parseAnchors(line: unknown, textLength: number): readonly PageAnchor[] | null {
  if (typeof line !== "string") return null;
  const [length, ...entries] = line.split(" ");
  if (length !== String(textLength)) return null;
  const anchors: PageAnchor[] = [];
  for (const entry of entries) {
    const [, start = "", id = ""] = /^(\d{1,10}):(.+)$/.exec(entry) ?? [];
    if (id === "") return null;
    anchors.push({ id, start: Number(start) });
  }
  return anchors;
}
