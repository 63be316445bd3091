import type { PageModel } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import type { PageTree } from "./page-tree.ts";

/** What systems of documentation set around the text on each page, which the trees take for content. */

const MOST_WORDS = 8;
const MOSTLY_LINKS = 0.9;
/** An address of the page's source in a repository's editor. */
const EDIT_ADDRESS = /\bhref\s*=\s*["']?[^"'\s>]{1,300}\/(?:-\/)?_?edit\/[^"'\s>]{1,300}/i;
const EDIT_WORDS =
  /^(?:edit|improve|suggest (?:an edit|edits|changes) (?:to|on)|view|show) (?:this |the )?(?:page|doc|document|file|source|page source|source of this page)?(?: ?source)?(?: ?on (?:github|gitlab|bitbucket|codeberg))?$/i;
/** DocBook's rows of "Prev, Up, Next" above and below each page. */
const ROW_OF_LINKS = /(?:^|\s)nav(?:header|footer)(?:\s|$)/;

/** Takes out of the choice the links to a page's source, and rows of links to the pages around it. */
export function dropFurniture(tree: PageTree, isChosen: Uint8Array): void {
  const { model, candidates } = tree;
  const isRow = model.names.map((name) => ROW_OF_LINKS.test(name));
  const hasRow = isRow.includes(true);
  for (let index = 0; index < candidates.length; index++) {
    if (isChosen[index] === 0) continue;
    const block = candidates[index]!;
    if (isEditLink(model, block) || (hasRow && isInRow(model, isRow, block))) isChosen[index] = 0;
  }
}

function isEditLink(model: PageModel, block: number): boolean {
  const { stats, text, firstText } = model.blocks;
  const at = block * TextStat.count;
  if (stats[at + TextStat.words]! > MOST_WORDS) return false;
  if (stats[at + TextStat.linkChars]! < MOSTLY_LINKS * stats[at + TextStat.chars]!) return false;
  if (EDIT_WORDS.test(text[block]!.trim())) return true;
  let link = model.textParent[firstText[block]!]!;
  while (link >= 0 && model.tag[link] !== Tag.a) link = model.parent[link]!;
  return link >= 0 && EDIT_ADDRESS.test(model.html.slice(model.openStart[link]!, model.openEnd[link]!));
}

function isInRow({ blocks, parent, classId }: PageModel, isRow: readonly boolean[], block: number): boolean {
  for (let at = blocks.element[block]!; at >= 0; at = parent[at]!) if (isRow[classId[at]!]) return true;
  return false;
}
