import { foldWord } from "../analysis/run-words.ts";
import { ABBREVIATIONS } from "./word-lists.ts";

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
export type TermPhrase = readonly string[];

/** More words for one another would cost more than all other words of a query. */
const MAX_SYNONYMS = 8;

/** An entry with more words finds others and is not found. */
export const MAX_PHRASE_WORDS = 4;

/** What words stand for, looked up by their terms. Nothing follows from two entries together. */
export class Synonyms {
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

  /** What terms next to each other stand for, at most eight. */
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
  const own = tableOf(made, stemming, (table) => {
    table.addGroups(settings.groups);
    table.addOneWay(settings.oneWay);
  });
  return settings.abbreviations ? [own, tableOf(abbreviations, stemming, addAbbreviations)] : [own];
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
  const lines = ABBREVIATIONS.trim().split("\n");
  const singly = (line: string) =>
    line.includes("(s)") ? ["", "s"].map((end) => line.replaceAll("(s)", end)) : line;
  for (const line of lines.flatMap(singly)) {
    const [, short = "", direction, long = ""] = /^(.+) ([=>]) (.+)$/.exec(line) ?? [];
    if (direction === "=") table.addGroups([[short, long]]);
    else table.addOneWay({ [short]: [long] });
  }
}
