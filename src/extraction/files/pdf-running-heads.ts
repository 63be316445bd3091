import type { Line, Region } from "./pdf-lines.ts";

/** So many lines at the top and at the bottom of a page may be running heads and page numbers. */
const OUTER_LINES = 2;
/** What stands on so many pages at one place belongs to none of them. */
const FEWEST_PAGES = 3;

/** Leaves out what stands at the top or bottom of several pages and differs in numbers only. */
export function withoutRunningHeads(pages: readonly (readonly Region[])[]): Region[][] {
  const counts = new Map<string, number>();
  const outer = pages.map((regions, index) => {
    const keys = new Map(outerLines(regions).map((line) => [line, keysOf(line, index)]));
    for (const key of new Set([...keys.values()].flat())) counts.set(key, (counts.get(key) ?? 0) + 1);
    return keys;
  });
  // A page alone has no running head.
  const least = Math.max(2, Math.min(FEWEST_PAGES, pages.length));
  const isHead = (line: Line, index: number): boolean =>
    outer[index]?.get(line)?.some((key) => counts.get(key)! >= least) ?? false;
  return pages.map((regions, index) =>
    regions
      .map((region) => region.filter((line) => !isHead(line, index)))
      .filter((region) => region.length > 0),
  );
}

function outerLines(regions: readonly Region[]): Line[] {
  const lines = regions
    .flat()
    .filter(({ turn }) => turn === 0)
    .sort((a, b) => b.y - a.y);
  return [...new Set([...lines.slice(0, OUTER_LINES), ...lines.slice(-OUTER_LINES)])];
}

/** What a line has in common with the running heads of other pages: its words, or a number that grows with the pages. */
function keysOf({ text, y }: Line, index: number): string[] {
  const words = text.trim().toLowerCase();
  const place = Math.round(y / 8);
  const [number] = /^\d{1,5}\b|\b\d{1,5}$/.exec(words) ?? [];
  const shown = /^[ivxlc]{1,7}$/.test(words) ? "#" : words.replace(/\d+/g, "#");
  return [`${shown} ${place}`, ...(number === undefined ? [] : [`page ${Number(number) - index} ${place}`])];
}
