import { each, features, flag, given, joined, ofPart, rowsOf } from "../features.ts";
import { ElementFlag, type ScannedPage } from "../page/page-model.ts";
import { PAGE_TYPES } from "../types.ts";
import {
  DATE_KINDS,
  type DateKind,
  type DateMention,
  type ShownDate,
  saysModified,
} from "./date-mentions.ts";
import { typesOf } from "./declared.ts";
import {
  AROUND_FEATURES,
  clip,
  DISTANCES,
  grouped,
  type MetadataPage,
  NAMED_FEATURES,
  NameGroup,
  named,
  near,
  type Places,
} from "./metadata-page.ts";
import { daysBetween } from "./written-dates.ts";

/** A day, with every mention of it on the page. */
export type DayCandidate = { readonly day: string; readonly mentions: readonly DateMention[] };

export const MODIFIED_KINDS: readonly DateKind[] = ["jsonLdModified", "metaModified", "timeModified"];

/** Groups these mentions by day, in the order in which the days were found. */
export function groupByDay(mentions: readonly DateMention[]): DayCandidate[] {
  const days = grouped(mentions, ({ value }) => value.slice(0, 10), MAX_DAYS);
  return Array.from(days, ([day, same]) => ({ day, mentions: same }));
}

/**
 * Tells whether a page may have been published on this day; a date of change that is not visible does not count.
 */
export const mayBePublication = ({ mentions }: DayCandidate): boolean =>
  mentions.some(({ kind, shown }) => shown !== null || !MODIFIED_KINDS.includes(kind));

const MAX_DAYS = 24;

const SAYS_PUBLISHED =
  /publi|posted|written|released?|veröffentlicht|erschienen|geplaatst|opublikowan|опубликован|发布|發布|公開|投稿|掲載|게시|입력/i;
const SAYS_OTHER =
  /©|copyright|joined|registered|member since|until|expires|deadline|founded|born|valid|version|accessed|retrieved/i;

const POST =
  /\/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|press|insights?|magazine|journal|reviews?|podcast)\b|\/20\d\d\//i;
const REFERENCE =
  /^docs?\.|\/(?:docs?|documentation|manual|reference|api|help|support|wiki|handbook|tutorials?)\b/i;
const SHOP = /\/(?:products?|shop|store|items?|categor(?:y|ies)|collections?|services?|pricing|p|dp)\b/i;
const COMMENT_GROUP = 1 << NameGroup.comment;

/** These features say whether pages of this kind usually state their day and author. */
const PAGE_CUES = features<MetadataPage>({
  "cue.articleLd": (page) => hasType(page, /Article$|Posting$|^Report$/),
  "cue.productLd": (page) => hasType(page, /^Product/),
  "cue.pageLd": (page) => hasType(page, /Page$/),
  "cue.personLd": ({ jsonLd }) => flag(jsonLd.some(({ author }) => author !== undefined)),
  "cue.openGraphType": ({ meta }) => rankOfKind(meta.get("og:type") ?? ""),
  "cue.publishedMeta": ({ meta }) => flag(meta.has("article:published_time")),
  "cue.pathDepth": ({ url }) => (url === null ? -1 : stepsOf(url).length),
  "cue.pathPost": ({ url }) => flag(POST.test(addressOf(url))),
  "cue.pathReference": ({ url }) => flag(REFERENCE.test(addressOf(url))),
  "cue.pathShop": ({ url }) => flag(SHOP.test(addressOf(url))),
  "cue.slugWords": ({ url }) => (stepsOf(url).at(-1) ?? "").split(/[-_]+/).length,
  "cue.titleWords": ({ facts }) => facts.title.split(/\s+/).length,
  "cue.contentBlocks": ({ places }) => places.contentBlocks.length,
  "cue.contentChars": ({ places: { contentBlocks, model } }) =>
    contentBlocks.reduce((sum, block) => sum + model.blocks.text[block]!.length, 0),
  "cue.commented": ({ places }) => flag(places.model.groups.some((groups) => (groups & COMMENT_GROUP) !== 0)),
  "cue.marked": ({ facts }) => facts.authors.length,
});

const hasType = ({ jsonLd }: MetadataPage, pattern: RegExp): number =>
  flag(jsonLd.some((object) => typesOf(object).some((type) => pattern.test(type))));

const rankOfKind = (kind: string): number =>
  kind === "" ? -1 : /article/i.test(kind) ? 2 : /product/i.test(kind) ? 1 : 0;

const addressOf = (url: URL | null): string => (url === null ? "" : url.hostname + url.pathname);
const stepsOf = (url: URL | null): readonly string[] => url?.pathname.split("/").filter(Boolean) ?? [];

/** A visible date, and its surroundings. */
type Shown = ReturnType<typeof lookAround>;

const SHOWN = features<Shown>({
  isContent: ({ places, block }) => flag(places.isContent(block)),
  otherChars: ({ otherChars }) => otherChars,
  lineChars: ({ places, block }) => places.model.blocks.text[block]!.length,
  saysPublished: ({ before }) => flag(SAYS_PUBLISHED.test(before)),
  saysModified: ({ before }) => flag(saysModified(before)),
  saysOther: ({ before }) => flag(SAYS_OTHER.test(before)),
  namedPublished: ({ names }) => flag(/publi|posted|created/i.test(names)),
  namedModified: ({ names }) => flag(/updat|modif|changed|edited|revis/i.test(names)),
  namedDate: near(NameGroup.date),
  namedAuthor: near(NameGroup.author),
  namedHeader: near(NameGroup.header),
  ...NAMED_FEATURES,
  namedProduct: named(NameGroup.product),
  ...AROUND_FEATURES,
  isLinked: ({ places, element }) => flag((places.model.flags[element]! & ElementFlag.link) !== 0),
  isHidden: ({ places, element }) => flag(places.isHidden(element)),
  twins: ({ looks, places, element }) => looks.get(lookOf(element, places)) ?? 0,
});

/** A day with its page. */
type Described = ReturnType<typeof describe>;

const FEATURES = joined<Described>(
  each(DATE_KINDS, "is.", ({ kinds }, kind) => flag(kinds.has(kind))),
  each(DATE_KINDS.slice(0, 8), "page.", ({ shared }, kind) => flag(shared.kinds.has(kind))),
  features({
    mentions: ({ mentions }) => mentions.length,
    kinds: ({ kinds }) => kinds.size,
    shownCount: ({ mentions }) => mentions.filter((mention) => mention.shown !== null).length,
  }),
  DISTANCES,
  ofPart(({ shown }) => shown, -1, SHOWN),
  features({
    order: ({ day, shared }) => shared.shownDays.indexOf(day),
    days: ({ shared }) => shared.sorted.length,
    shownDays: ({ shared }) => shared.shownDays.length,
    earlierDays: ({ day, shared }) => shared.sorted.indexOf(day),
    sincePublished: ({ day, shared }) => since(shared.published, day),
    sinceModified: ({ day, shared }) => since(shared.modified, day),
    sinceShownFirst: ({ day, shared }) => since(shared.firstShown, day),
    urlMonth: ({ day, shared }) => flag(shared.urlMonth !== null && day.startsWith(shared.urlMonth)),
    hasUrlMonth: ({ shared }) => flag(shared.urlMonth !== null),
    openGraphArticle: ({ page }) => flag(/article/i.test(page.meta.get("og:type") ?? "")),
    pageType: ({ page }) => (page.pageType === null ? -1 : PAGE_TYPES.indexOf(page.pageType)),
    titleRank: ({ day, shared }) => shared.fromTitle.findIndex((other) => other.day === day),
    nearestToTitle: ({ shared }) => shared.fromTitle[0]?.steps ?? -1,
    publishedIsShown: ({ shared }) =>
      flag(shared.published !== null && shared.shownDays.includes(shared.published)),
    labelledPublished: ({ shared }) => flag(shared.saysPublished),
    labelledModified: ({ shared }) => flag(shared.saysModified),
    shownNeighbour: ({ day, shared }) =>
      flag(shared.shownDays.some((other) => Math.abs(daysBetween(other, day)) === 1)),
    neighbour: ({ day, shared }) =>
      flag(shared.sorted.some((other) => Math.abs(daysBetween(other, day)) === 1)),
    hour: ({ mentions }) => hourOf(mentions),
    isModified: ({ mentions }) => flag(mentions.some(({ kind }) => MODIFIED_KINDS.includes(kind))),
  }),
  given(PAGE_CUES.names, ({ shared }) => shared.cues),
);

/** The names of a day's features, in their order. */
export const DATE_FEATURES = FEATURES.names;

/** The context that the days of a page are compared with. */
export type DateContext = {
  readonly page: MetadataPage;
  /** Every day that the page mentions, including days on which it cannot have been published. */
  readonly all: readonly DayCandidate[];
  readonly titleBlock: number;
};

/** Computes a row of features for each day. */
export function computeDateFeatures(days: readonly DayCandidate[], context: DateContext): Float32Array {
  const shared = describePage(context);
  return rowsOf(
    FEATURES,
    days.map((candidate) => describe(candidate, context.page, shared)),
  );
}

type Shared = ReturnType<typeof describePage>;

function describePage({ all: days, page, titleBlock }: DateContext) {
  const dayOf = (...kinds: readonly DateKind[]): string | null =>
    days.find(({ mentions }) => mentions.some(({ kind }) => kinds.includes(kind)))?.day ?? null;
  const shown = days
    .map(({ day, mentions }) => ({ day, block: page.places.nearest(mentions, titleBlock)?.block ?? -1 }))
    .filter(({ block }) => block >= 0)
    .sort((one, other) => one.block - other.block);
  const labels = days.flatMap(({ mentions }) => mentions.flatMap(({ shown: place }) => place?.before ?? []));
  /** The number of dates in elements of the same tag and class. */
  const looks = new Map<number, number>();
  for (const { mentions } of days) {
    for (const { shown: place } of mentions) {
      if (place === null) continue;
      const look = lookOf(place.element, page.places);
      looks.set(look, (looks.get(look) ?? 0) + 1);
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
    // The days by their distance from the title, the nearest first.
    fromTitle: shown
      .map(({ day, block }) => ({ day, steps: Math.abs(block - Math.max(titleBlock, 0)) }))
      .sort((one, other) => one.steps - other.steps),
    // Whether a visible date is labelled as that of the publication, or of a change.
    saysPublished: labels.some((before) => SAYS_PUBLISHED.test(before)),
    saysModified: labels.some(saysModified),
    cues: rowsOf(PAGE_CUES, [page]),
    looks,
  };
}

const lookOf = (element: number, { model }: Places): number =>
  model.tag[element]! * 65536 + (model.classId[element]! & 65535);

const MAX_DAYS_APART = 3000;
const UNKNOWN_DAYS = 9999;

function since(from: string | null, day: string): number {
  return from === null ? UNKNOWN_DAYS : clip(daysBetween(from, day), MAX_DAYS_APART);
}

function describe({ day, mentions }: DayCandidate, page: MetadataPage, shared: Shared) {
  const shown = page.places.nearest(mentions, shared.titleBlock);
  return {
    ...{ day, mentions, page, shared },
    kinds: new Set(mentions.map(({ kind }) => kind)),
    shown: shown === null ? null : lookAround(shown, page.places, shared),
  };
}

function lookAround(shown: ShownDate, places: Places, { looks }: Shared) {
  return {
    ...shown,
    ...places.surroundings(shown.element),
    ...{ places, looks },
    names: namesAround(places.model, shown.element),
  };
}

/** Reads the hour at which the page was published on that day; -1 when none is stated. */
function hourOf(mentions: readonly DateMention[]): number {
  const timed = mentions.find(({ value }) => value.length > 10);
  return timed ? Number(timed.value.slice(11, 13)) : -1;
}

/** Collects the classes and ids of an element and of the two around it. */
function namesAround({ names, classId, idId, parent }: ScannedPage["model"], element: number): string {
  let all = "";
  for (let step = 0, at = element; step < 3 && at >= 0; step++, at = parent[at]!) {
    all += ` ${names[classId[at]!]!.slice(0, 200)} ${names[idId[at]!]!.slice(0, 100)}`;
  }
  return all;
}
