import { compileGlob } from "../../urls/index.ts";
import { type DocumentKind, isWithin, KINDS, pathOf, versionRank } from "../attributes.ts";
import type { AttributeTable, IndexReader } from "../types.ts";

/**
 * The factors of a score for what a page is. They were chosen so that guides come before announcements that
 * use the same words, and that no collection with labels loses (docs/search.md).
 */
const FACTORS = {
  guide: 1,
  reference: 1,
  changelog: 0.65,
  blog: 0.6,
  archive: 0.6,
  /** A newer version of the page is there. */
  oldVersion: 0.7,
  /** The page is there in the collection's own language. */
  translation: 0.65,
  /** The query asks for documents of the kind. */
  asked: 2,
  /** The oldest of dated announcements and release notes, against the newest. */
  aged: 0.85,
  boost: 1.5,
  deboost: 0.5,
} as const;

/** Older announcements and release notes count as if they had this age. */
const AGED_AFTER_DAYS = 3 * 365;

/** A tenant's own order of its pages, as globs of paths. */
export type PathPreferences = { readonly boost: readonly string[]; readonly deboost: readonly string[] };

/** A newer version of the page is there. */
const OLD = 1;
/** The page is there in the language of most documents. */
const TRANSLATED = 2;

/** Which documents of a corpus stand behind others. */
export type Standing = {
  /** The date of the newest dated document. */
  readonly newestDate: number;
  /** `OLD` and `TRANSLATED` of each document of each index. */
  readonly behind: ReadonlyMap<AttributeTable, Uint8Array>;
};

const primary = (language: string): string => language.split("-", 1)[0] ?? "";

/** Languages have numbers below this; further ones share the last. */
const MAX_LANGUAGES = 1024;

/** Compares the documents of several indexes as if they were in one. */
export function standingOf(tables: readonly AttributeTable[]): Standing {
  const numbers = new Map([[mostFrequentLanguage(tables), 0]]);
  // Documents that do not tell their language have the main one, which is number 0.
  const numberOf = (name: string): number => {
    const language = primary(name);
    if (name === "") return 0;
    if (!numbers.has(language)) numbers.set(language, Math.min(numbers.size, MAX_LANGUAGES - 1));
    return numbers.get(language)!;
  };
  const all = tables.map((table) => ({
    table,
    languages: table.languageNames.map(numberOf),
    ranks: table.versionNames.map(versionRank),
  }));
  const varied = new Set<number>();
  let newestDate = 0;
  for (const { table, languages } of all) {
    for (let document = 0; document < table.pages.length; document++) {
      if (table.versions[document]! > 0 || languages[table.languages[document]!]! > 0)
        varied.add(table.pages[document]!);
      newestDate = Math.max(newestDate, table.dates[document]!);
    }
  }
  // The rank of the newest version by page and language, for pages with variants.
  const newest = new Map<number, number>();
  for (const { table, languages, ranks } of varied.size === 0 ? [] : all) {
    for (let document = 0; document < table.pages.length; document++) {
      const page = table.pages[document]!;
      if (!varied.has(page)) continue;
      const key = page * MAX_LANGUAGES + languages[table.languages[document]!]!;
      newest.set(key, Math.max(newest.get(key) ?? 0, ranks[table.versions[document]!]!));
    }
  }
  const behindOf = ({ table, languages, ranks }: (typeof all)[number]): Uint8Array =>
    Uint8Array.from(table.pages, (page, document) => {
      if (!varied.has(page)) return 0;
      const language = languages[table.languages[document]!]!;
      const isOld = newest.get(page * MAX_LANGUAGES + language)! > ranks[table.versions[document]!]!;
      return (isOld ? OLD : 0) | (language > 0 && newest.has(page * MAX_LANGUAGES) ? TRANSLATED : 0);
    });
  return { newestDate, behind: new Map(all.map((one) => [one.table, behindOf(one)])) };
}

function mostFrequentLanguage(tables: readonly AttributeTable[]): string {
  const counts = new Map<string, number>();
  for (const { languages, languageNames } of tables) {
    const own = languageNames.map(primary);
    for (const number of languages) counts.set(own[number]!, (counts.get(own[number]!) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  const candidates = [...counts].filter(([, count]) => count === most).map(([language]) => language);
  return ["", "en"].find((language) => candidates.includes(language)) ?? candidates.sort()[0] ?? "";
}

const ALONE = new WeakMap<AttributeTable, Standing>();

/** The standing of the documents of one index that is searched alone. */
export function standingAlone(table: AttributeTable): Standing {
  const known = ALONE.get(table) ?? standingOf([table]);
  ALONE.set(table, known);
  return known;
}

type FactorOptions = {
  readonly standing: Standing;
  readonly preferences: PathPreferences;
  readonly intent: Intent;
};

/** The factor of each document's score; null when all are 1. */
export type Factors = Float64Array | null;

type Kept = Omit<FactorOptions, "intent"> & { readonly key: string; readonly factors: Factors };

// They go with their index. Most queries have the same intent, which is none.
const KEPT = new WeakMap<AttributeTable, readonly Kept[]>();
const MAX_KEPT = 8;

/** Computes the factors of an index's documents, or finds those of a search before. */
export function factorsOf(reader: IndexReader, { standing, preferences, intent }: FactorOptions): Factors {
  const table = reader.attributes;
  // Most numbers in queries are not versions in the index.
  const isNamed = table.versionNames.map((name) => intent.versions.some((one) => isWithin(one, name, ".")));
  const key = `${intent.key} ${isNamed.flatMap((named, version) => (named ? version : []))}`;
  const before = KEPT.get(table) ?? [];
  const same = before.find(
    (one) => one.standing === standing && one.preferences === preferences && one.key === key,
  );
  if (same) return same.factors;
  const factors = makeFactors(reader, { standing, preferences, intent, isNamed });
  KEPT.set(table, [{ standing, preferences, key, factors }, ...before.slice(0, MAX_KEPT - 1)]);
  return factors;
}

function makeFactors(
  reader: IndexReader,
  { standing, preferences, intent, isNamed }: FactorOptions & { readonly isNamed: readonly boolean[] },
): Factors {
  const { kinds, versions, dates } = reader.attributes;
  const behind = standing.behind.get(reader.attributes)!;
  const ofKind = KINDS.map((kind) => {
    if (intent.wanted.has(kind)) return FACTORS.asked;
    return intent.kinds.has(kind) ? 1 : FACTORS[kind];
  });
  const isAging = KINDS.map((kind) => kind === "changelog" || kind === "blog");
  const preferred = preferenceOf(reader, preferences);
  const factors = new Float64Array(reader.documentCount);
  let isAny = false;
  for (let document = 0; document < factors.length; document++) {
    let factor = preferred?.(document) ?? 0;
    if (factor === 0) {
      const kind = kinds[document]!;
      factor = ofKind[kind]!;
      if (isAging[kind] && dates[document]! > 0) {
        const age = Math.min(1, (standing.newestDate - dates[document]!) / AGED_AFTER_DAYS);
        factor *= 1 - (1 - FACTORS.aged) * age;
      }
      if ((behind[document]! & OLD) !== 0 && !isNamed[versions[document]!]) factor *= FACTORS.oldVersion;
      if ((behind[document]! & TRANSLATED) !== 0 && !intent.isForeign) factor *= FACTORS.translation;
    }
    factors[document] = factor;
    if (factor !== 1) isAny = true;
  }
  return isAny ? factors : null;
}

/** The factors of pages that the settings name, and 0 for others; the first list that names a page counts. */
function preferenceOf(
  reader: IndexReader,
  { boost, deboost }: PathPreferences,
): ((document: number) => number) | null {
  if (boost.length === 0 && deboost.length === 0) return null;
  const [higher, lower] = [boost, deboost].map((globs) => globs.map(compileGlob));
  return (document) => {
    const path = pathOf(reader.url(document));
    if (higher!.some((isMet) => isMet(path))) return FACTORS.boost;
    return lower!.some((isMet) => isMet(path)) ? FACTORS.deboost : 0;
  };
}

/** A query's intent besides the words of its subject. */
type Intent = {
  /** The kinds of documents that it names. */
  readonly kinds: ReadonlySet<DocumentKind>;
  /** Those of them that come before others. */
  readonly wanted: ReadonlySet<DocumentKind>;
  /** The versions that it names. */
  readonly versions: readonly string[];
  /** Whether it is in a script of which only translations have words. */
  readonly isForeign: boolean;
  /** Equal for equal intents, but for their versions. */
  readonly key: string;
};

const ASKING: readonly (readonly [DocumentKind, RegExp])[] = [
  [
    "changelog",
    /\bchange[- ]?logs?\b|\brelease[- ]notes?\b|\bwhat['\u2019]?s new\b|\bnew features?\b|\b(?:breaking|summary of) changes\b/i,
  ],
  ["blog", /\bblogs?\b|\bannouncements?\b|\bannouncing\b|\bnews\b/i],
  ["archive", /\barchived?\b|\barchives\b|\blegacy\b|\bobsolete\b/i],
];

// A query that begins with "how" wants a guide.
const HOW_TO = /^\s*how\b/i;

/** Versions are looked for in this much of a query. */
const READ = 400;
const MAX_VERSIONS = 8;

/** Letters that are neither Latin nor signs. */
const FOREIGN = /[\p{L}--\p{Script=Latin}--\p{Script=Common}--\p{Script=Greek}]/v;

/** Reads what a query asks for. */
export function intentOf(query: string): Intent {
  const text = query.slice(0, READ);
  const asked = HOW_TO.test(text) ? [] : ASKING.filter(([, words]) => words.test(text));
  const kinds = new Set(asked.map(([kind]) => kind));
  const versions = (text.match(/\b\d{1,4}(?:\.\d{1,4}){0,2}\b/g) ?? []).slice(0, MAX_VERSIONS);
  const isForeign = FOREIGN.test(text);
  // To archive is also what people do with files.
  const wanted = kinds.difference(new Set(["archive"]));
  return { kinds, wanted, versions, isForeign, key: [...kinds, "", ...wanted, isForeign].join() };
}
