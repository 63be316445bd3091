import { ElementFlag, type PageModel } from "../page/page-model.ts";

/** Names that pages give to the beginning of a text, and to all of it, of which a script shows one. */
const SHORT_NAME = /short|brief|teaser|truncat|excerpt|preview|collapsed|summary/i;
const FULL_NAME = /full|long|complete|expanded|detail/i;
/** Names stand on the text's own element, or on a box close around it. */
const MAX_LEVELS = 4;
/** Longer names are data. */
const MAX_NAME = 300;
const ELLIPSIS = /(?:…|\.\.\.)$/;
/** A label such as "Returns" may well begin the next text, too. */
const FEWEST_CHARS = 12;

/** The blocks without those that only begin what the block behind them says in full. */
export function withoutShortForms(model: PageModel, blocks: Int32Array): Int32Array {
  const { text, flags } = model.blocks;
  return blocks.filter((block, index) => {
    const next = blocks[index + 1];
    // Few texts begin alike, so this comes before the names.
    if (next === undefined || !text[next]!.startsWith(text[block]!.slice(0, FEWEST_CHARS))) return true;
    // A section may well begin with the words of its heading.
    if ((flags[block]! & ElementFlag.heading) !== 0) return true;
    const start = text[block]!.replace(ELLIPSIS, "");
    const isStart = start.length >= FEWEST_CHARS && text[next]!.startsWith(start);
    return !isStart || !isNamed(model, block, SHORT_NAME) || !isNamed(model, next, FULL_NAME);
  });
}

function isNamed({ blocks, parent, classId, names }: PageModel, block: number, pattern: RegExp): boolean {
  let element = blocks.element[block]!;
  for (let level = 0; level < MAX_LEVELS && element >= 0; level++, element = parent[element]!) {
    const name = names[classId[element]!]!;
    if (name.length <= MAX_NAME && pattern.test(name)) return true;
  }
  return false;
}
