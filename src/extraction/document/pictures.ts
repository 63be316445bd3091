import { NOT_SHOWN } from "../classification/region.ts";
import {
  ElementFlag,
  firstFrom,
  isInside,
  nearestOf,
  type PageModel,
  startTagOf,
  Tag,
  tagsNamed,
  VIDEO_STANDINS,
  valueIn,
} from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";

/** The parts of a page's content that the choice of pictures depends on. */
export type Surroundings = {
  readonly model: PageModel;
  /** The blocks of the content with those of its title, ascending. */
  readonly chosen: ArrayLike<number>;
  /** 1 for each element in the container of the content and in nothing beside it; null for the whole page. */
  readonly isInside: Uint8Array | null;
  /** The address of the page's lead image; null for none. */
  readonly leadImage: string | null;
  /** The site's name in addresses of its first page; null when unknown. */
  readonly host: string | null;
};

/** Why a picture is furniture of the page. */
type Sign = "icons" | "portraits" | "share buttons" | "logos" | "advertisements" | "teasers of other pages";

const PICTURES = tagsNamed(`img video audio iframe embed ${VIDEO_STANDINS}`);
/** Elements whose text a picture inside them belongs to. */
const HOLDERS = tagsNamed("figure li td th dd");
const CAPTIONS = tagsNamed("figcaption");
const LINKS = tagsNamed("a");
const NOSCRIPTS = tagsNamed("noscript");
/** The limits beyond which nobody looks. */
const MAX_LEVELS = 40;
const MAX_LINK_LEVELS = 6;
const MAX_SOURCE = 5000;
const MAX_NAME = 300;

/** Byline, date and share buttons between a lead image and the text have no more words; a list of teasers has more. */
const MOST_WORDS_BELOW_LEAD = 60;
/** Tags and share buttons between the text and its last image have no more words. */
const MOST_WORDS_ABOVE_LAST = 12;
/** A picture of up to this many pixels on both sides is an ornament, and a larger one apart from the text a portrait. */
const MAX_ICON = 48;
const MAX_PORTRAIT = 80;

type Signs = readonly (readonly [sign: Sign, pattern: RegExp])[];

const NAME_SIGNS: Signs = [
  [
    "icons",
    /(?:^|[\s_-])(?:icons?|emoji|sprite|spinner|spacer|arrow|btn|button|rating|stars?|flag)(?:[\s_-]|$)/i,
  ],
  ["portraits", /avatar|userpic|headshot|(?:^|[\s_-])(?:author|byline|profile)(?:[\s_-]|$)/i],
  ["share buttons", /(?:^|[\s_-])(?:share|sharing|social|follow)(?:[\s_-]|$)/i],
  ["logos", /(?:^|[\s_-])(?:site)?logo(?:[\s_-]|$)/i],
];
const SOURCE_SIGNS: Signs = [
  [
    "icons",
    /\/(?:icons?|emojis?|sprites?|badges?|flags)\/|(?:^|[/_-])(?:spacer|blank|pixel|transparent|1x1)\.(?:gif|png)/i,
  ],
  ["portraits", /gravatar\.com\/|\/avatars?\//i],
];
const LINK_SIGNS: Signs = [
  [
    "share buttons",
    /^(?:mailto|whatsapp|sms|tg):|[/.]share(?:r|Article|-offsite)?\b|\/intent\/|\/pin\/create\/|api\.whatsapp/i,
  ],
  ["advertisements", /[/.-](?:adverts?|adclicks?|linkout|doubleclick|banners?)\b/i],
];
const BANNER_NAME = /(?:^|[\s_-])(?:banner|sponsor(?:ed|s)?|ads?|advert)(?:[\s_-]|$)/i;
/** The groups of names for menus, related pages and the pages before and after. */
const TEASER_GROUPS = (1 << 0) | (1 << 6) | (1 << 28);
const CAPTION_NAME = /caption|credit|copyright/i;
const LOGO_SOURCE = /(?:^|[/_-])logos?(?:[._-]|$)/i;
const SPONSORED = /\srel\s*=\s*["']?[^"'>]{0,100}\bsponsored\b/i;
const SOURCE =
  /\s(?:data-(?:lazy-)?src|data-original|src)\s*=\s*(?:"(?!data:)([^"]+)"|'(?!data:)([^']+)'|(?!data:)([^\s"'>]+))/i;
const LAZY_SOURCE =
  /\s(?:data-(?:lazy-)?src|data-original)\s*=\s*(?:"(?!data:)([^"]+)"|'(?!data:)([^']+)'|(?!data:)([^\s"'>]+))/i;
const SOURCE_SET = /\s(?:data-)?srcset\s*=\s*["']?(?!data:)([^\s"'>,]{1,2000})/i;
const ALT = /\salt\s*=\s*["']?[^"'\s>]/i;
const IMAGE_FILE = /\.(?:jpe?g|png|gif|webp|avif|svg)(?:[?#]|$)/i;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const WIDTH = /\swidth\s*=\s*["']?\s*(\d{1,5})(?:px)?["'\s/>]/i;
const HEIGHT = /\sheight\s*=\s*["']?\s*(\d{1,5})(?:px)?["'\s/>]/i;

/**
 * Tells which pictures, videos and embedded frames of a page belong to its content: all that stand in the container of
 * the content and share no box with refused text, but for furniture.
 */
export class Pictures {
  readonly #page: Surroundings;
  /** The words of the refused blocks that readers see, up to each block. */
  readonly #refused: Float64Array;
  readonly #starts: Float64Array;
  /** How many pictures in the container each sign left out. */
  readonly #leftOut = new Map<Sign, number>();
  #hasLead = false;
  /** The images since the block numbered `#after`, and those of them that stand in for a script. */
  readonly #shown = new Set<string>();
  readonly #spare = new Set<string>();
  #after = -2;
  #lastShown = -1;

  constructor(page: Surroundings) {
    this.#page = page;
    const { blocks, textStart } = page.model;
    const isChosen = new Uint8Array(blocks.count);
    for (let index = 0; index < page.chosen.length; index++) isChosen[page.chosen[index]!] = 1;
    this.#refused = new Float64Array(blocks.count + 1);
    this.#starts = Float64Array.from(blocks.firstText, (text) => textStart[text]!).subarray(0, blocks.count);
    for (let block = 0; block < blocks.count; block++) {
      const counts =
        isChosen[block] === 0 && (blocks.flags[block]! & NOT_SHOWN) === 0 && !this.#isCaption(block);
      this.#refused[block + 1] =
        this.#refused[block]! + (counts ? statOf(page.model, block, TextStat.words) : 0);
    }
  }

  /** Forgets what was seen; a page's content is built anew when something is added to it. */
  begin(): void {
    this.#leftOut.clear();
    this.#hasLead = false;
    this.#after = -2;
    this.#lastShown = -1;
  }

  /** Says how many pictures of the content's container were left out, by their signs; empty for none. */
  get omissions(): readonly string[] {
    if (this.#leftOut.size === 0) return [];
    return [`images: left out ${[...this.#leftOut].map(([sign, count]) => `${count} ${sign}`).join(", ")}`];
  }

  /**
   * Tells whether a medium between two neighbours among the chosen blocks is content.
   * @param previous -1 before the first one
   * @param next the number of blocks after the last one
   */
  isContent(element: number, previous: number, next: number): boolean {
    const { model } = this.#page;
    const isPicture = PICTURES.has(model.tag[element]!);
    const isBetween = previous + 1 === next || this.#isBeside(element, previous, next);
    if (!isPicture) return isBetween;
    const box = this.#boxOf(element, previous, next);
    const isNear = isBetween || this.#standsAlone(element, box, previous, next);
    const sign = isNear && model.tag[element] === Tag.img ? this.#signOf(element, box, isBetween) : null;
    if (sign !== null) this.#leftOut.set(sign, (this.#leftOut.get(sign) ?? 0) + 1);
    else if (isNear) return !this.#isCopy(element, previous);
    return previous < 0 && next < model.blocks.count && this.#isLead(element);
  }

  /** Returns the outermost element around a medium that begins after a block and ends before another one. */
  #boxOf(element: number, previous: number, next: number): number {
    const { blocks, textStart, textEnd, openStart, closeEnd, parent, html } = this.#page.model;
    const from = previous < 0 ? 0 : textEnd[blocks.endText[previous]! - 1]!;
    const until = next < blocks.count ? textStart[blocks.firstText[next]!]! : html.length;
    let box = element;
    for (let level = 0; level < MAX_LEVELS; level++) {
      const outer = parent[box]!;
      if (outer < 0 || openStart[outer]! < from || closeEnd[outer]! > until) break;
      box = outer;
    }
    return box;
  }

  /** Tells whether the same image stands before this one and after the same block, say for other screens or scripts. */
  #isCopy(element: number, previous: number): boolean {
    const { model } = this.#page;
    if (model.tag[element] !== Tag.img) return false;
    const image = startTagOf(model, element);
    const source = valueIn(image, LAZY_SOURCE) ?? valueIn(image, SOURCE) ?? valueIn(image, SOURCE_SET);
    if (source === undefined) return false;
    // An image in `<noscript>` right after a lazy image is the same image, even if its file has another name.
    if (this.#lastShown >= 0 && imageBesideNoscript(model, element) === this.#lastShown) return true;
    this.#lastShown = element;
    if ((model.flags[element]! & ElementFlag.cell) !== 0) return false;
    if (previous !== this.#after) for (const images of [this.#shown, this.#spare]) images.clear();
    this.#after = previous;
    // An image in `<noscript>` may be another size of the lazy image that it replaces.
    const isSpare = (model.flags[element]! & ElementFlag.noscript) !== 0;
    const stem = stemOf(source) ?? source;
    const isCopy = this.#shown.has(source) || (isSpare ? this.#shown : this.#spare).has(`stem ${stem}`);
    if (isSpare) this.#spare.add(`stem ${stem}`);
    this.#shown.add(source).add(`stem ${stem}`);
    return isCopy;
  }

  #isInRegion(element: number): boolean {
    const { isInside: inside } = this.#page;
    return inside === null || inside[element] === 1;
  }

  #standsAlone(element: number, box: number, previous: number, next: number): boolean {
    const { openStart, closeEnd, parent } = this.#page.model;
    if (!this.#isInRegion(element) || parent[box]! < 0 || !this.#isInRegion(parent[box]!)) return false;
    const first = firstFrom(this.#starts, openStart[box]!);
    const end = firstFrom(this.#starts, closeEnd[box]!);
    const words = (from: number, until: number): number => this.#refused[until]! - this.#refused[from]!;
    if (end > first && words(first, end) > 0) return false;
    if (previous < 0) return words(Math.min(end, next), next) <= MOST_WORDS_BELOW_LEAD;
    return (
      next < this.#starts.length ||
      words(previous + 1, Math.max(first, previous + 1)) <= MOST_WORDS_ABOVE_LAST
    );
  }

  /** Tells whether a medium is in the same figure, list item or cell as a chosen block. */
  #isBeside(element: number, previous: number, next: number): boolean {
    const { model } = this.#page;
    const holder = nearestOf(model, model.parent[element]!, MAX_LEVELS, HOLDERS);
    const holds = (other: number): boolean =>
      other >= 0 && other < model.blocks.count && isInside(model, model.blocks.element[other]!, holder);
    return holder >= 0 && (holds(previous) || holds(next));
  }

  #isCaption(block: number): boolean {
    const { model } = this.#page;
    const element = model.blocks.element[block]!;
    if (element < 0) return false;
    if (nearestOf(model, element, 4, CAPTIONS) >= 0) return true;
    const name = model.names[model.classId[element]!]!;
    return name.length <= MAX_NAME && CAPTION_NAME.test(name);
  }

  /** Tells whether a picture is the page's lead image above its text. */
  #isLead(element: number): boolean {
    const { model, leadImage } = this.#page;
    const { tag, html, openStart, openEnd, parent } = model;
    if (tag[element] !== Tag.img || this.#hasLead) return false;
    const around = parent[element]!;
    const shown = around >= 0 && tag[around] === Tag.picture ? around : element;
    const source = html.slice(openStart[shown]!, openEnd[element]!);
    const stem = leadImage === null ? null : stemOf(leadImage);
    this.#hasLead = stem !== null && source.length < MAX_SOURCE && source.includes(stem);
    return this.#hasLead;
  }

  #signOf(element: number, box: number, isBetween: boolean): Sign | null {
    const { model } = this.#page;
    const image = startTagOf(model, element);
    const source = (valueIn(image, SOURCE) ?? "").slice(0, MAX_NAME);
    const link = nearestOf(model, element, MAX_LINK_LEVELS, LINKS);
    const start = link < 0 ? "" : startTagOf(model, link);
    const href = valueIn(start, HREF) ?? "";
    const sign = this.#signOfLink(start, href, source);
    // In a table, a described picture is a value.
    const isValue = (model.flags[element]! & ElementFlag.cell) !== 0 && ALT.test(image);
    if (sign !== null || isValue) return sign;
    const ofSource =
      firstSign(SOURCE_SIGNS, source) ?? signOfSize(image, isBetween ? MAX_ICON : MAX_PORTRAIT);
    if (ofSource !== null) return ofSource;
    if (!isBetween && LOGO_SOURCE.test(source)) return "logos";
    const leadsAway = link >= 0 && !IMAGE_FILE.test(href);
    let ofName: Sign | null = null;
    for (let at = element, level = 0; at >= box && level < MAX_LINK_LEVELS; at = model.parent[at]!, level++)
      ofName ??= this.#signOfName(at, leadsAway);
    return ofName;
  }

  #signOfLink(link: string, href: string, source: string): Sign | null {
    const { host } = this.#page;
    if (href === "/" || (host !== null && hostOf(href) === host)) return "logos";
    if (href.startsWith("#") && /\.svg\b/i.test(source)) return "icons";
    return SPONSORED.test(link) ? "advertisements" : firstSign(LINK_SIGNS, href);
  }

  #signOfName(element: number, leadsAway: boolean): Sign | null {
    const { names, classId, idId, groups, tag } = this.#page.model;
    if (tag[element] === Tag.nav || (leadsAway && (groups[element]! & TEASER_GROUPS) !== 0))
      return "teasers of other pages";
    const name = `${names[classId[element]!]!.slice(0, MAX_NAME)} ${names[idId[element]!]!.slice(0, MAX_NAME)}`;
    return firstSign(NAME_SIGNS, name) ?? (leadsAway && BANNER_NAME.test(name) ? "advertisements" : null);
  }
}

/** Elements between an image and the `<noscript>` behind it. */
const MOST_BETWEEN = 8;

/** Returns the last image before the `<noscript>` around an element, in the same box; -1 for none. */
function imageBesideNoscript(model: PageModel, element: number): number {
  if ((model.flags[element]! & ElementFlag.noscript) === 0) return -1;
  const noscript = nearestOf(model, element, MAX_LINK_LEVELS, NOSCRIPTS);
  const first = noscript < 0 ? 0 : Math.max(model.parent[noscript]! + 1, noscript - MOST_BETWEEN);
  for (let at = noscript - 1; at >= first; at--) if (model.tag[at] === Tag.img) return at;
  return -1;
}

const firstSign = (signs: Signs, text: string): Sign | null =>
  signs.find(([, pattern]) => pattern.test(text))?.[0] ?? null;

function signOfSize(image: string, most: number): Sign | null {
  const sides = [WIDTH, HEIGHT].map((side) => Number(side.exec(image)?.[1] ?? Number.NaN));
  if (!sides.every((side) => side <= most)) return null;
  return sides.every((side) => side <= MAX_ICON) ? "icons" : "portraits";
}

/** Returns the host that an address of a site's first page names; null for any other address. */
export const hostOf = (address: string): string | null =>
  /^(?:https?:)?\/\/(?:www\.)?([^/?#]{1,255})\/?$/i.exec(address)?.[1] ?? null;

/** The file name without size and extension, which the addresses of one image in several sizes share. */
function stemOf(address: string): string | null {
  const name = /([^/?#]+)(?:[?#]|$)/.exec(address.slice(0, 2000).replace(/\/(?=[?#]|$)/, ""))?.[1] ?? "";
  const stem = name.replace(/\.\w{2,5}$/, "").replace(/[-_]\d{2,5}x\d{2,5}$/, "");
  return stem.length < 5 ? null : stem;
}
