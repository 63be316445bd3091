import { ElementFlag, type PageFacts, type PageModel, Tag, tagId, tagsNamed } from "../page/page-model.ts";
import { countText, type StatSink, statOf, TextStat, WORD_BUCKETS } from "../page/word-stats.ts";
import { findLayouts } from "./layout-tables.ts";
import { features, flag, rowsOf } from "./trees.ts";

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
  /** The kind of table around each element, a value of `Layout`. */
  readonly layouts: Uint8Array;
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
    layouts: findLayouts(model),
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
  for (const column of [blockCount, words, chars, linkChars]) addToParents(model, column);
}

/** Adds to the number of each element those of the elements inside it. */
export function addToParents({ elementCount, parent }: PageModel, column: NumberColumn): void {
  for (let child = elementCount - 1; child > 0; child--)
    if (parent[child]! >= 0) column[parent[child]!]! += column[child]!;
}

type NumberColumn = Int32Array | Float32Array | Float64Array;

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
  for (let element = 0; element < model.elementCount; element++)
    if (blockCount[element]! > 0) twins[element] = counts.get(twinsKey(model, element))!;
}

/** The groups of names for consent and for dialogs. */
const DIALOG_GROUPS = (1 << 8) | (1 << 9);
const ROOT_TAGS = tagsNamed("html body");
const CONTENT_TAGS = tagsNamed("h1 main article");
/** Matches the first purpose of the IAB's consent framework, worded alike on every site of a language. */
const FIRST_PURPOSE =
  /information(?:en)? on (?:a device|your (?:device|browser))|scan device characteristics|Informationen auf einem (?:End)?gerät|informations sur un (?:appareil|terminal)|información en un dispositivo|informazioni su (?:un )?dispositivo|informatie op een apparaat/i;

/** Labels of the button that accepts cookies. */
export const ACCEPTS_COOKIES =
  /^(?:(?:i )?(?:accept|agree|allow|ok,? accept)(?: (?:all|cookies?|and continue|all cookies))*|alle (?:cookies )?(?:akzeptieren|annehmen|zulassen)|(?:zustimmen|einverstanden)(?: und weiter)?|tout accepter|accepter (?:tout|et continuer)|aceptar (?:tod[oa]s?|cookies|y continuar)(?: .{0,20})?|aceitar (?:tod[oa]s?|tudo|cookies)(?: .{0,20})?|accetta (?:tutt[oi]|i cookie)(?: .{0,20})?|alles? (?:accepteren|toestaan)|akceptuj(?:ę)?(?: wszystk\S+)?|zaakceptuj wszystk\S+|přijmout v\S+|godkänn alla|acceptera alla|godta alle|accepter alle|tillad alle|hyväksy kaikki|принять (?:все|вс[её])|прийняти вс[іе]|αποδοχή όλων|全部接受|接受(?:所有|全部)|すべて(?:受け入れる|同意する)|모두 동의)[\s!.]*$/iu;
const COOKIES = /cookie|куки|クッキー|쿠키|tracker|traceur/i;
const ACCEPT_WORDS = 6;
/** Each look reads all texts of the page. */
const MAX_LOOKS = 20;

/**
 * Drops the candidates in dialogs that ask for consent to tracking. They contain more prose than many pages, so
 * neither length nor sentences tell them from content.
 */
function withoutConsent(model: PageModel, candidates: Int32Array): Int32Array {
  const contentBefore = countContent(model);
  const isDropped = droppedConsents(model, candidates, contentBefore);
  return isDropped === null
    ? candidates
    : candidates.filter((block) => isDropped[model.blocks.element[block]!] === 0);
}

/** Marks the elements of dialogs known by their names and purposes, and of boxes with a button that accepts cookies. */
function droppedConsents(
  model: PageModel,
  candidates: Int32Array,
  contentBefore: Int32Array,
): Uint8Array | null {
  const { element, text, flags } = model.blocks;
  const dialogOf = findDialogs(model, contentBefore);
  const boxes = new Set<number>();
  let looks = 0;
  for (const block of candidates) {
    const dialog = dialogOf === null ? -1 : dialogOf[element[block]!]!;
    if (dialog >= 0 && !boxes.has(dialog) && FIRST_PURPOSE.test(text[block]!)) boxes.add(dialog);
    const isPressed = (flags[block]! & (ElementFlag.button | ElementFlag.link)) !== 0;
    if (!isPressed || statOf(model, block, TextStat.words) > ACCEPT_WORDS) continue;
    if (looks === MAX_LOOKS || !ACCEPTS_COOKIES.test(text[block]!.trim())) continue;
    looks++;
    const box = boxAbout(model, candidates, element[block]!, contentBefore);
    if (box >= 0) boxes.add(box);
  }
  if (boxes.size === 0) return null;
  const isDropped = new Uint8Array(model.elementCount);
  for (const box of boxes) isDropped.fill(1, box, model.elementEnd[box]!);
  return isDropped;
}

/** The smallest box around a button that speaks of cookies, and holds neither a title nor a main part; -1 for none. */
function boxAbout(
  { parent, elementEnd, tag, blocks }: PageModel,
  candidates: Int32Array,
  button: number,
  contentBefore: Int32Array,
): number {
  // Without anything marked as content, the box may be the page itself, and its cookies may be a recipe.
  if (contentBefore.at(-1) === 0) return -1;
  const about = candidates.filter((block) => COOKIES.test(blocks.text[block]!));
  for (let at = parent[button]!; at >= 0 && !ROOT_TAGS.has(tag[at]!); at = parent[at]!) {
    if (contentBefore[elementEnd[at]!]! > contentBefore[at]!) return -1;
    const isAbout = (block: number): boolean =>
      blocks.element[block]! >= at && blocks.element[block]! < elementEnd[at]!;
    if (about.some(isAbout)) return at;
  }
  return -1;
}

/** The number of titles and main parts before each element. */
function countContent({ elementCount, tag }: PageModel): Int32Array {
  const before = new Int32Array(elementCount + 1);
  for (let element = 0; element < elementCount; element++)
    before[element + 1] = before[element]! + (CONTENT_TAGS.has(tag[element]!) ? 1 : 0);
  return before;
}

/** Finds for each element the outermost dialog around it that contains no content; -1 for none. */
function findDialogs(
  { elementCount, groups, tag, parent, elementEnd }: PageModel,
  contentBefore: Int32Array,
): Int32Array | null {
  if (!groups.subarray(0, elementCount).some((group) => (group & DIALOG_GROUPS) !== 0)) return null;
  const dialogOf = new Int32Array(elementCount).fill(-1);
  for (let element = 0; element < elementCount; element++) {
    const around = parent[element]! < 0 ? -1 : dialogOf[parent[element]!]!;
    const isDialog = !ROOT_TAGS.has(tag[element]!) && (groups[element]! & DIALOG_GROUPS) !== 0;
    const holdsContent = contentBefore[elementEnd[element]!]! > contentBefore[element]!;
    dialogOf[element] = around >= 0 ? around : isDialog && !holdsContent ? element : -1;
  }
  return dialogOf;
}

/**
 * Counts are limited to these numbers. Features that grow with the page leave the range that the trees were trained
 * in: the 400th of 800 equal paragraphs had a probability of .31, of 300 paragraphs .92. Nine in ten content blocks
 * of the training stay below each limit.
 */
export const COUNT_LIMITS = {
  /** The words and blocks inside one element, and the words up to the end of the page. */
  words: 5000,
  blocks: 400,
  /** The siblings of the same tag and class. */
  twins: 150,
  /** The blocks and words since the heading above. */
  blocksSinceHeading: 50,
  wordsSinceHeading: 400,
  /** The words and blocks of the whole page. */
  pageWords: 8000,
  pageBlocks: 600,
} as const;

const SIGNS = features<Sums>({
  pageWords: ({ words }) => Math.log2(1 + Math.min(words, COUNT_LIMITS.pageWords)),
  pageBlocks: ({ blocks }) => Math.log2(1 + Math.min(blocks, COUNT_LIMITS.pageBlocks)),
  pageLinkDensity: ({ linkChars, chars }) => linkChars / Math.max(chars, 1),
  pageWordsPerBlock: ({ words, blocks }) => words / Math.max(blocks, 1),
  pageParagraphShare: ({ paragraph, words }) => paragraph / Math.max(words, 1),
  pageItemShare: ({ item, words }) => item / Math.max(words, 1),
  pageHeadings: ({ facts }) => facts.headings.length,
  pageTimes: ({ facts }) => facts.times.length,
  pageIsArticle: ({ facts }) => flag(/article/i.test(facts.meta.get("og:type") ?? "")),
  pageHasArticleData: ({ jsonLd }) => flag(/"(?:\w*Article|BlogPosting)"/.test(jsonLd)),
  pageHasProductData: ({ jsonLd }) => flag(/"Product(?:Group)?"/.test(jsonLd)),
  pageHasThreadData: ({ jsonLd }) => flag(/"(?:DiscussionForumPosting|QAPage|Question)"/.test(jsonLd)),
  pageHasListData: ({ jsonLd }) => flag(/"(?:ItemList|CollectionPage)"/.test(jsonLd)),
  pageLongBlocks: ({ long, blocks }) => long / Math.max(blocks, 1),
  pageTableShare: ({ cell, words }) => cell / Math.max(words, 1),
  pageCodeShare: ({ code, words }) => code / Math.max(words, 1),
});

/** The names of the numbers of `readPageSigns`, in their order. */
export const PAGE_SIGNS = SIGNS.names;

/** Computes numbers that show what kind of page it is. */
export const readPageSigns = (tree: PageTree, facts: PageFacts): Float32Array =>
  rowsOf(SIGNS, [sumsOf(tree, facts)]);

type Sums = ReturnType<typeof sumsOf>;

/** Sums up the words of a page by the elements that they are in. */
function sumsOf({ model, candidates }: PageTree, facts: PageFacts) {
  const { blocks, tag } = model;
  const sums = { words: 0, chars: 0, linkChars: 0, paragraph: 0, item: 0, cell: 0, code: 0, long: 0 };
  for (const block of candidates) {
    const at = block * TextStat.count;
    const count = blocks.stats[at + TextStat.words]!;
    const owner = tag[blocks.element[block]!]!;
    sums.words += count;
    sums.chars += blocks.stats[at + TextStat.chars]!;
    sums.linkChars += blocks.stats[at + TextStat.linkChars]!;
    if (owner === Tag.p) sums.paragraph += count;
    else if (owner === Tag.li) sums.item += count;
    else if (owner === Tag.td || owner === Tag.th) sums.cell += count;
    else if (owner === Tag.pre) sums.code += count;
    if (count >= 20) sums.long++;
  }
  return { ...sums, facts, blocks: candidates.length, jsonLd: facts.jsonLd.join(" ").slice(0, 200_000) };
}

/** The marks of words that matter to the classifier. */
export const WordMark = { frequent: 1, title: 2, description: 4 } as const;

const FREQUENT_WORDS = 30;
const FEWEST_OCCURRENCES = 4;

/**
 * Marks the words that the page repeats most, which serve as a stop-word list in every language, and those of its
 * title and description.
 * @returns a byte of `WordMark` for each word bucket
 */
export function markPageWords({ model, candidates }: PageTree, facts: PageFacts): Uint8Array {
  const { firstWord, endWord, words } = model.blocks;
  const counts = new Uint16Array(WORD_BUCKETS);
  for (const block of candidates) {
    for (let word = firstWord[block]!; word < endWord[block]!; word++)
      if (counts[words[word]!]! < 65535) counts[words[word]!]!++;
  }
  const marks = new Uint8Array(WORD_BUCKETS);
  const frequent: number[] = [];
  for (let bucket = 0; bucket < WORD_BUCKETS; bucket++)
    if (counts[bucket]! >= FEWEST_OCCURRENCES) frequent.push(bucket);
  frequent.sort((a, b) => counts[b]! - counts[a]! || a - b);
  for (const bucket of frequent.slice(0, FREQUENT_WORDS)) marks[bucket]! |= WordMark.frequent;
  markText(marks, `${facts.meta.get("og:title") ?? ""} ${facts.title}`, WordMark.title);
  const described = facts.meta.get("og:description") ?? facts.meta.get("description") ?? "";
  markText(marks, described, WordMark.description);
  return marks;
}

function markText(marks: Uint8Array, text: string, mark: number): void {
  const sink: StatSink = {
    stats: new Float32Array(TextStat.count),
    at: 0,
    words: new Uint16Array(512),
    wordCount: 0,
  };
  countText(text.slice(0, 2000), sink, [], []);
  for (let word = 0; word < sink.wordCount; word++) marks[sink.words[word]!]! |= mark;
}

/** The kinds of phrases in short texts around content, one bit each. */
const PATTERNS: readonly RegExp[] = [
  // more to read
  /\b(?:related|recommended|you (?:may|might) (?:also )?(?:like|enjoy)|more (?:from|in|on|stories|articles|news|posts)|read (?:more|next|also)|see also|also (?:viewed|bought|like)|popular|trending|latest|similar|most read|up next|weitere|mehr (?:zum|zu|aus)|lesen sie auch|ähnliche|à lire|similaires|lire (?:aussi|la suite)|leer más|relacionad[oa]s|te puede interesar|leggi anche|correlati|lees ook|gerelateerd|powiązane|czytaj)\b|関連|相关|推荐|похожие|читайте также/i,
  // share bars
  /\b(?:share|tweet|facebook|twitter|whatsapp|linkedin|pinterest|reddit|e-?mail|print|copy link|follow us|teilen|drucken|partager|compartir|condividi|delen|udostępnij)\b|分享|シェア|поделиться/i,
  // comments
  /\b(?:comments?|repl(?:y|ies)|leave a|log in to (?:reply|comment)|kommentare?|commentaires?|comentarios?|commenti|reacties|komentarze)\b|コメント|评论|комментари/i,
  // subscriptions
  /\b(?:newsletter|subscribe|sign ?up|inbox|abonnieren|s'abonner|suscr[ií]bete|iscriviti|abonneer)\b|购读|подписаться/i,
  // legal
  /©|\b(?:copyright|all rights reserved|privacy|terms (?:of|and)|cookies?|impressum|datenschutz|agb|mentions légales|aviso legal)\b/i,
  // accounts and baskets
  /\b(?:log ?in|sign ?in|register|my account|cart|basket|checkout|wish ?list|add to|buy now|anmelden|warenkorb|connexion|panier|carrito|carrello)\b/i,
  // bylines
  /^(?:by|von|par|por|di|door|autor|author|written by|posted by|published|updated|text|foto|photo)\b.{2,80}$/i,
  // steps to other pages
  /^(?:previous|next|back|home|menu|skip to|search|older|newer|zurück|weiter|suche|startseite|précédent|suivant|accueil|anterior|siguiente|inicio|close|show|view all|load more|all)\b/i,
  // dates
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-zé]*\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}\b|\b\d{1,2}\.? [a-zäéû]{3,10}\.? \d{4}\b|\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|\b\d+ (?:min|minutes?|hours?|days?|weeks?|months?|years?) (?:ago|read)\b|年\d{1,2}月/i,
];

export const PATTERN_COUNT = PATTERNS.length;
/** Longer texts are sentences that mention such phrases. */
const MAX_PATTERN_CHARS = 120;

/** Returns the kinds of phrases in a short text as a bit mask; 0 for longer texts. */
export function patternsOf(text: string): number {
  if (text.length > MAX_PATTERN_CHARS) return 0;
  let mask = 0;
  for (const [kind, pattern] of PATTERNS.entries()) if (pattern.test(text)) mask |= 1 << kind;
  return mask;
}
