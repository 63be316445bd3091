import { CodeWords, type EntityText, WordLists } from "./source-text.ts";
import { isWhiteSpace } from "./word-stats.ts";

/** The attributes that the scanner keeps of a start tag, each with the names that it may have. */
const NAMES_OF_FIELD = {
  class: "class",
  id: "id",
  style: "style",
  role: "role",
  href: "href",
  src: "src",
  rel: "rel",
  hreflang: "hreflang",
  name: "name",
  property: "property",
  itemprop: "itemprop",
  httpEquiv: "http-equiv",
  content: "content",
  datetime: "datetime",
  lang: "lang xml:lang",
  dir: "dir",
  type: "type",
  hidden: "hidden",
  ariaHidden: "aria-hidden",
  controls: "aria-controls data-target data-bs-target popovertarget commandfor",
  pubdate: "pubdate",
  state: "data-preloaded",
  expanded: "aria-expanded",
  popover: "popover",
  open: "open",
  color: "color text",
  bgcolor: "bgcolor",
} as const;

const FIELD_NAMES = Object.entries(NAMES_OF_FIELD);

/** The number of each such attribute. */
export const Field = Object.fromEntries(FIELD_NAMES.map(([field], index) => [field, index])) as Readonly<
  Record<keyof typeof NAMES_OF_FIELD, number>
>;

const FIELDS = FIELD_NAMES.flatMap(([, names], field) => names.split(" ").map((name) => ({ name, field })));
const NAMES = new CodeWords(FIELDS.map(({ name }) => name));

/**
 * The attributes of the start tag that is being read. Values are kept as offsets and become strings only when they
 * are read, which most never are.
 */
export class StartTagAttributes {
  readonly #html: string;
  readonly #codes: Uint16Array;
  readonly #entities: EntityText;
  readonly #start = new Int32Array(FIELD_NAMES.length);
  readonly #end = new Int32Array(FIELD_NAMES.length);
  /** One bit for each field that the tag has. */
  #held = 0;

  constructor(html: string, codes: Uint16Array, entities: EntityText) {
    this.#html = html;
    this.#codes = codes;
    this.#entities = entities;
  }

  /** Forgets the previous tag. */
  clear(): void {
    this.#held = 0;
  }

  /** Keeps an attribute that the scanner knows. The first of two with the same name counts, as in browsers. */
  add(nameStart: number, nameEnd: number, start: number, end: number): void {
    const index = NAMES.find(this.#codes, nameStart, nameEnd);
    if (index < 0) return;
    const field = FIELDS[index]!.field;
    if ((this.#held & (1 << field)) !== 0) return;
    this.#held |= 1 << field;
    this.#start[field] = start;
    this.#end[field] = end;
  }

  has(field: number): boolean {
    return (this.#held & (1 << field)) !== 0;
  }

  /** Returns the value with its entities decoded, or null when the tag has no such attribute. */
  get(field: number): string | null {
    if ((this.#held & (1 << field)) === 0) return null;
    const start = this.#start[field]!;
    const end = this.#end[field]!;
    const value = this.#html.slice(start, end);
    return value.includes("&") ? this.#entities.attribute(start, end) : value;
  }

  /** The value's first character in the page and the one after it. The tag must have the attribute. */
  startOf(field: number): number {
    return this.#start[field]!;
  }
  endOf(field: number): number {
    return this.#end[field]!;
  }
}

/**
 * The groups of words in classes, ids and roles, one bit for each group that sites use alike. They hold general words
 * and no names of sites. The order is part of the trained model: append, never insert.
 */
const GROUP_WORDS = [
  "nav navigation navbar menu menubar submenu megamenu topbar tabbar sitenav mainnav mobilenav toc toggle",
  "footer foot colophon bottombar contentinfo copyright legal imprint impressum",
  "header head masthead banner topnav siteheader sitehead globalheader",
  "sidebar side aside rail complementary leftcol rightcol secondary widgetarea sidenav gutter",
  "comment comments commentlist disqus respond kommentar kommentare comentarios commentaires discussion",
  "share sharing social socials addthis addtoany sharedaddy facebook twitter whatsapp pinterest linkedin follow",
  "related relatedposts recommend recommended recommendation recommendations similar more readmore alsolike upsell crosssell morefrom trending popular latest mostread suggested suggestions recirc recirculation outbrain taboola teaser teasers promo promos viewed",
  "ad ads adv advert advertisement advertising sponsor sponsored sponsors adsense dfp gpt werbung anzeige publicidad",
  "cookie cookies consent gdpr cmp onetrust ccpa cookiebot privacy",
  "modal popup popover dialog overlay lightbox offcanvas drawer flyout dropdown tooltip toast alertdialog",
  "breadcrumb breadcrumbs crumbs crumb breadcrumblist",
  "article articlebody content contents entry entrycontent post postbody postcontent body story storybody text richtext rte prose copy maincontent bodytext articlecontent wysiwyg editor markdown mw",
  "main primary maincol center",
  "product pdp products sku variant price prices pricing buy cart addtocart basket checkout shop store",
  "card cards item items grid tile tiles results result listing listings list collection catalog",
  "author byline bio writer autor auteur contributor avatar profile username user",
  "meta date time timestamp published postmeta info entrymeta dateline pubdate datum",
  "tag tags category categories topics topic label labels keywords taxonomy cat tagcloud badge",
  "search searchform searchbox searchbar filter filters facet facets sort sorting refine",
  "form login signin signup register subscribe subscription newsletter optin mailchimp email field",
  "caption figcaption figure credit credits gallery image img media photo photos thumbnail thumb",
  "widget widgets plugin embed module",
  "hero intro lead lede dek standfirst excerpt summary subtitle subhead abstract teasertext",
  "faq faqs accordion tab tabs tabpanel panel collapse collapsed collapsible expand expandable pane toggle-content details disclosure",
  "review reviews rating ratings stars testimonial testimonials feedback",
  "thread threads message messages reply replies forum answer answers question posts postlist bbs topicpost postmessage bbwrapper",
  "description desc spec specs specification specifications features attributes detail information",
  "title heading headline h1 h2 name",
  "pagination pager paging pages page-numbers prev next previous pagenav",
  "code highlight syntax snippet pre codeblock hljs prism",
  "carousel slider slideshow slide slick swiper owl splide flickity ticker marquee",
  "hidden hide invisible sr visually visuallyhidden screen reader offscreen noprint d-none",
] as const;

/** The number of groups; group `n` is bit `n` of a mask. */
export const GROUP_COUNT = GROUP_WORDS.length;

const WORDS = new WordLists(GROUP_WORDS);

/** Longer values are data, not names. */
const MAX_NAME_LENGTH = 400;
const scratch = new Uint16Array(MAX_NAME_LENGTH);

/** Returns the groups that the words of a class list, id or role belong to, as a bit mask. */
export function groupsOf(value: string): number {
  const length = Math.min(value.length, MAX_NAME_LENGTH);
  for (let at = 0; at < length; at++) scratch[at] = value.charCodeAt(at);
  return groupsAt(scratch, 0, length);
}

/** Does the same for the value at these UTF-16 units. */
export function groupsAt(codes: Uint16Array, start: number, end: number): number {
  const last = Math.min(end, start + MAX_NAME_LENGTH);
  let mask = 0;
  for (let at = start; at < last; ) {
    if (isWhiteSpace(codes[at]!)) {
      at++;
      continue;
    }
    const first = at;
    while (at < last && !isWhiteSpace(codes[at]!)) at++;
    mask |= WORDS.find(codes, first, at) | groupsOfParts(codes, first, at);
  }
  return mask;
}

export const isLower = (code: number): boolean => (code - 97) >>> 0 < 26;
export const isCapital = (code: number): boolean => (code - 65) >>> 0 < 26;

/** Finds the groups of a name's parts: letters, split where a capital starts one ("navBar", "HTMLBody"). */
function groupsOfParts(codes: Uint16Array, start: number, end: number): number {
  let mask = 0;
  for (let at = start; at < end; ) {
    let first = at;
    while (at < end && isCapital(codes[at]!)) at++;
    const capitals = at - first;
    const isWord = at < end && isLower(codes[at]!);
    if (capitals > 0 && !isWord) mask |= WORDS.find(codes, first, at);
    else if (capitals > 1) mask |= WORDS.find(codes, first, at - 1);
    if (capitals > 1 && isWord) first = at - 1;
    if (isWord) {
      while (at < end && isLower(codes[at]!)) at++;
      mask |= WORDS.find(codes, first, at);
    } else if (capitals === 0) at++;
  }
  return mask;
}

/** The group of each role. */
const ROLES = `navigation 0 menu 0 menubar 0 contentinfo 1 banner 2 complementary 3 dialog 9 alertdialog 9 main 12 search 18
  tabpanel 23 form 19`;
const ROLE_GROUPS = new Map(
  Array.from(ROLES.matchAll(/(\w{1,20}) (\d{1,2})/g), ([, role = "", group]) => [role, 1 << Number(group)]),
);

/** Returns the groups of an ARIA role; they count like a class of that name. */
export const groupsOfRole = (role: string): number => ROLE_GROUPS.get(role.trim().toLowerCase()) ?? 0;
