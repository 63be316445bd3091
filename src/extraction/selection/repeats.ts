import { ElementFlag, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { REMARK_CLASS } from "./by-container.ts";
import { type Draft, keepOnly, keptBlocks } from "./draft.ts";

/** Shorter texts, such as prices, names and table cells, have good reasons to repeat. */
const REPEAT_WORDS = 6;
/**
 * In lists, tables and code authors repeat themselves, but not after a repeated paragraph: some pages contain
 * everything twice, for narrow and for wide screens.
 */
const REPEATING_TAGS = tagsNamed("li td th dd pre");

/** Drops texts that are repeated elsewhere, such as another copy of the same card; documentation repeats itself. */
export function dropRepeats({ tree: { model }, isKept, region }: Draft): void {
  const seen = new Map<string, number>();
  // This is set when the last longer text was dropped.
  let isCopy = false;
  for (const block of keptBlocks({ isKept })) {
    const element = model.blocks.element[block]!;
    const isMeant: boolean = !isCopy && region?.isPlain[element] === 1 && mayRepeat(model, element);
    if (statOf(model, block, TextStat.words) < REPEAT_WORDS) continue;
    // Under one parent the author repeats a text; elsewhere it is another copy of the card.
    const text = model.blocks.text[block]!;
    const holder = model.parent[element] ?? -1;
    const parent = holder >= 0 && model.tag[holder] === Tag.body ? -1 : holder;
    isCopy = !isMeant && (seen.get(text) ?? parent) !== parent;
    if (isCopy) isKept[block] = 0;
    else seen.set(text, parent);
  }
}

/** Some publishing systems put a paragraph into each item, cell and remark. */
function mayRepeat({ tag, parent, classId, names }: PageModel, element: number): boolean {
  const holder = tag[element] === Tag.p ? parent[element]! : element;
  return holder >= 0 && (REPEATING_TAGS.has(tag[holder]!) || REMARK_CLASS.test(names[classId[holder]!]!));
}

/** Matches names of a text's beginning and of the full text, of which a script shows one. */
const SHORT_NAME = /short|brief|teaser|truncat|excerpt|preview|collapsed|summary/i;
const FULL_NAME = /full|long|complete|expanded|detail/i;
/** Such names are on the text's own element, or on a box close around it. */
const MAX_LEVELS = 4;
/** Longer names are data. */
const MAX_NAME = 300;
const ELLIPSIS = /(?:…|\.\.\.)$/;
/** A short label such as "Returns" may also begin the next text. */
const FEWEST_CHARS = 12;

/** Drops blocks that only begin what the next block says in full. */
export function dropShortForms({ tree: { model }, isKept }: Draft): void {
  const { text, flags } = model.blocks;
  const blocks = keptBlocks({ isKept });
  const whole = blocks.filter((block, index) => {
    const next = blocks[index + 1];
    // Few texts begin alike, so this is checked before the names.
    if (next === undefined || !text[next]!.startsWith(text[block]!.slice(0, FEWEST_CHARS))) return true;
    // A section may begin with the words of its heading.
    if ((flags[block]! & ElementFlag.heading) !== 0) return true;
    const start = text[block]!.replace(ELLIPSIS, "");
    const isStart = start.length >= FEWEST_CHARS && text[next]!.startsWith(start);
    return !isStart || !isNamed(model, block, SHORT_NAME) || !isNamed(model, next, FULL_NAME);
  });
  keepOnly({ isKept }, whole);
}

function isNamed({ blocks, parent, classId, names }: PageModel, block: number, pattern: RegExp): boolean {
  let element = blocks.element[block]!;
  for (let level = 0; level < MAX_LEVELS && element >= 0; level++, element = parent[element]!) {
    const name = names[classId[element]!]!;
    if (name.length <= MAX_NAME && pattern.test(name)) return true;
  }
  return false;
}
