import { indentOf, isBlank, markerOf, startsBlock, startsListItem } from "./lines.ts";
import type { Block, ListBlock } from "./model.ts";

type ReadInside = (lines: readonly string[]) => readonly Block[];

/**
 * Reads a list with its items.
 * @param readInside reads the blocks of an item
 */
export function readList(
  lines: readonly string[],
  at: number,
  readInside: ReadInside,
): { readonly block: Block; readonly next: number } | null {
  const first = markerOf(lines[at]!);
  if (!first) return null;
  const items: ListBlock["items"][number][] = [];
  let next = at;
  while (next < lines.length) {
    const marker = markerOf(lines[next]!);
    if (!marker || marker.sign !== first.sign) break;
    const end = endOfItem(lines, next, marker.width);
    items.push(readItem(lines.slice(next, end), marker.width, readInside));
    next = end;
    while (next < lines.length && isBlank(lines[next]!)) next++;
  }
  const { number } = first;
  return { block: { kind: "list", isOrdered: number !== null, start: number ?? 1, items }, next };
}

function endOfItem(lines: readonly string[], start: number, width: number): number {
  let next = start + 1;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (isBlank(line) || indentOf(line) >= width) continue;
    // A paragraph of the item may continue without the indent.
    if (isBlank(lines[next - 1]!) || startsListItem(line, false) || startsBlock(line)) break;
  }
  return next;
}

function readItem(
  lines: readonly string[],
  width: number,
  readInside: ReadInside,
): ListBlock["items"][number] {
  const inner = lines.map((line, place) => line.slice(place === 0 ? width : Math.min(width, indentOf(line))));
  const [, box] = /^\[([ xX])\] /.exec(inner[0]!) ?? [];
  if (box !== undefined) inner[0] = inner[0]!.slice(4);
  return { isDone: box === undefined ? null : box !== " ", blocks: readInside(inner) };
}
