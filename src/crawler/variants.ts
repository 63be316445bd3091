import type { Extraction } from "../extraction/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { CrawlPlan } from "./plan.ts";

/** Why a page that is there in another language or version is left out. */
type VariantRefusal = "other_language" | "other_version";

type VariantFacts = Pick<Extraction, "translations" | "canonical" | "links">;

/** The names that sites give to a version in place of its number, those first that most readers want. */
const NAMES = [
  "latest",
  "stable",
  "current",
  "release",
  "main",
  "master",
  "dev",
  "devel",
  "next",
  "nightly",
  "edge",
];
const RELEASED = 4;
const VERSION = new RegExp(`^(?:v?\\d{1,4}(?:\\.(?:\\d{1,4}|x)){1,3}|v\\d{1,4}|${NAMES.join("|")})$`, "i");
/** This many versions of one page are a list of them; two may be a page about a change. */
const MIN_VERSIONS = 3;
const START = /\/(?:index\.html?)?$/;
/** Beyond these a crawl requests a few pages more. */
const MAX_PLACES = 1000;
const MAX_URLS = 100_000;

/** The versions at a place of an address, the one that is taken, and whether a page names it. */
type VersionPlace = { readonly met: Set<string>; chosen: string; isNamed: boolean };

/**
 * Leaves out what a site also has in the wanted language or version, by what its pages say of each other: `hreflang`, the
 * canonical address, and the links of a page to its own other versions. Nothing is guessed from an address alone.
 */
export class Variants {
  readonly #wanted: Pick<CrawlPlan, "oneLanguage" | "oneVersion">;
  /** Addresses of pages in other languages, and the folders and parameters that mean such a language. */
  readonly #foreign = new Set<string>();
  readonly #foreignFolders = new Set<string>();
  /** The versions that were met at a place of an address, and the one that is taken. */
  readonly #versions = new Map<string, VersionPlace>();

  constructor(plan: Pick<CrawlPlan, "oneLanguage" | "oneVersion">) {
    this.#wanted = plan;
  }

  /** Learns from a page. @returns why it is itself left out; null when it is taken */
  note(url: PageUrl, facts: VariantFacts): VariantRefusal | null {
    const { oneLanguage, oneVersion } = this.#wanted;
    if (oneLanguage !== null) this.#noteTranslations(oneLanguage, facts);
    if (oneVersion !== null) this.#noteVersions(oneVersion, url, facts);
    return this.refusalOf(url);
  }

  /** Why a URL is left out, as far as pages have told; null when it is taken. */
  refusalOf(url: PageUrl): VariantRefusal | null {
    if (this.#foreign.has(url)) return "other_language";
    if (this.#foreignFolders.size === 0 && this.#versions.size === 0) return null;
    if (parametersOf(url).some((parameter) => this.#foreignFolders.has(parameter))) return "other_language";
    for (const { before, segment } of segmentsOf(url)) {
      if (this.#foreignFolders.has(`${before}${segment}`.toLowerCase())) return "other_language";
      const place = this.#versions.get(before);
      if (place && VERSION.test(segment) && place.chosen !== segment.toLowerCase()) return "other_version";
    }
    return null;
  }

  /** The page in the wanted language, for one that is left out. */
  wantedFor({ translations = [] }: VariantFacts): PageUrl | null {
    const { oneLanguage } = this.#wanted;
    if (oneLanguage === null) return null;
    return translations.find(({ language }) => isLanguage(language, oneLanguage))?.url ?? null;
  }

  #noteTranslations(wanted: string, facts: VariantFacts): void {
    const own = this.wantedFor(facts);
    if (own === null || this.#foreign.size > MAX_URLS) return;
    for (const { url, language } of facts.translations ?? []) {
      if (isLanguage(language, wanted) || language === "x-default" || url === own) continue;
      this.#foreign.add(url);
      const folder = foreignFolder(url, own, language) ?? foreignParameter(url, own, language);
      if (folder !== null && this.#foreignFolders.size < MAX_PLACES) this.#foreignFolders.add(folder);
    }
  }

  #noteVersions(wanted: string, url: PageUrl, { canonical, links }: VariantFacts): void {
    for (const place of segmentsOf(url)) {
      const { before, segment, after } = place;
      if (!VERSION.test(segment)) continue;
      const { met, isList } = versionsAt(place, links);
      const named = canonical === null || canonical === url ? null : versionIn(canonical, place);
      // The page without a version, which some sites have for the latest.
      const isBare =
        wanted === "latest" && canonical !== null && canonical === `${before.slice(0, -1)}${after}`;
      if (named === null && !isBare && !isList && !this.#versions.has(before)) continue;
      if (named !== null) met.add(named);
      this.#addVersions(before, met, isBare ? "" : chosenOf(wanted, named));
    }
  }

  #addVersions(before: string, met: ReadonlySet<string>, named: string | null): void {
    if (this.#versions.size > MAX_PLACES) return;
    const place = this.#versions.get(before) ?? { met: new Set<string>(), chosen: "", isNamed: false };
    for (const version of met) place.met.add(version);
    // What a page names counts for all; otherwise the latest of those that were met.
    if (named !== null) place.chosen = named;
    else if (!place.isNamed) place.chosen = latestOf([...place.met]);
    place.isNamed ||= named !== null;
    this.#versions.set(before, place);
  }
}

type Place = { readonly before: string; readonly segment: string; readonly after: string };

/** The version of the same page that another URL is, or of whose start, to which many lists of versions lead. */
function versionIn(other: PageUrl, { before, after }: Place): string | null {
  if (!other.startsWith(before)) return null;
  const rest = other.slice(before.length);
  const end = rest.endsWith(after) ? rest.length - after.length : START.exec(rest)?.index;
  const name = rest.slice(0, end ?? 0);
  return VERSION.test(name) ? name.toLowerCase() : null;
}

/**
 * The versions of a page that its links name, and whether these are a list of versions. Notes on releases have their
 * numbers in a row, too, but no page in each of them, and no latest one.
 */
function versionsAt(place: Place, links: VariantFacts["links"]) {
  const own = place.segment.toLowerCase();
  const met = new Set([own]);
  let isSamePage = false;
  for (const { url } of links) {
    const version = versionIn(url, place);
    if (version === null) continue;
    met.add(version);
    isSamePage ||= version !== own && place.after.length > 1 && url.endsWith(place.after);
  }
  const isList = met.size >= MIN_VERSIONS && (isSamePage || NAMES.some((name) => met.has(name)));
  return { met, isList };
}

/** The version that was asked for, or that a page names as the one that stands for all. */
const chosenOf = (wanted: string, named: string | null): string | null =>
  wanted === "latest" ? named : wanted.toLowerCase();

/** A name that means the latest, else the highest number, else what is not released. */
function latestOf(versions: readonly string[]): string {
  const rank = (version: string): number => {
    const at = NAMES.indexOf(version);
    return at < 0 ? RELEASED : at < RELEASED ? at : at + 1;
  };
  const numbers = (version: string): readonly number[] => version.replace(/^v/, "").split(".").map(Number);
  return versions.toSorted((a, b) => rank(a) - rank(b) || compareNumbers(numbers(b), numbers(a)))[0]!;
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    // `2.x` is the newest of its line.
    const [one, other] = [a[at] ?? 0, b[at] ?? 0].map((part) => (Number.isNaN(part) ? Infinity : part)) as [
      number,
      number,
    ];
    if (one !== other) return one - other;
  }
  return 0;
}

/** Whether a tag is of the wanted language: `en` takes `en-GB`, and `en-GB` only that. */
function isLanguage(tag: string, wanted: string): boolean {
  const [one, other] = [tag.toLowerCase(), wanted.toLowerCase()];
  return one === other || one.startsWith(`${other}-`);
}

/** The segments of a URL's path, each with what stands before and behind it. */
function* segmentsOf(url: PageUrl) {
  const start = originOf(url).length + 1;
  const query = url.indexOf("?");
  const end = query < 0 ? url.length : query;
  for (let at = start; at < end; ) {
    const slash = url.indexOf("/", at);
    const next = slash < 0 || slash > end ? end : slash;
    yield { before: url.slice(0, at), segment: url.slice(at, next), after: url.slice(next) };
    at = next + 1;
  }
}

/**
 * The folder of a language, where it is the only difference between a page and its translation: `/de/` beside `/en/`, or
 * beside nothing.
 */
function foreignFolder(url: PageUrl, own: PageUrl, language: string): string | null {
  for (const { before, segment, after } of segmentsOf(url)) {
    if (!isLanguage(segment.replaceAll("_", "-"), language.split("-")[0]!)) continue;
    const isWithout = own === `${before.slice(0, -1)}${after}` || own === `${before}${after.slice(1)}`;
    const isOther =
      own.startsWith(before) &&
      after !== "" &&
      own.endsWith(after) &&
      !own.slice(before.length, own.length - after.length).includes("/");
    if (isWithout || isOther) return `${before}${segment}`.toLowerCase();
  }
  return null;
}

/** The parameters of a URL, each behind its origin. */
const parametersOf = (url: PageUrl): readonly string[] =>
  url.includes("?")
    ? url
        .slice(url.indexOf("?") + 1)
        .split("&")
        .map((pair) => `${originOf(url)}?${pair}`.toLowerCase())
    : [];

/** The same for a parameter: `?hl=de` beside `?hl=en`, or beside none. */
function foreignParameter(url: PageUrl, own: PageUrl, language: string): string | null {
  if (url.split("?")[0] !== own.split("?")[0]) return null;
  const others = parametersOf(own);
  const different = parametersOf(url).filter((parameter) => !others.includes(parameter));
  const [parameter = ""] = different;
  const isOfLanguage = parameter.endsWith(`=${language.toLowerCase()}`);
  return different.length === 1 && isOfLanguage ? parameter : null;
}
