import { wordsIn } from "../../base/text.ts";
import { CodeWords } from "./source-text.ts";

// The order is part of the trained model (the tag number is a feature): append, never insert.
const LISTED = wordsIn(`html head body title meta link base script style noscript template
 p div span a li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr td th
 article section main header footer nav aside address hgroup search figure figcaption blockquote pre
 details summary dialog form fieldset legend label button input select option optgroup textarea datalist
 img picture source br hr wbr b i em strong u s small mark sub sup code kbd samp var q cite abbr time
 dfn bdi bdo ruby rt rp del ins big tt font center nobr strike iframe object embed video audio canvas svg
 math track map area param frame frameset applet portal menu dir noframes noembed output progress meter
 slot data listing xmp plaintext col colgroup title-svg path g use lite-youtube lite-vimeo amp-youtube amp-vimeo amp-dailymotion`);

/** The number of each listed element name, from 1 on. */
export const Tag = Object.fromEntries(LISTED.map((name, index) => [name, index + 1])) as Readonly<
  Record<(typeof LISTED)[number], number>
>;

/** The first number of names that are not listed. */
export const FIRST_UNKNOWN_TAG = 200;
/** Further names share the last number: no page needs them, and tables stay small. */
export const TAG_LIMIT = 2048;

const IDS: ReadonlyMap<string, number> = new Map(Object.entries(Tag));

/** Returns the number of a listed element name; 0 for any other. */
export const tagId = (name: string): number => IDS.get(name) ?? 0;

/** Returns the tags with the given names, which are separated by white space. */
export const tagsNamed = (names: string): ReadonlySet<number> => new Set(names.split(/\s+/).map(tagId));

/** Elements of AMP pages that show what another element shows; `<embed>` has no content that is text. */
const TWINS: readonly (readonly [name: string, like: string])[] = [
  ["amp-img", "img"],
  ["amp-anim", "img"],
  ["amp-video", "video"],
  ["amp-audio", "audio"],
  ["amp-iframe", "embed"],
];
const LISTED_NAMES = new CodeWords([...LISTED, ...TWINS.map(([name]) => name)]);
const NUMBERS = [...LISTED, ...TWINS.map(([, like]) => like)].map(tagId);

/** Returns the number of the listed element name at these UTF-16 units, in any case; 0 for any other. */
export const tagAt = (codes: Uint16Array, start: number, end: number): number =>
  NUMBERS[LISTED_NAMES.find(codes, start, end)] ?? 0;

/** Returns a listed element's name; `div` for any other: to a reader, an unknown element is a box. */
export const tagName = (id: number): string => LISTED[id - 1] ?? "div";

/** One bit per property of a tag that the scanner asks for on each element. */
export const TagTrait = {
  /** The element has no content and no end tag. */
  void: 1,
  /** The element starts a new block of text. */
  block: 2,
  /** The element is "special" in the HTML standard's sense: no inline end tag closes through it. */
  special: 4,
  /** End tags outside of the element do not reach through it (table cells and similar). */
  scope: 8,
  /** The element's text is not text of the page. */
  textless: 16,
  /** The element may stand in a head. */
  head: 32,
  /** The element closes an open paragraph when it starts. */
  closesParagraph: 64,
  /** The element is a block whose neighbours follow line by line in plain text. */
  line: 128,
  /** The element is a cell of a table row. */
  cell: 256,
} as const;

/** Joins the bits of each tag, from the names of the tags that have a bit. */
function bitsOfTags<Bit extends string>(
  bits: Readonly<Record<Bit, number>>,
  names: Readonly<Partial<Record<Bit, string>>>,
): Uint16Array {
  const joined = new Uint16Array(TAG_LIMIT);
  for (const bit in names) for (const tag of tagsNamed(names[bit] ?? "")) joined[tag]! |= bits[bit];
  // The names that are not listed share this number.
  joined[0] = 0;
  return joined;
}

const TRAITS = bitsOfTags(TagTrait, {
  void: "meta link base input img br hr wbr source track area param embed col frame keygen basefont",
  block: `html body p div li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr td th article
   section main header footer nav aside address hgroup search figure figcaption blockquote pre details
   summary dialog form fieldset legend button hr center menu dir listing xmp select option optgroup
   textarea iframe noscript template title`,
  special: `p div li ul ol dl dt dd table caption thead tbody tfoot tr td th article section main header footer nav
   aside address hgroup search figure figcaption blockquote pre details summary dialog form fieldset button
   center menu dir listing body html template select h1 h2 h3 h4 h5 h6`,
  scope: "html table caption td th template object",
  textless: `script style title svg iframe select option optgroup datalist textarea object embed applet canvas audio
   video map head noframes noembed portal progress meter math`,
  head: "title meta link base script style noscript template head html",
  closesParagraph: `address article aside blockquote center details dialog dir div dl dd dt li fieldset figcaption
   figure footer form header hgroup main menu nav ol p pre section search summary ul h1 h2 h3 h4 h5 h6 hr listing
   table`,
  line: "li tr dt dd summary button option label",
  cell: "td th",
});

/** Returns the traits of a tag number as bits of `TagTrait`. */
export const traitsOf = (id: number): number => TRAITS[id] ?? 0;

/** One bit per property of an element, which passes to everything inside it. */
export const ElementFlag = {
  /** The element is, or is inside, a link with a target. */
  link: 1,
  /** White space is significant. */
  preformatted: 2,
  /** Its text is not shown as text of the page: scripts, drawings, form fields. */
  textless: 4,
  noscript: 8,
  template: 16,
  /** The page hides it initially. */
  hidden: 32,
  /** It is hidden until the reader opens it: tab panels, accordions. */
  panel: 64,
  ariaHidden: 128,
  /** The element is inside a table cell. */
  cell: 256,
  heading: 512,
  form: 1024,
  bold: 2048,
  button: 4096,
  /** The element is inside something that opens something else: a button, a tab, the head of an accordion. */
  toggle: 8192,
} as const;

/** How a block is separated from the previous one in plain text. */
export const Break = { none: 0, cell: 1, line: 2, paragraph: 3 } as const;

/**
 * A page as flat columns. Elements are in document order, so the descendants of element `e` are `e + 1 ..
 * elementEnd[e] - 1`; texts and blocks are in document order too.
 */
export type PageModel = {
  readonly html: string;
  readonly elementCount: number;
  readonly tag: Uint16Array;
  /** -1 for the root. */
  readonly parent: Int32Array;
  /** Number of ancestors. */
  readonly depth: Int32Array;
  /** The number after that of the last descendant. */
  readonly elementEnd: Int32Array;
  /** The offsets of the start tag in `html`: its first character, and the character after it. */
  readonly openStart: Int32Array;
  readonly openEnd: Int32Array;
  /** The offset after the end tag, or of the place where the end is implied. */
  readonly closeEnd: Int32Array;
  readonly flags: Uint16Array;
  /** The groups of the element's class, id and role, see `groupsOf`. */
  readonly groups: Int32Array;
  /** The numbers of the class attribute and the id; 0 for none. Equal texts have equal numbers. */
  readonly classId: Int32Array;
  readonly idId: Int32Array;
  /** The texts behind the numbers of `classId` and `idId`. */
  readonly names: readonly string[];

  readonly textCount: number;
  /** The range of a text in `html`, with its entities undecoded. */
  readonly textStart: Int32Array;
  readonly textEnd: Int32Array;
  readonly textParent: Int32Array;
  /** Decoded texts of the text nodes that contain entities; all other texts are as in `html`. */
  readonly decodedText: ReadonlyMap<number, string>;
  /** The texts of preformatted blocks that start a line without a line break of their own. */
  readonly lineStarts: ReadonlySet<number>;
  /** The texts that the page separates from the previous one by its style alone. */
  readonly gaps: ReadonlySet<number>;

  /**
   * The elements that show something without text, in document order: `img`, `hr`, `br`, formulas (`math` and the
   * scripts that hold TeX), check boxes, and embedded content.
   */
  readonly media: Int32Array;

  /** The blocks: runs of inline content, which are classified one by one. */
  readonly blocks: BlockColumns;
};

export type BlockColumns = {
  readonly count: number;
  /** The innermost block-level element around it. */
  readonly element: Int32Array;
  /** The range of the block's texts, end exclusive. */
  readonly firstText: Int32Array;
  readonly endText: Int32Array;
  /** The flags of its first text's element. */
  readonly flags: Uint16Array;
  /** A value of `Break`: how it is separated from the previous block. */
  readonly breakBefore: Uint8Array;
  /** The text as a reader sees it: white space is collapsed, except in preformatted text. */
  readonly text: readonly string[];
  /** The statistics of the text, `TextStat.count` numbers for each block. */
  readonly stats: Float32Array;
  /** The range of its words in `words`. */
  readonly firstWord: Int32Array;
  readonly endWord: Int32Array;
  /** The bucket of each word of the page, see `WORD_BUCKETS`. */
  readonly words: Uint16Array;
};

/** An anchor as the page wrote it. */
export type RawLink = { readonly href: string; readonly text: string; readonly isNofollow: boolean };

/** A page's statements about itself, unprocessed; see `readMetadata`. */
export type PageFacts = {
  readonly title: string;
  /** The level-1 headings. */
  readonly headings: readonly PageText[];
  /** The contents of `<meta>` elements by lower-case name, property or itemprop; the first one counts. */
  readonly meta: ReadonlyMap<string, string>;
  /** `<meta property>` of Open Graph and the like (`og:image`, `article:tag`) in page order, as often as given. */
  readonly properties: readonly (readonly [property: string, content: string])[];
  /** The first scripts of JSON-LD. */
  readonly jsonLd: readonly string[];
  /** The number of JSON-LD scripts, whether kept or not. */
  readonly jsonLdCount: number;
  /** The texts of elements that name the author (`rel=author`, `itemprop=author`). */
  readonly authors: readonly PageText[];
  readonly times: readonly PageTime[];
  readonly htmlLang: string | null;
  readonly bodyLang: string | null;
  readonly dir: string | null;
  readonly baseHref: string | null;
  readonly canonicalHref: string | null;
  /** The page as Markdown, by `<link rel="alternate">`. */
  readonly markdownHref: string | null;
  /** The page in other languages, and in its own. */
  readonly translations: readonly { readonly href: string; readonly language: string }[];
  /** What describes the page, by `<link rel="describedby">`. */
  readonly describedByHref: string | null;
  /** The content of `<meta http-equiv="refresh">`. */
  readonly refresh: string | null;
  /** The same of the one inside `noscript`. */
  readonly noscriptRefresh: string | null;
  readonly robots: readonly string[];
  readonly links: readonly RawLink[];
  /** The links that are frames of a frameset. */
  readonly frames: readonly RawLink[];
  /** The application's state as JSON text: scripts of that type, and attributes with preloaded pages. */
  readonly states: readonly string[];
};

export type PageText = { readonly element: number; readonly text: string };

/** The meaning of an element's date, as the element states it. */
export type DateRole = "published" | "modified" | "created";

/** A `<time>` element, or another element with a machine-readable date. */
export type PageTime = PageText & { readonly datetime: string | null; readonly role: DateRole | null };

export type ScannedPage = { readonly model: PageModel; readonly facts: PageFacts };

/** Returns a text with its entities decoded and its white space as in the source. */
export const textAt = (model: PageModel, text: number): string =>
  model.decodedText.get(text) ?? model.html.slice(model.textStart[text]!, model.textEnd[text]!);

/** Tells whether element `inner` is `outer` or inside it. */
export const isInside = (model: PageModel, inner: number, outer: number): boolean =>
  inner >= outer && inner < (model.elementEnd[outer] ?? 0);

/** Returns the start tag of an element as the page wrote it, cut to `most` characters. */
export const startTagOf = ({ html, openStart, openEnd }: PageModel, element: number, most = 2000): string =>
  html.slice(openStart[element]!, Math.min(openEnd[element]!, openStart[element]! + most));

/** Returns the value of an attribute that this expression finds quoted in either way or bare; undefined without one. */
export function valueIn(startTag: string, attribute: RegExp): string | undefined {
  const [, double, single, bare] = attribute.exec(startTag) ?? [];
  return double ?? single ?? bare;
}

/** Returns the nearest element with one of the tags, at most `levels` levels up from the element itself; -1 for none. */
export function nearestOf(
  { tag, parent }: PageModel,
  element: number,
  levels: number,
  tags: ReadonlySet<number>,
): number {
  let at = element;
  for (let level = 0; level < levels && at >= 0; level++, at = parent[at]!) if (tags.has(tag[at]!)) return at;
  return -1;
}

/** The index of the first of ascending numbers that is at least this one. */
export function firstFrom(numbers: ArrayLike<number>, least: number): number {
  let low = 0;
  for (let high = numbers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the flags that an element has by its tag alone. */
export const flagsOfTag = (tag: number): number => FLAGS_OF_TAG[tag]!;

/** The traits of an element: a button that is a word of a sentence is a phrase, see `isWordOfSentence`. */
export const traitsOfElement = (tag: number, flags: number): number =>
  tag === Tag.button && (flags & ElementFlag.button) === 0 ? 0 : traitsOf(tag);

const FLAGS_OF_TAG = bitsOfTags(ElementFlag, {
  preformatted: "pre listing xmp textarea",
  noscript: "noscript",
  template: "template",
  cell: "td th",
  heading: "h1 h2 h3 h4 h5 h6 dt",
  form: "form",
  bold: "b strong",
  button: "button",
  toggle: "button summary",
});
for (let tag = 0; tag < TAG_LIMIT; tag++)
  if ((traitsOf(tag) & TagTrait.textless) !== 0) FLAGS_OF_TAG[tag]! |= ElementFlag.textless;

/**
 * Returns the `Break` between the texts on both sides of a tag. Inside a cell every block is a line, so that a
 * paragraph does not tear the row apart.
 */
export function breakOf(traits: number, flags: number): number {
  if ((traits & TagTrait.cell) !== 0) return Break.cell;
  return (traits & TagTrait.line) !== 0 || (flags & ElementFlag.cell) !== 0 ? Break.line : Break.paragraph;
}

/** Tells whether an element shows something that is not text of a block, see `PageModel.media`. */
export function isMedium(tag: number, type: string | null): boolean {
  if (MEDIA.has(tag)) return true;
  if (type === null) return false;
  if (tag === Tag.script) return /^\s*math\//i.test(type);
  return tag === Tag.input && type.trim().toLowerCase() === "checkbox";
}

/** Elements that stand for a video on another site. */
export const VIDEO_STANDINS = "lite-youtube lite-vimeo amp-youtube amp-vimeo amp-dailymotion";
const MEDIA = tagsNamed(`br img hr math video audio iframe embed ${VIDEO_STANDINS}`);
