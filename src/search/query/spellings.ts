import type { Corpus } from "../corpus.ts";
import type { Language } from "../types.ts";

type Spelt = {
  readonly form: string;
  /** The word as typed, with its accents. */
  readonly written: string;
};

type Spelling = {
  readonly corpus: Corpus;
  readonly language: Language;
  readonly stem: (form: string) => string;
  readonly deadline: number;
};

/** The terms of the same word with another article before its apostrophe or none, and of the same version with a `v` or without. */
export function sameWords(
  { form }: Spelt,
  { corpus, language, stem, deadline }: Spelling,
): readonly string[] {
  const [, prefix, version = ""] = VERSION.exec(form) ?? [];
  if (version !== "") return [prefix === "v" ? version : `v${version}`];
  if (!ELIDING.includes(language)) return [];
  const bare = form.replace(ELIDED, "");
  const term = stem(bare);
  if (!/^\p{L}{3,}$/u.test(term)) return [];
  // Stems are beginnings of their forms, but for a last letter.
  const beginnings = ELISIONS.map((elision) => `${elision}'${term.slice(0, -1)}`);
  const elided = corpus.termsFrom(beginnings, (one) => stem(one.replace(ELIDED, "")) === term, deadline);
  return bare === form ? elided : [term, ...elided];
}

const VERSION = /^(v?)(\d+(?:\.\d+)+)$/;

const ELIDING: readonly Language[] = ["fr", "it"];
/** Words that lose their vowel before another vowel in French and Italian, as in Lucene's elision filters. */
const ELISIONS =
  "l d c j m n s t v qu jusqu lorsqu puisqu quoiqu un all dall dell nell sull coll quell bell gl".split(" ");
const ELIDED = new RegExp(`^(?:${ELISIONS.join("|")})'(?=\\p{L})`, "u");

/** The terms of a word with its umlauts written as two letters, or two letters read as umlauts. */
export function withOtherUmlauts(
  { form, written }: Spelt,
  { language, stem }: Omit<Spelling, "corpus" | "deadline">,
): readonly string[] {
  if (!UMLAUTED.includes(language)) return [];
  const spelt = written
    .toLowerCase()
    .normalize("NFC")
    .replace(/[äöüåø]/g, (letter) => SPELT[letter]!);
  // Two letters need not be an umlaut: `Uebersteuerung` has one of each.
  let read = [form];
  for (const { index } of [...form.matchAll(/(?:ae|oe|ue|aa)/g)].slice(0, MAX_PAIRS).reverse())
    read = read.flatMap((one) => [one, one.slice(0, index + 1) + one.slice(index + 2)]);
  return [...(/^[a-zß]+$/.test(spelt) ? [spelt.replaceAll("ß", "ss")] : []), ...read]
    .filter((one) => one !== form)
    .map(stem);
}

const UMLAUTED: readonly Language[] = ["de", "da", "fi", "no", "sv"];
const SPELT: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };
const MAX_PAIRS = 3;

/** The versions that a form is the series of: `1.2.3` of `1.2`. */
export const longerVersions = (form: string, corpus: Corpus, deadline: number): readonly string[] =>
  VERSION.test(form) ? corpus.termsFrom([`${form}.`], (one) => VERSION.test(one), deadline) : [];
