import { ElementFlag, nearestOf, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { foldForComparison } from "../text.ts";
import { type Draft, keepOnly, keptBlocks } from "./draft.ts";

/** Most blocks above the title's heading, and most words outside of links. */
const MAX_ABOVE = 16;
const MAX_WORDS_ABOVE = 80;

/**
 * Takes every copy of the title's heading out of the content, since the title is shown apart from it. A line above the
 * heading stays if it states something, such as a version, and goes if it only leads somewhere. The heading's block,
 * which may stand apart from the content, is -1 if there is no heading.
 */
export function takeOutTitle(draft: Draft): void {
  const { title } = draft;
  const { model } = draft.tree;
  const chosen = keptBlocks(draft);
  const { text, element } = model.blocks;
  const wanted = foldForComparison(title ?? "");
  const first = findTitle(model, title);
  draft.titleBlock = first;
  // The heading itself may be missing in the content.
  const lines = first < 0 || chosen.includes(first) ? chosen : Int32Array.from([...chosen, first]).sort();
  const above: number[] = [];
  let [end, words] = [0, 0];
  const looked = wanted === "" ? 0 : Math.min(lines.length, MAX_ABOVE);
  for (let at = 0; at < looked && words <= MAX_WORDS_ABOVE; at++) {
    const block = lines[at]!;
    const folded = foldForComparison(text[block]!);
    const heading = topHeading(model, element[block]!);
    if (folded === wanted) {
      if (heading === Tag.h1 || (above.length === 0 && mayBeTitle(model, heading, block))) end = at + 1;
    } else if (heading !== Tag.h1 && !onlyLeads(model, block, folded, wanted)) {
      above.push(block);
      words += statOf(model, block, TextStat.words);
    }
  }
  if (end === 0) return;
  const last = lines[end - 1]!;
  const said = withoutLastHeadings(
    model,
    above.filter((block) => block < last),
  );
  draft.titleBlock = last;
  keepOnly(draft, [...said, ...lines.subarray(end)]);
}

/** The most words in the box of a title that begins the text. */
const MAX_WORDS_IN_BOX = 60;

/**
 * Keeps the box of the title if the text begins in it, as on a manual's page with a heading and a sentence that says what
 * the command does. A box with a link is a page header that leads somewhere.
 */
export function addTitleBox({ tree: { model }, isKept, isBarred }: Draft): void {
  const { blocks, elementEnd, parent, tag } = model;
  const title = blocks.element.findIndex((element) => tag[element] === Tag.h1);
  const box = title < 0 ? -1 : parent[blocks.element[title]!]!;
  if (box < 0) return;
  let [end, words, chars] = [title + 1, 0, 0];
  for (; end < blocks.count && blocks.element[end]! < elementEnd[box]! && words <= MAX_WORDS_IN_BOX; end++) {
    words += statOf(model, end, TextStat.words);
    chars += statOf(model, end, TextStat.linkChars);
  }
  const isHeaded = end - title > 2 && (blocks.flags[title + 1]! & ElementFlag.heading) !== 0;
  const endsInText = (blocks.flags[end - 1]! & ElementFlag.heading) === 0;
  if (!isHeaded || !endsInText || words > MAX_WORDS_IN_BOX || chars > 0) return;
  for (let block = title + 1; block < end; block++) if (isBarred[block] === 0) isKept[block] = 1;
}

/** Whether a block without another line above it is the title: a heading, or the paragraph of an export. */
const mayBeTitle = ({ blocks, tag }: PageModel, heading: number, block: number): boolean =>
  heading === Tag.h2 || (heading === 0 && tag[blocks.element[block]!] === Tag.p);

/** Drops the last headings above the title, whose own lines were left out. */
function withoutLastHeadings({ blocks }: PageModel, lines: readonly number[]): readonly number[] {
  const isHeading = (block: number): boolean => (blocks.flags[block]! & ElementFlag.heading) !== 0;
  return lines.slice(0, lines.findLastIndex((block) => !isHeading(block)) + 1);
}

const READING_TIME =
  /^(?:[\p{L}:]{1,20} ){0,3}\d{1,3} ?(?:min|minutes?|minuten?|minutos?|minuti|分钟?)(?: \p{L}{1,12}){0,2}$/u;

/** Whether a line above the title is links alone, with the title as the end of their trail, or a reading time. */
function onlyLeads(model: PageModel, block: number, folded: string, title: string): boolean {
  const own = folded.endsWith(` ${title}`) ? folded.length - title.length : folded.length;
  return statOf(model, block, TextStat.linkChars) >= 0.8 * own || READING_TIME.test(folded.slice(0, 100));
}

/** The first block that is the title, which may stand apart from the content; -1 for none. */
export function findTitle(model: PageModel, title: string | null): number {
  const folded = foldForComparison(title ?? "");
  return findTop(model, (text) => folded !== "" && text === folded);
}

/** The first top heading that says more than the title, which leaves out what follows a dash; -1 for none. */
export function findLongerTitle(model: PageModel, title: string | null): number {
  const folded = foldForComparison(title ?? "");
  return findTop(model, (text) => folded !== "" && text.startsWith(`${folded} `));
}

function findTop(model: PageModel, isWanted: (folded: string) => boolean): number {
  const { blocks } = model;
  for (let block = 0; block < blocks.count; block++)
    if (topHeading(model, blocks.element[block]!) > 0 && isWanted(foldForComparison(blocks.text[block]!)))
      return block;
  return -1;
}

/** The tag of the first or second level that a block's element is, or is just inside of; 0 for none. */
function topHeading(model: PageModel, element: number): number {
  const heading = nearestOf(model, element, 3, TOP_HEADINGS);
  return heading < 0 ? 0 : model.tag[heading]!;
}

const TOP_HEADINGS = tagsNamed("h1 h2");
