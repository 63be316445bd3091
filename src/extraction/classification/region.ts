import { ElementFlag, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";
import { headingLevel } from "./block-features.ts";
import { addToParents, type PageTree } from "./page-tree.ts";
import { features, flag, plateauOf } from "./trees.ts";

/** The smallest element with this share of the chosen words is the core of the content. */
const CORE_SHARE = 0.9;
/** The share of an element's words that must be chosen for it to be a container of content. */
const CONTAINER_SHARE = 0.25;
/** The share of all chosen words that the container of an author's markup must have. */
const HOLDING_SHARE = 0.5;
const MAIN_TAGS = tagsNamed("main article");

/** These elements are beside the content even when they are inside its container. */
const ASIDE_TAGS = tagsNamed("nav aside footer form dialog button");
/** Matches publishing systems' names for an author's admonitions, code, tables, tasks and formulas. */
const AUTHORS_CLASS =
  /(?:^|[\s_-])(?:admonition|markdown-alert|alert|custom-block|callout|note|tip|important|warning|caution|danger|info|hint|attention|deprecated|seealso|versionadded|versionchanged|highlight|codehilite|sourceCode|literal-block|(?:language|lang)-\w+|prism|hljs|shiki|code-block|codeblock|contains-task-list|task-list-item|docutils|simple|arabic|loweralpha|field-list|option-list|glossary|[uod]list|blockList|tsd-alert|sect\d|sectionbody|(?:admonition|listing|literal|quote|example|image|open|table)block|fragment|table-wrapper|table-responsive|math)(?:[\s_-]|$)/i;
/**
 * Matches names of a whole remark, not of its parts. An `<aside>` with such a name is a remark too; any other `<aside>` is
 * beside the content.
 */
const REMARK_CLASS =
  /(?:^|\s)(?:(?:theme-)?admonition(?:block)?|markdown-alert|alert|custom-block|starlight-aside|tsd-alert|note|tip|important|warning|caution|danger|hint|attention)(?:\s|$)/;
/** Longer values are data, not names. */
const MAX_NAME = 300;
const ROOT_TAGS = tagsNamed("html body");
/**
 * Templates do not put these elements into an author's markup. Generators of references write the names of their
 * languages on definitions, and of their columns on cells.
 */
const UNNAMED_TAGS = tagsNamed("dl dt dd tr td th");

/** The flags of what readers do not see until a script shows it, and of what they press. */
export const NOT_SHOWN =
  ElementFlag.hidden | ElementFlag.template | ElementFlag.noscript | ElementFlag.button;

/** Marks the elements that are beside the content: in navigation, footers, forms. */
export function besideContent({ elementCount, parent, tag }: PageModel): (element: number) => boolean {
  const isBeside = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const outer = parent[element]!;
    isBeside[element] = ASIDE_TAGS.has(tag[element]!) || (outer >= 0 && isBeside[outer] === 1) ? 1 : 0;
  }
  return (element) => isBeside[element] === 1;
}

/** The part of a page that holds the content; each array has a 1 for elements to which its name applies. */
export type Region = {
  /** The element is in the container, and in nothing that is beside the content. */
  readonly isInside: Uint8Array;
  /**
   * The element is in the author's own markup: no element from this one up to a container with half of the content
   * has a class of a template or a box's id. Templates name what they put around an article; an author's paragraphs,
   * tables and code have no names.
   */
  readonly isPlain: Uint8Array;
  /** For each name of the page: whether an author uses it, and not a template. */
  readonly isAuthors: readonly boolean[];
};

/**
 * Finds the outermost container of the chosen blocks: enough of its words are chosen, and it contains nearly all
 * chosen words.
 * @param words of each candidate
 * @param isChosen 1 for each candidate that is chosen
 * @param fewWords where fewer are chosen, what the page names its main part is a container, too
 * @returns null when the chosen blocks have no container of their own
 */
export function findRegion(
  tree: PageTree,
  words: Float32Array,
  isChosen: Uint8Array,
  fewWords = 0,
): Region | null {
  const { elementCount, tag } = tree.model;
  const chosenWords = sumChosen(tree, words, isChosen);
  const all = words.reduce((sum, count, index) => sum + count * isChosen[index]!, 0);
  const isContainer = (element: number): boolean =>
    chosenWords[element]! >= CONTAINER_SHARE * tree.words[element]! ||
    (all < fewWords && MAIN_TAGS.has(tag[element]!));
  const region = outermostContainer(tree, coreOf(tree, chosenWords, CORE_SHARE * all), isContainer);
  // A page may leave out its body's tags: what it begins with stands in the body all the same.
  const isBodyless = region < 0 && all > 0 && !tag.subarray(0, elementCount).includes(Tag.body);
  if (region < 0 && !isBodyless) return null;
  const isHolder = (element: number): boolean =>
    isContainer(element) && chosenWords[element]! >= HOLDING_SHARE * all;
  return markRegion(tree.model, region, isHolder);
}

/** @param region the outermost container; -1 for the whole of a page without a body */
function markRegion(model: PageModel, region: number, isHolder: (element: number) => boolean): Region {
  const { elementCount, elementEnd, parent, tag, classId, idId } = model;
  const isInside = new Uint8Array(elementCount);
  const isPlain = new Uint8Array(elementCount);
  const { isAuthors, isRemark } = judgeNames(model.names);
  const isInRemark = new Uint8Array(elementCount);
  // The id of a heading or section is an anchor; the id of a box is a name.
  const isNamed = (element: number, outer: number): boolean =>
    classId[element] === 0
      ? idId[element] !== 0 && tag[element] === Tag.div
      : !isAuthors[classId[element]!] && isInRemark[outer] !== 1 && !UNNAMED_TAGS.has(tag[element]!);
  const end = region < 0 ? elementCount : elementEnd[region]!;
  for (let element = Math.max(region, 0); element < end; element++) {
    const outer = parent[element]!;
    const isInPlain = outer < 0 ? region < 0 : isPlain[outer] === 1;
    const isBeside =
      element !== region &&
      (isInside[outer] === 0 || (ASIDE_TAGS.has(tag[element]!) && !isRemark[classId[element]!]));
    isInside[element] = isBeside ? 0 : 1;
    const isPlainInside = isHolder(element) || (isInPlain && !isNamed(element, outer));
    isPlain[element] = !isBeside && isPlainInside ? 1 : 0;
    isInRemark[element] = isRemark[classId[element]!] || isInRemark[outer] === 1 ? 1 : 0;
  }
  return { isInside, isPlain, isAuthors };
}

type Names = { readonly isAuthors: readonly boolean[]; readonly isRemark: readonly boolean[] };

const judgedNames = new WeakMap<readonly string[], Names>();

/**
 * Tells which names of a page are an author's. The answer is kept, because a page's region is computed twice, from
 * the blocks that each stage chooses.
 */
function judgeNames(names: readonly string[]): Names {
  const known = judgedNames.get(names);
  if (known !== undefined) return known;
  const judged = {
    isAuthors: names.map((name) => name.length <= MAX_NAME && AUTHORS_CLASS.test(name)),
    isRemark: names.map((name) => name.length <= MAX_NAME && REMARK_CLASS.test(name)),
  };
  judgedNames.set(names, judged);
  return judged;
}

/** Counts the chosen words inside each element. */
function sumChosen({ model, candidates }: PageTree, words: Float32Array, isChosen: Uint8Array): Float64Array {
  const sums = new Float64Array(model.elementCount);
  for (let index = 0; index < candidates.length; index++)
    if (isChosen[index] === 1) sums[model.blocks.element[candidates[index]!]!]! += words[index]!;
  addToParents(model, sums);
  return sums;
}

/** Finds the smallest element that contains this many of the chosen words; -1 for none. */
function coreOf({ model }: PageTree, chosenWords: Float64Array, least: number): number {
  let core = -1;
  for (let element = 0; element < model.elementCount; element++) {
    // In document order, a later element that still contains as many is inside the earlier ones.
    const isWithin = core < 0 || element < model.elementEnd[core]!;
    if (isWithin && chosenWords[element]! >= least) core = element;
  }
  return core;
}

/** Returns the body only when nothing inside it contains the content. */
function outermostContainer(
  { model: { parent, tag } }: PageTree,
  core: number,
  isContainer: (element: number) => boolean,
): number {
  let region = -1;
  for (let at = core; at >= 0; at = parent[at]!) {
    const isRoot = ROOT_TAGS.has(tag[at]!);
    if (isRoot && (region >= 0 || tag[at] !== Tag.body)) break;
    if (isContainer(at)) region = at;
  }
  return region;
}

/** Alone, the first stage would keep blocks from this share of the page's plateau and this probability on. */
const PLATEAU_SHARE = 0.6;
const LEAST_CHOSEN = 0.3;
/** Levels and distances are limited to these numbers. */
const MOST_LEVELS = 12;
const MOST_BLOCKS = 12;
const SECTION_BLOCKS = 12;

/** A candidate, with its surroundings. */
type Candidate = {
  readonly tree: PageTree;
  readonly p: Float32Array;
  readonly weight: Float32Array;
  readonly region: Region | null;
  readonly levels: ReturnType<typeof levelsOf> | null;
  readonly signs: ReturnType<typeof signsOf>;
  index: number;
  element: number;
  /** The number of blocks since the last one that the first stage chooses, and up to the next one. */
  since: number;
  until: number;
};

const FEATURES = features<Candidate>({
  regionPlace: ({ region, element }) =>
    region === null ? -1 : region.isInside[element]! + region.isPlain[element]!,
  regionDepth: ({ levels, element }) => (levels === null ? -1 : levels.depths[element]!),
  regionNames: ({ levels, element }) => (levels === null ? -1 : levels.names[element]!),
  ownName: ({ tree, element }) => flag(tree.model.classId[element] !== 0),
  isShown: ({ tree: { model, candidates }, index }) =>
    flag((model.blocks.flags[candidates[index]!]! & NOT_SHOWN) === 0),
  sinceChosen: ({ since }) => since,
  untilChosen: ({ until }) => until,
  pSection: sectionP,
  pageRegionChosen: ({ signs }) => signs.chosen,
  pageRegionShare: ({ signs }) => signs.share,
  pageRegionPlain: ({ signs }) => signs.plain,
});

/** The names of the features of a block's place in the container of what the first stage chooses. */
export const REGION_FEATURES = FEATURES.names;

/**
 * Computes these features for every candidate, one row of `REGION_FEATURES.length` numbers each.
 * @param p the first stage's probability of each candidate
 * @param weight the words of each candidate
 */
export function computeRegionFeatures(tree: PageTree, p: Float32Array, weight: Float32Array): Float32Array {
  const { model, candidates } = tree;
  const count = candidates.length;
  const rows = new Float32Array(count * REGION_FEATURES.length);
  const threshold = Math.max(LEAST_CHOSEN, PLATEAU_SHARE * plateauOf(p, weight).plateau);
  const isChosen = Uint8Array.from(p, (value) => (value >= threshold ? 1 : 0));
  const region = findRegion(tree, weight, isChosen);
  const until = new Float32Array(count);
  for (let index = count - 1, distance = MOST_BLOCKS; index >= 0; index--) {
    until[index] = distance;
    distance = isChosen[index] === 1 ? 0 : Math.min(distance + 1, MOST_BLOCKS);
  }
  const place: Candidate = {
    tree,
    p,
    weight,
    region,
    index: 0,
    element: 0,
    since: MOST_BLOCKS,
    until: MOST_BLOCKS,
    levels: region === null ? null : levelsOf(tree, region),
    signs: signsOf(tree, weight, isChosen, region),
  };
  for (let index = 0; index < count; index++) {
    place.index = index;
    place.element = model.blocks.element[candidates[index]!]!;
    place.until = until[index]!;
    FEATURES.write(rows, index * REGION_FEATURES.length, place);
    place.since = isChosen[index] === 1 ? 0 : Math.min(place.since + 1, MOST_BLOCKS);
  }
  return rows;
}

/** Counts for each element of the region its levels below the container, and those with a template's name. */
function levelsOf(
  { model: { elementCount, parent, classId, tag } }: PageTree,
  { isInside, isAuthors }: Region,
): { readonly depths: Int8Array; readonly names: Int8Array } {
  const depths = new Int8Array(elementCount).fill(-1);
  const names = new Int8Array(elementCount).fill(-1);
  for (let element = 0; element < elementCount; element++) {
    if (isInside[element] === 0) continue;
    const outer = parent[element]!;
    const isFirst = outer < 0 || depths[outer]! < 0;
    const isNamed = classId[element] !== 0 && !isAuthors[classId[element]!] && tag[element] !== Tag.p ? 1 : 0;
    depths[element] = isFirst ? 0 : Math.min(depths[outer]! + 1, MOST_LEVELS);
    names[element] = isFirst ? 0 : Math.min(names[outer]! + isNamed, MOST_LEVELS);
  }
  return { depths, names };
}

function signsOf(
  { model, candidates }: PageTree,
  weight: Float32Array,
  isChosen: Uint8Array,
  region: Region | null,
): { readonly chosen: number; readonly share: number; readonly plain: number } {
  if (region === null) return { chosen: -1, share: -1, plain: -1 };
  let all = 0;
  let inside = 0;
  let chosen = 0;
  let plain = 0;
  for (let index = 0; index < candidates.length; index++) {
    const element = model.blocks.element[candidates[index]!]!;
    const words = weight[index]!;
    all += words;
    if (region.isInside[element] === 0) continue;
    inside += words;
    if (isChosen[index] === 1) chosen += words;
    if (region.isPlain[element] === 1) plain += words;
  }
  return {
    chosen: chosen / Math.max(inside, 1),
    share: inside / Math.max(all, 1),
    plain: plain / Math.max(inside, 1),
  };
}

/** A heading's mean probability of what follows up to the next heading of its level; -1 for other blocks. */
function sectionP({ tree, p, weight, index }: Candidate): number {
  const level = headingLevel(tree, tree.candidates[index]!);
  if (level === 0) return -1;
  let words = 0;
  let mass = 0;
  const end = Math.min(p.length, index + 1 + SECTION_BLOCKS);
  for (let next = index + 1; next < end; next++) {
    const other = headingLevel(tree, tree.candidates[next]!);
    if (other > 0 && other <= level) break;
    words += weight[next]!;
    mass += weight[next]! * p[next]!;
  }
  return words === 0 ? 0 : mass / words;
}
