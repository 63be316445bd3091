import { type PageModel, tagId, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";

/**
 * The page as the classifier sees it: which blocks may be content, and what is inside each element. Wrappers around
 * the same blocks count as one level: "the element above" is the next one that contains more.
 */
export type PageTree = {
  readonly model: PageModel;
  /** The blocks that may be content; all columns named `…OfCandidate` and all features follow this order. */
  readonly candidates: Int32Array;
  /** The numbers of candidates, words, characters and linked characters inside each element. */
  readonly blockCount: Int32Array;
  readonly words: Float32Array;
  readonly chars: Float32Array;
  readonly linkChars: Float32Array;
  /** The next element above that contains more candidates; -1 at the top. */
  readonly above: Int32Array;
  /** The groups and the structural tags of the element and of the wrappers around the same blocks. */
  readonly levelGroups: Int32Array;
  readonly levelTags: Int32Array;
  /** The number of siblings of the same tag and class, the element itself included. */
  readonly twins: Int32Array;
};

/** The structural tags that `levelTags` distinguishes; the order is part of the trained model. */
const STRUCTURES =
  `nav header footer aside main article section ul,ol table form figure,figcaption blockquote details
  dialog li dl button h1`.split(/\s+/);
export const STRUCTURE_COUNT = STRUCTURES.length;
const STRUCTURE_BIT = new Int32Array(256);
for (const [bit, names] of STRUCTURES.entries())
  for (const name of names.split(",")) STRUCTURE_BIT[tagId(name)] = 1 << bit;

export function buildPageTree(model: PageModel): PageTree {
  const candidates = withoutConsent(model, findCandidates(model));
  const count = model.elementCount;
  const tree = {
    model,
    candidates,
    blockCount: new Int32Array(count),
    words: new Float32Array(count),
    chars: new Float32Array(count),
    linkChars: new Float32Array(count),
    above: new Int32Array(count),
    levelGroups: new Int32Array(count),
    levelTags: new Int32Array(count),
    twins: new Int32Array(count),
  };
  sumUp(tree);
  linkLevels(tree);
  countTwins(tree);
  return tree;
}

/** Blocks without a word are not candidates. */
const findCandidates = (model: PageModel): Int32Array =>
  Int32Array.from({ length: model.blocks.count }, (_, block) => block).filter(
    (block) => statOf(model, block, TextStat.words) > 0,
  );

function sumUp({ model, candidates, blockCount, words, chars, linkChars }: PageTree): void {
  const { element, stats } = model.blocks;
  for (const block of candidates) {
    const owner = element[block]!;
    const at = block * TextStat.count;
    blockCount[owner]!++;
    words[owner]! += stats[at + TextStat.words]!;
    chars[owner]! += stats[at + TextStat.chars]!;
    linkChars[owner]! += stats[at + TextStat.linkChars]!;
  }
  for (let child = model.elementCount - 1; child > 0; child--) {
    const parent = model.parent[child]!;
    if (parent < 0) continue;
    blockCount[parent]! += blockCount[child]!;
    words[parent]! += words[child]!;
    chars[parent]! += chars[child]!;
    linkChars[parent]! += linkChars[child]!;
  }
}

function linkLevels({ model, blockCount, above, levelGroups, levelTags }: PageTree): void {
  for (let element = 0; element < model.elementCount; element++) {
    const parent = model.parent[element]!;
    const isWrapped = parent >= 0 && blockCount[parent] === blockCount[element];
    above[element] = isWrapped ? above[parent]! : parent;
    const groups = model.groups[element]!;
    const tags = STRUCTURE_BIT[model.tag[element]! & 255]!;
    levelGroups[element] = isWrapped ? groups | levelGroups[parent]! : groups;
    levelTags[element] = isWrapped ? tags | levelTags[parent]! : tags;
  }
}

/** Returns a key that is equal for elements of the same parent, tag and class. */
export function twinsKey({ parent, tag, classId }: PageModel, element: number): number {
  return ((parent[element]! + 1) * 4096 + tag[element]!) * 65536 + (classId[element]! & 65535);
}

function countTwins({ model, blockCount, twins }: PageTree): void {
  const counts = new Map<number, number>();
  for (let element = 0; element < model.elementCount; element++) {
    if (blockCount[element] === 0) continue;
    const key = twinsKey(model, element);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (let element = 0; element < model.elementCount; element++) {
    if (blockCount[element]! > 0) twins[element] = counts.get(twinsKey(model, element))!;
  }
}

/** The groups of names for consent and for dialogs. */
const DIALOG_GROUPS = (1 << 8) | (1 << 9);
const ROOT_TAGS = tagsNamed("html body");
const CONTENT_TAGS = tagsNamed("h1 main article");
/**
 * Matches the first purpose of the IAB's consent framework, which has the same wording on every site of a language.
 */
const FIRST_PURPOSE =
  /information(?:en)? on (?:a device|your (?:device|browser))|scan device characteristics|Informationen auf einem (?:End)?gerät|informations sur un (?:appareil|terminal)|información en un dispositivo|informazioni su (?:un )?dispositivo|informatie op een apparaat/i;

/**
 * Drops the candidates in dialogs that ask for consent to tracking. They contain more prose than many pages, so
 * neither length nor sentences tell them from content.
 */
function withoutConsent(model: PageModel, candidates: Int32Array): Int32Array {
  const dialogOf = findDialogs(model);
  if (dialogOf === null) return candidates;
  const { element, text } = model.blocks;
  const dropped = new Set<number>();
  for (const block of candidates) {
    const dialog = dialogOf[element[block]!]!;
    if (dialog >= 0 && !dropped.has(dialog) && FIRST_PURPOSE.test(text[block]!)) dropped.add(dialog);
  }
  if (dropped.size === 0) return candidates;
  return candidates.filter((block) => !dropped.has(dialogOf[element[block]!]!));
}

/** Finds for each element the outermost dialog around it that contains no content; -1 for none. */
function findDialogs({ elementCount, groups, tag, parent, elementEnd }: PageModel): Int32Array | null {
  if (!groups.subarray(0, elementCount).some((group) => (group & DIALOG_GROUPS) !== 0)) return null;
  const contentBefore = new Int32Array(elementCount + 1);
  for (let element = 0; element < elementCount; element++) {
    contentBefore[element + 1] = contentBefore[element]! + (CONTENT_TAGS.has(tag[element]!) ? 1 : 0);
  }
  const dialogOf = new Int32Array(elementCount).fill(-1);
  for (let element = 0; element < elementCount; element++) {
    const around = parent[element]! < 0 ? -1 : dialogOf[parent[element]!]!;
    const isDialog = !ROOT_TAGS.has(tag[element]!) && (groups[element]! & DIALOG_GROUPS) !== 0;
    const holdsContent = contentBefore[elementEnd[element]!]! > contentBefore[element]!;
    dialogOf[element] = around >= 0 ? around : isDialog && !holdsContent ? element : -1;
  }
  return dialogOf;
}
