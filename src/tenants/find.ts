import createEngine from "wink-bm25-text-search";
import { editDistance } from "../base/nearest.ts";
import type { TenantDetail } from "./describe.ts";

/** Finds the tenants that a topic is about: at most 10, the best first; none for a query without words. */
export type TenantFinder = (query: string) => readonly TenantDetail[];

/** The most tenants that are found. */
export const MAX_FOUND = 10;

// A match in the name means more than one in a description.
const FIELD_WEIGHTS = { codename: 4, name: 3, hosts: 2, description: 1, queries: 1 };

/** BM25 needs three documents for its statistics; empty ones fill up when there are fewer. */
const MIN_DOCUMENTS = 3;

/** The score of a word that is only similar to the requested one, or begins with it. */
const NEAR = 0.6;
const BEGINS = 0.7;

/**
 * Uses BM25 over names, hosts, descriptions and example queries of the tenants, and tolerates typing
 * mistakes: a word of the query that no tenant has stands for the words that begin with it, else for the
 * nearest one (1 edit from 4 letters in either, 2 from 8). Words that every description could contain find nothing.
 */
export function createTenantFinder(tenants: readonly TenantDetail[]): TenantFinder {
  const engine = createEngine();
  engine.defineConfig({ fldWeights: FIELD_WEIGHTS, bm25Params: { k1: 1.2, b: 0.3 } });
  engine.definePrepTasks([topicWords]);
  const vocabulary = new Set<string>();
  for (const [index, tenant] of tenants.entries()) {
    const fields = fieldsOf(tenant);
    for (const text of Object.values(fields)) for (const word of topicWords(text)) vocabulary.add(word);
    engine.addDoc(fields, index);
  }
  for (let index = tenants.length; index < MIN_DOCUMENTS; index++) engine.addDoc(NO_FIELDS, index);
  engine.consolidate();

  const scoresOf = (word: string): ReadonlyMap<number, number> => {
    const best = new Map<number, number>();
    for (const { candidate, factor } of candidatesOf(word, vocabulary)) {
      for (const [index, score] of engine.search(candidate, tenants.length)) {
        const weighted = score * factor;
        if (weighted > (best.get(Number(index)) ?? 0)) best.set(Number(index), weighted);
      }
    }
    return best;
  };
  return (query) => {
    const totals = new Map<number, number>();
    for (const word of queryWords(query, vocabulary)) {
      for (const [index, score] of scoresOf(word)) totals.set(index, (totals.get(index) ?? 0) + score);
    }
    return [...totals]
      .sort(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b)
      .slice(0, MAX_FOUND)
      .flatMap(([index]) => tenants[index] ?? []);
  };
}

const NO_FIELDS = { codename: "", name: "", hosts: "", description: "", queries: "" };

function fieldsOf(tenant: TenantDetail): Record<keyof typeof FIELD_WEIGHTS, string> {
  const hosts = tenant.urlPrefixes.map((prefix) => URL.parse(prefix)?.hostname ?? "");
  return {
    // People write `react-router` as `react router` and as `reactrouter`.
    codename: `${tenant.codename} ${tenant.codename.replace(/[-_]/g, "")}`,
    name: `${tenant.displayName} ${tenant.library ?? ""} ${tenant.version ?? ""} ${tenant.displayName.replace(/[^\p{L}\p{N}]/gu, "")}`,
    hosts: hosts.join(" "),
    description: tenant.description,
    queries: tenant.testQueries.join(" "),
  };
}

/** Words of questions and of any documentation, which do not distinguish tenants. */
const COMMON = new Set(
  `a about an and any are as at be by can could do docs doc documentation does find for from get guide have help how
  i in into is it its library manual me my of official on or please reference should show site tell than that the
  their them there these this to tutorial use used using want was we what when where which who why will with www com
  org io you your`.split(/\s+/),
);

const MAX_QUERY_WORDS = 30;

/** The words of a query, and every two neighbours as one word: `type script` is TypeScript. */
function queryWords(query: string, vocabulary: ReadonlySet<string>): ReadonlySet<string> {
  const all = topicWords(query.slice(0, 1000)).slice(0, MAX_QUERY_WORDS);
  const telling = all.filter((word) => !COMMON.has(word));
  const joined = telling.slice(1).map((word, index) => `${telling[index]}${word}`);
  return new Set([...telling, ...joined.filter((word) => vocabulary.has(word))]);
}

/** Splits a text into words in lower case, without accents, at every other character. */
const topicWords = (text: string): string[] =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+[+#]*/gu) ?? [];

function candidatesOf(word: string, vocabulary: ReadonlySet<string>) {
  if (vocabulary.has(word)) return [{ candidate: word, factor: 1 }];
  const begun = word.length >= 3 ? [...vocabulary].filter((known) => known.startsWith(word)) : [];
  if (begun.length > 0) return begun.map((candidate) => ({ candidate, factor: BEGINS }));
  // Of three letters only one may be missing: shorter words are similar to too many others.
  const limit = word.length >= 8 ? 2 : word.length >= 3 ? 1 : 0;
  if (limit === 0) return [];
  let nearest = limit;
  let found: string[] = [];
  for (const known of vocabulary) {
    // Short words are similar to too many others; common words distinguish nothing.
    if (known.length < 4 || Math.abs(known.length - word.length) > limit || COMMON.has(known)) continue;
    const distance = editDistance(word, known);
    if (distance > nearest) continue;
    if (distance < nearest) found = [];
    nearest = distance;
    found.push(known);
  }
  return found.map((candidate) => ({ candidate, factor: NEAR }));
}
