import { foldWord } from "../analysis/run-words.ts";
import type { Corpus } from "../corpus.ts";
import type { Language } from "../types.ts";
import { sameWords, withOtherUmlauts } from "./spellings.ts";
import { ABBREVIATIONS } from "./word-lists.ts";

/** A term of a query as it was typed, whether or not an index holds it. */
export type TypedTerm = {
  readonly term: string;
  readonly form: string;
  /** The word as typed, with its accents; the form where it is a part. */
  readonly written: string;
  readonly position: number;
  readonly isLeaf: boolean;
  /** Whether it ends the query, so that more of it may follow. */
  readonly isUnfinished: boolean;
  /** How many documents of the corpus hold it. */
  readonly documents: number;
  readonly weight: number;
};

/** A term that nobody typed and that stands for one that was. */
type DerivedTerm = {
  readonly term: string;
  readonly weight: number;
  readonly position: number;
  readonly isLeaf: boolean;
};

type Derivation = {
  readonly corpus: Corpus;
  /** Returns the weight of a term in the given number of documents. */
  readonly weightOf: (documents: number) => number;
  /** The term of a folded word. */
  readonly stem: (form: string) => string;
  readonly synonyms: readonly Synonyms[];
  readonly language: Language;
  /** Whether words of the language may be several in one. */
  readonly hasCompounds: boolean;
  readonly deadline: number;
};

/**
 * Factors of terms that replace a word which no document has: a correction may be wrong after all, and a longer word
 * may be a different word.
 */
const UNKNOWN = { corrected: 0.7, continued: 0.8, synonym: 0.8, split: 0.8, compound: 0.8 } as const;

/** The factors where documents hold the word itself. */
const KNOWN = { continued: 0.24, synonym: 0.15, split: 0.24, joined: 0.24, compound: 0.24 } as const;

/** The factor of the word itself in another spelling. */
const SAME = 0.95;

/** A word in fewer documents than this may be the beginning of another one, or two words in one. */
const FEW_DOCUMENTS = 10;

/**
 * For a query of one word, every document with the word comes before all documents without it: with terms of equal
 * weight, the best document scores about a thousand times as much as the worst, and this factor is smaller still.
 */
const AFTER_ALL_OTHERS = 1e-4;

/**
 * The terms that stand for those of a query: corrections, continuations of its last word, synonyms, compounds
 * and their parts, words that are written together or apart. They are chosen by what the whole corpus holds, so that the choice is
 * the same in each of its indexes.
 * @throws Failure `timeout`
 */
export function deriveTerms(typed: readonly TypedTerm[], derivation: Derivation): readonly DerivedTerm[] {
  const { corpus, synonyms } = derivation;
  const typedKey = JSON.stringify(typed);
  const known = derived.get(corpus);
  const isSame = known?.typedKey === typedKey && synonyms.every((one, at) => one === known.synonyms[at]);
  if (isSame && known.synonyms.length === synonyms.length) return known.terms;
  const terms = derive(typed, derivation);
  derived.set(corpus, { typedKey, synonyms, terms });
  return terms;
}

/** What was derived from a corpus last, because each of its indexes asks for the same. */
const derived = new WeakMap<
  Corpus,
  Pick<Derivation, "synonyms"> & { readonly typedKey: string; readonly terms: readonly DerivedTerm[] }
>();

function derive(typed: readonly TypedTerm[], derivation: Derivation): readonly DerivedTerm[] {
  const leaves = typed.filter(({ isLeaf }) => isLeaf).sort((a, b) => a.position - b.position);
  const isOneWord = leaves.length === 1;
  const known = new Set(typed.map(({ term }) => term));
  const best = new Map<string, DerivedTerm>();
  const add = (words: readonly TypedTerm[], candidates: readonly Candidate[]): void => {
    const isKnown = words.every(({ documents }) => documents > 0);
    for (const [number, { term, factor, isLeaf, place = 0 }] of candidates.entries()) {
      const documents = known.has(term) ? 0 : derivation.corpus.documentFrequency(term);
      if (documents === 0) continue;
      const own = derivation.weightOf(documents);
      const least = isKnown ? Math.min(own, ...words.map(({ weight }) => weight)) : own;
      const weight = least * factor * (isOneWord && isKnown && factor !== SAME ? AFTER_ALL_OTHERS : 1);
      // No two are at one position, so that an index that lacks one parts the same neighbours as one that has all.
      const position = words[0]!.position + place + number / 1000;
      if (weight > (best.get(term)?.weight ?? 0)) best.set(term, { term, weight, position, isLeaf });
    }
  };
  for (const word of typed) add([word], derivedFrom(word, derivation));
  for (let from = 0; from + 1 < leaves.length; from++) {
    for (let count = 2; count <= MAX_PHRASE_WORDS; count++) {
      const words = neighbours(leaves, from, count);
      if (words.length === count) add(words, derivedFromNeighbours(words, derivation));
    }
  }
  return [...best.values()];
}

type Candidate = {
  readonly term: string;
  readonly factor: number;
  /** Whether it takes the word's place among the leaves, where the index holds none. */
  readonly isLeaf: boolean;
  /** Its place behind the word's position, below 1. */
  readonly place?: number;
};

const neighbours = (leaves: readonly TypedTerm[], from: number, count: number): readonly TypedTerm[] =>
  leaves
    .slice(from, from + count)
    .filter(({ position }, index) => position === leaves[from]!.position + index);

function derivedFrom(word: TypedTerm, derivation: Derivation): readonly Candidate[] {
  const { isLeaf, documents } = word;
  const isUnknown = documents === 0;
  const synonyms = synonymsOf([word], derivation);
  // A whole identifier that is known is what somebody wanted.
  const mayGoOn = word.isUnfinished && documents < (isLeaf ? FEW_DOCUMENTS : 1);
  const continued = mayGoOn ? continuations(word, derivation) : [];
  const parts = isLeaf && documents < FEW_DOCUMENTS ? splitWord(word, derivation) : [];
  const compounds = isLeaf && derivation.hasCompounds ? compoundsWith(word, derivation) : [];
  const others = [...synonyms, ...continued, ...compounds, ...parts, ...spellings(word, derivation)];
  return isLeaf && isUnknown && others.length === 0 ? correction(word, derivation) : others;
}

function spellings(word: TypedTerm, derivation: Derivation): Candidate[] {
  const isUnknown = word.documents === 0;
  const factor = isUnknown ? UNKNOWN.split : KNOWN.split;
  const same = sameWords(word, derivation).map((term) => ({ term, factor: SAME }));
  const umlauts = word.isLeaf ? withOtherUmlauts(word, derivation).map((term) => ({ term, factor })) : [];
  return [...same, ...umlauts]
    .filter(({ term }) => derivation.corpus.documentFrequency(term) > 0)
    .map((one, number) => ({ ...one, isLeaf: word.isLeaf && isUnknown && number === 0 }));
}

function derivedFromNeighbours(words: readonly TypedTerm[], derivation: Derivation): readonly Candidate[] {
  const synonyms = synonymsOf(words, derivation);
  if (words.length > 2) return synonyms;
  const joined = words.map(({ form }) => form).join("");
  return [...synonyms, { term: derivation.stem(joined), factor: KNOWN.joined, isLeaf: false }];
}

function synonymsOf(words: readonly TypedTerm[], { synonyms, corpus }: Derivation): Candidate[] {
  const key = words.map(({ term }) => term);
  const isUnknown = words.some(({ documents }) => documents === 0);
  const factor = isUnknown ? UNKNOWN.synonym : KNOWN.synonym;
  const isHeld = (phrase: TermPhrase) => phrase.every((term) => corpus.documentFrequency(term) > 0);
  const phrases = synonyms.flatMap((table) => table.of(key)).filter(isHeld);
  return phrases.flatMap((phrase, number) =>
    phrase.map((term, place) => ({
      term,
      factor: factor / phrase.length,
      isLeaf: words.length === 1 && words[0]!.isLeaf && isUnknown && number === 0,
      place: place / phrase.length,
    })),
  );
}

/** The less is missing of a term, the more it counts; only the most frequent one counts for distances. */
function continuations(
  { form, isLeaf, documents }: TypedTerm,
  { corpus, deadline }: Derivation,
): Candidate[] {
  const most = documents > 0 ? KNOWN.continued : UNKNOWN.continued;
  return corpus.continuations(form, deadline).map((term, number) => ({
    term,
    factor: most * Math.min(1, form.length / term.length),
    isLeaf: isLeaf && documents === 0 && number === 0,
  }));
}

function correction({ form }: TypedTerm, { corpus }: Derivation): Candidate[] {
  const found = corpus.correct(form);
  return found ? [{ term: found.term, factor: UNKNOWN.corrected ** found.edits, isLeaf: true }] : [];
}

function compoundsWith({ form, term, documents }: TypedTerm, derivation: Derivation): Candidate[] {
  const factor = documents > 0 ? KNOWN.compound : UNKNOWN.compound;
  return derivation.corpus
    .compounds({ form, term }, derivation)
    .map((compound) => ({ term: compound, factor, isLeaf: false }));
}

const SHORTEST_PART = 2;
const LONGEST_SPLIT = 24;

/** The parts of a compound, or two words that documents have next to each other (`login` may be `log in`). */
function splitWord(
  { form, documents }: TypedTerm,
  { corpus, stem, hasCompounds, deadline }: Derivation,
): Candidate[] {
  const factor = documents > 0 ? KNOWN.split : UNKNOWN.split;
  let best = hasCompounds ? corpus.compoundParts(form, stem) : [];
  const mayBeTwo = best.length === 0 && form.length <= LONGEST_SPLIT && /^\p{L}+$/u.test(form);
  let most = 0;
  for (let at = SHORTEST_PART; mayBeTwo && at + SHORTEST_PART <= form.length; at++) {
    const head = { form: form.slice(0, at), term: stem(form.slice(0, at)) };
    // Most parts of words are no words, and stems and other terms cost more.
    if (corpus.documentFrequency(head.term) === 0) continue;
    const parts = [head, { form: form.slice(at), term: stem(form.slice(at)) }];
    const together = corpus.documentsWithPhrase(parts, deadline);
    if (together <= most) continue;
    most = together;
    best = parts.map(({ term }) => term);
  }
  return best.map((term, number) => ({ term, factor, isLeaf: documents === 0, place: number / 2 }));
}

/** A tenant's words for one another. An entry is one word or a few with spaces between them. */
export type SynonymSettings = {
  /** Whether abbreviations of computing (`word-lists.ts`) count too. */
  readonly abbreviations: boolean;
  /** Each entry of a group finds the others. */
  readonly groups: readonly (readonly string[])[];
  /** An entry finds those of its list, which do not find it. */
  readonly oneWay: Readonly<Record<string, readonly string[]>>;
};

/** The words of an entry as terms. */
type TermPhrase = readonly string[];

/** More words for one another would cost more than all other words of a query. */
const MAX_SYNONYMS = 8;

/** An entry with more words finds others and is not found. */
const MAX_PHRASE_WORDS = 4;

/** Synonyms of words, looked up by their terms. Entries are not combined. */
class Synonyms {
  readonly #stem: (form: string) => string;
  readonly #lists = new Map<string, TermPhrase[][]>();

  constructor(stem: (form: string) => string) {
    this.#stem = stem;
  }

  /** @param groups entries of which each finds the others */
  addGroups(groups: SynonymSettings["groups"]): void {
    for (const group of groups) {
      const phrases = group.map((entry) => this.#phraseOf(entry));
      for (const phrase of phrases) this.#add(phrase, phrases);
    }
  }

  addOneWay(oneWay: SynonymSettings["oneWay"]): void {
    for (const [entry, others] of Object.entries(oneWay)) {
      const phrases = others.map((other) => this.#phraseOf(other));
      this.#add(this.#phraseOf(entry), phrases);
    }
  }

  /** Returns the synonyms of adjacent terms, at most eight. */
  of(terms: TermPhrase): readonly TermPhrase[] {
    const key = keyOf(terms);
    const found = new Map<string, TermPhrase>();
    for (const list of this.#lists.get(key) ?? []) {
      for (const phrase of list) {
        if (found.size === MAX_SYNONYMS) return [...found.values()];
        if (phrase.length > 0 && keyOf(phrase) !== key) found.set(keyOf(phrase), phrase);
      }
    }
    return [...found.values()];
  }

  #phraseOf(entry: string): TermPhrase {
    const forms = entry.split(/\s+/).map(foldWord);
    return forms.filter((form) => form !== "").map((form) => this.#stem(form));
  }

  #add(phrase: TermPhrase, list: TermPhrase[]): void {
    const lists = this.#lists.get(keyOf(phrase));
    if (lists) lists.push(list);
    else this.#lists.set(keyOf(phrase), [list]);
  }
}

const keyOf = (terms: TermPhrase): string => terms.join(" ");

/** The analysis that synonyms are looked up with. */
type Stemming = { readonly fingerprint: string; stem(form: string): string };

/** Tables by their settings, then by the fingerprint of the analysis; a tenant's is made when it is first searched. */
const tables = new WeakMap<SynonymSettings, Map<string, Synonyms>>();
const abbreviations = new Map<string, Synonyms>();

/** A tenant's own synonyms, and the abbreviations if it has them. */
export function synonymsFor(settings: SynonymSettings, stemming: Stemming): readonly Synonyms[] {
  const made = tables.get(settings) ?? new Map<string, Synonyms>();
  tables.set(settings, made);
  const shared = settings.abbreviations ? [tableOf(abbreviations, stemming, addAbbreviations)] : [];
  // Tenants without synonyms of their own have the same tables.
  if (settings.groups.length === 0 && Object.keys(settings.oneWay).length === 0) return shared;
  const own = tableOf(made, stemming, (table) => {
    table.addGroups(settings.groups);
    table.addOneWay(settings.oneWay);
  });
  return [own, ...shared];
}

function tableOf(
  tables: Map<string, Synonyms>,
  analyser: Stemming,
  fill: (table: Synonyms) => void,
): Synonyms {
  const known = tables.get(analyser.fingerprint);
  if (known) return known;
  const table = new Synonyms((form) => analyser.stem(form));
  fill(table);
  tables.set(analyser.fingerprint, table);
  return table;
}

function addAbbreviations(table: Synonyms): void {
  const entries = ABBREVIATIONS.trim().split(/;\s+/);
  const singly = (entry: string) =>
    entry.includes("(s)") ? ["", "s"].map((end) => entry.replaceAll("(s)", end)) : entry;
  for (const entry of entries.flatMap(singly)) {
    const [, short = "", direction, long = ""] = /^(.+) ([=>]) (.+)$/.exec(entry) ?? [];
    if (direction === "=") table.addGroups([[short, long]]);
    else table.addOneWay({ [short]: [long] });
  }
}
