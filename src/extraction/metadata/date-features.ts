import { typesOf } from "../json-ld.ts";
import type { ScannedPage } from "../page/page-model.ts";
import { PAGE_TYPES } from "../types.ts";
import {
  DATE_KINDS,
  type DateKind,
  type DateMention,
  type ShownDate,
  saysModified,
} from "./date-mentions.ts";
import type { MetadataPage } from "./metadata-page.ts";
import { Around, type Places } from "./places.ts";
import { daysBetween } from "./written-dates.ts";

/** A day that a page names, with every place that names it. */
export type DayCandidate = { readonly day: string; readonly mentions: readonly DateMention[] };

export const MODIFIED_KINDS: readonly DateKind[] = ["jsonLdModified", "metaModified", "timeModified"];

/** The days of these mentions, each once, in the order in which they were found. */
export function groupByDay(mentions: readonly DateMention[]): DayCandidate[] {
  const days = new Map<string, DateMention[]>();
  for (const mention of mentions) {
    const day = mention.value.slice(0, 10);
    const known = days.get(day);
    if (known) known.push(mention);
    else if (days.size < MAX_DAYS) days.set(day, [mention]);
  }
  return Array.from(days, ([day, named]) => ({ day, mentions: named }));
}

/** Whether a page may have been published on this day: a change that nobody sees is no publication. */
export const mayBePublication = ({ mentions }: DayCandidate): boolean =>
  mentions.some(({ kind, shown }) => shown !== null || !MODIFIED_KINDS.includes(kind));

const MAX_DAYS = 24;

/** Names of the numbers that say whether a page is of a kind that names its day and its author. */
const PAGE_CUES = [
  "cue.articleLd",
  "cue.productLd",
  "cue.pageLd",
  "cue.personLd",
  "cue.openGraphType",
  "cue.publishedMeta",
  "cue.pathDepth",
  "cue.pathPost",
  "cue.pathReference",
  "cue.pathShop",
  "cue.slugWords",
  "cue.titleWords",
  "cue.contentBlocks",
  "cue.contentChars",
  "cue.commented",
  "cue.marked",
] as const;

/** Names of the numbers about a day, in their order. */
export const DATE_FEATURES = [
  ...DATE_KINDS.map((kind) => `is.${kind}`),
  ...DATE_KINDS.slice(0, 8).map((kind) => `page.${kind}`),
  "mentions",
  "kinds",
  "shownCount",
  "distance",
  "titleDistance",
  "endDistance",
  "isContent",
  "otherChars",
  "lineChars",
  "saysPublished",
  "saysModified",
  "saysOther",
  "namedPublished",
  "namedModified",
  "namedDate",
  "namedAuthor",
  "namedHeader",
  "namedComment",
  "namedRelated",
  "namedCard",
  "namedReview",
  "namedThread",
  "namedProduct",
  "inNav",
  "inHeader",
  "inFooter",
  "inAside",
  "inArticle",
  "inList",
  "inTable",
  "isLinked",
  "isHidden",
  "twins",
  "order",
  "days",
  "shownDays",
  "earlierDays",
  "sincePublished",
  "sinceModified",
  "sinceShownFirst",
  "urlMonth",
  "hasUrlMonth",
  "openGraphArticle",
  "pageType",
  "titleRank",
  "nearestToTitle",
  "publishedIsShown",
  "labelledPublished",
  "labelledModified",
  "shownNeighbour",
  "neighbour",
  "hour",
  "isModified",
  ...PAGE_CUES,
] as const;

/** What the days of a page are measured against. */
export type DateContext = {
  readonly page: MetadataPage;
  /** Every day that the page names, also those that cannot be its publication's. */
  readonly all: readonly DayCandidate[];
  readonly titleBlock: number;
};

/** A row of numbers for each day. */
export function computeDateFeatures(days: readonly DayCandidate[], context: DateContext): Float32Array {
  const rows = new Float32Array(days.length * DATE_FEATURES.length);
  const shared = describePage(context);
  days.forEach((candidate, index) => {
    rows.set(describe(candidate, context.page, shared), index * DATE_FEATURES.length);
  });
  return rows;
}

type Shared = {
  readonly titleBlock: number;
  readonly kinds: ReadonlySet<DateKind>;
  readonly published: string | null;
  readonly modified: string | null;
  readonly firstShown: string | null;
  readonly sorted: readonly string[];
  readonly shownDays: readonly string[];
  readonly urlMonth: string | null;
  /** The days by how far from the title they are shown, the nearest first. */
  readonly fromTitle: readonly { readonly day: string; readonly steps: number }[];
  /** Whether some shown date is labelled as that of the publication, or of a change. */
  readonly saysPublished: boolean;
  readonly saysModified: boolean;
  readonly cues: readonly number[];
  /** How many dates are shown by elements of the same tag and class. */
  readonly looks: ReadonlyMap<number, number>;
};

function describePage({ all: days, page, titleBlock }: DateContext): Shared {
  const dayOf = (...kinds: readonly DateKind[]): string | null =>
    days.find(({ mentions }) => mentions.some(({ kind }) => kinds.includes(kind)))?.day ?? null;
  const shown = days
    .map(({ day, mentions }) => ({ day, block: bestShown(mentions, page.places, titleBlock)?.block ?? -1 }))
    .filter(({ block }) => block >= 0)
    .sort((one, other) => one.block - other.block);
  const labels = days.flatMap(({ mentions }) => mentions.flatMap(({ shown: place }) => place?.before ?? []));
  const looks = new Map<number, number>();
  for (const { mentions } of days) {
    for (const { shown: place } of mentions) {
      if (place) looks.set(lookOf(place, page.places), (looks.get(lookOf(place, page.places)) ?? 0) + 1);
    }
  }
  const month = /[/_-](20\d\d)[/_-]?(0[1-9]|1[0-2])(?!\d)/.exec(page.url?.pathname ?? "");
  return {
    titleBlock,
    kinds: new Set(days.flatMap(({ mentions }) => mentions.map(({ kind }) => kind))),
    published: dayOf("jsonLdPublished", "jsonLdPagePublished", "metaPublished", "timePublished"),
    modified: dayOf("jsonLdModified", "metaModified", "timeModified"),
    firstShown: shown[0]?.day ?? null,
    sorted: days.map(({ day }) => day).sort(),
    shownDays: shown.map(({ day }) => day),
    urlMonth: month ? `${month[1]}-${month[2]}` : null,
    fromTitle: shown
      .map(({ day, block }) => ({ day, steps: Math.abs(block - Math.max(titleBlock, 0)) }))
      .sort((one, other) => one.steps - other.steps),
    saysPublished: labels.some((before) => SAYS_PUBLISHED.test(before)),
    saysModified: labels.some(saysModified),
    cues: describeCues(page),
    looks,
  };
}

const lookOf = ({ element }: ShownDate, { model }: Places): number =>
  model.tag[element]! * 65536 + (model.classId[element]! & 65535);

/** The place of a day nearest to the title, or else to the start of the content. */
function bestShown(mentions: readonly DateMention[], places: Places, titleBlock: number): ShownDate | null {
  const anchor = titleBlock >= 0 ? titleBlock : places.first;
  let best: ShownDate | null = null;
  for (const { shown } of mentions) {
    if (shown && (!best || Math.abs(shown.block - anchor) < Math.abs(best.block - anchor))) best = shown;
  }
  return best;
}

const FAR = 60;
const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));
const flag = (value: boolean): number => (value ? 1 : 0);
const MAX_DAYS_APART = 3000;
const UNKNOWN_DAYS = 9999;

function since(from: string | null, day: string): number {
  return from === null ? UNKNOWN_DAYS : clip(daysBetween(from, day), MAX_DAYS_APART);
}

function describe({ day, mentions }: DayCandidate, page: MetadataPage, shared: Shared): number[] {
  const kinds = new Set(mentions.map(({ kind }) => kind));
  const shown = bestShown(mentions, page.places, shared.titleBlock);
  return [
    ...DATE_KINDS.map((kind) => flag(kinds.has(kind))),
    ...DATE_KINDS.slice(0, 8).map((kind) => flag(shared.kinds.has(kind))),
    mentions.length,
    kinds.size,
    mentions.filter((mention) => mention.shown !== null).length,
    ...describeShown(shown, page.places, shared),
    shared.shownDays.indexOf(day),
    shared.sorted.length,
    shared.shownDays.length,
    shared.sorted.indexOf(day),
    since(shared.published, day),
    since(shared.modified, day),
    since(shared.firstShown, day),
    flag(shared.urlMonth !== null && day.startsWith(shared.urlMonth)),
    flag(shared.urlMonth !== null),
    flag(/article/i.test(page.meta.get("og:type") ?? "")),
    page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType),
    shared.fromTitle.findIndex((other) => other.day === day),
    shared.fromTitle[0]?.steps ?? -1,
    flag(shared.published !== null && shared.shownDays.includes(shared.published)),
    flag(shared.saysPublished),
    flag(shared.saysModified),
    flag(shared.shownDays.some((other) => Math.abs(daysBetween(other, day)) === 1)),
    flag(shared.sorted.some((other) => Math.abs(daysBetween(other, day)) === 1)),
    hourOf(mentions),
    flag(mentions.some(({ kind }) => MODIFIED_KINDS.includes(kind))),
    ...shared.cues,
  ];
}

/** The hour at which a day is said to have begun for the page; -1 where none is said. */
function hourOf(mentions: readonly DateMention[]): number {
  const timed = mentions.find(({ value }) => value.length > 10);
  return timed ? Number(timed.value.slice(11, 13)) : -1;
}

const SAYS_PUBLISHED =
  /publi|posted|written|released?|veröffentlicht|erschienen|geplaatst|opublikowan|опубликован|发布|發布|公開|投稿|掲載|게시|입력/i;
const SAYS_OTHER =
  /©|copyright|joined|registered|member since|until|expires|deadline|founded|born|valid|version|accessed|retrieved/i;

/** Groups of names, see `groupsOf`. */
const GROUPS = {
  date: 16,
  author: 15,
  header: 2,
  comment: 4,
  related: 6,
  card: 14,
  review: 24,
  thread: 25,
  product: 13,
};

function describeShown(shown: ShownDate | null, places: Places, { titleBlock, looks }: Shared): number[] {
  if (shown === null) return NOT_SHOWN;
  const { block, element, before, otherChars } = shown;
  const { model } = places;
  const { tags, groups, nearGroups } = places.surroundings(element);
  const inside = (bit: number): number => flag((tags & bit) !== 0);
  const named = (group: number): number => flag((groups & (1 << group)) !== 0);
  const near = (group: number): number => flag((nearGroups & (1 << group)) !== 0);
  const names = namesAround(model, element);
  return [
    clip(block - places.first, FAR),
    titleBlock < 0 ? FAR + 1 : clip(block - titleBlock, FAR),
    clip(block - places.last, FAR),
    flag(places.isContent(block)),
    otherChars,
    model.blocks.text[block]!.length,
    flag(SAYS_PUBLISHED.test(before)),
    flag(saysModified(before)),
    flag(SAYS_OTHER.test(before)),
    flag(/publi|posted|created/i.test(names)),
    flag(/updat|modif|changed|edited|revis/i.test(names)),
    near(GROUPS.date),
    near(GROUPS.author),
    near(GROUPS.header),
    named(GROUPS.comment),
    named(GROUPS.related),
    named(GROUPS.card),
    named(GROUPS.review),
    named(GROUPS.thread),
    named(GROUPS.product),
    inside(Around.nav),
    inside(Around.header),
    inside(Around.footer),
    inside(Around.aside),
    inside(Around.article),
    inside(Around.list),
    inside(Around.table),
    flag((model.flags[element]! & LINK) !== 0),
    flag(places.isHidden(element)),
    looks.get(lookOf(shown, places)) ?? 0,
  ];
}

const LINK = 1;
const SHOWN_FEATURES = 30;
const NOT_SHOWN: number[] = [FAR + 2, FAR + 2, FAR + 2, ...new Array<number>(SHOWN_FEATURES - 3).fill(-1)];

/** Classes and ids of an element and the two around it. */
function namesAround({ names, classId, idId, parent }: ScannedPage["model"], element: number): string {
  let all = "";
  for (let step = 0, at = element; step < 3 && at >= 0; step++, at = parent[at]!) {
    all += ` ${names[classId[at]!]!.slice(0, 200)} ${names[idId[at]!]!.slice(0, 100)}`;
  }
  return all;
}

const POST =
  /\/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|press|insights?|magazine|journal|reviews?|podcast)\b|\/20\d\d\//i;
const REFERENCE =
  /^docs?\.|\/(?:docs?|documentation|manual|reference|api|help|support|wiki|handbook|tutorials?)\b/i;
const SHOP = /\/(?:products?|shop|store|items?|categor(?:y|ies)|collections?|services?|pricing|p|dp)\b/i;
const COMMENT_GROUP = 1 << 4;

/** A row of `PAGE_CUES`. */
function describeCues({ jsonLd, meta, url, facts, places }: MetadataPage): number[] {
  const types = new Set(jsonLd.flatMap(typesOf));
  const has = (pattern: RegExp): number => Number([...types].some((type) => pattern.test(type)));
  const kind = meta.get("og:type") ?? "";
  const address = url === null ? "" : url.hostname + url.pathname;
  const steps = url === null ? [] : url.pathname.split("/").filter(Boolean);
  const { text } = places.model.blocks;
  return [
    has(/Article$|Posting$|^Report$/),
    has(/^Product/),
    has(/Page$/),
    Number(jsonLd.some(({ author }) => author !== undefined)),
    kind === "" ? -1 : /article/i.test(kind) ? 2 : /product/i.test(kind) ? 1 : 0,
    Number(meta.has("article:published_time")),
    url === null ? -1 : steps.length,
    Number(POST.test(address)),
    Number(REFERENCE.test(address)),
    Number(SHOP.test(address)),
    (steps.at(-1) ?? "").split(/[-_]+/).length,
    facts.title.split(/\s+/).length,
    places.contentBlocks.length,
    places.contentBlocks.reduce((sum, block) => sum + text[block]!.length, 0),
    Number(places.model.groups.some((groups) => (groups & COMMENT_GROUP) !== 0)),
    facts.authors.length,
  ];
}
