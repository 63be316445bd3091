/**
 * The English stemmer of the Snowball project, known as Porter2
 * (https://snowballstem.org/algorithms/english/stemmer.html, as of Snowball 3.0). It is implemented here
 * because the npm packages follow earlier states of the algorithm and differ from its reference vocabulary.
 * @param word folded to lower case; a word with letters outside a–z and `'` is returned unchanged
 */
export function stemEnglish(word: string): string {
  if (word.length <= 2 || !/^[a-z']+$/.test(word)) return word;
  const special = SPECIAL_WORDS.get(word);
  if (special !== undefined) return special;
  return new Stemming(word).run();
}

/** Reads pairs of what is replaced and what replaces it, such as `ational>ate`. */
const replacements = (pairs: string): readonly (readonly [string, string])[] =>
  pairs.split(/\s+/).map((pair) => pair.split(">") as [string, string]); // each pair has one sign

const SPECIAL_WORDS: ReadonlyMap<string, string> = new Map(
  replacements(
    `skis>ski skies>sky idly>idl gently>gentl ugly>ugli early>earli only>onli singly>singl sky>sky news>news
    howe>howe atlas>atlas cosmos>cosmos bias>bias andes>andes`,
  ),
);

const LONG_R1_PREFIX = /^(?:arsen|commun|emerg|gener|inter|later|organ|past|univers)/;
const UNSTEMMED_AFTER_1A = /^(?:inning|outing|canning|herring|earring|evening)$/;

// The longest suffixes come first: the algorithm takes the longest one and then checks whether it applies.
const STEP_2 = replacements(
  `ational>ate ization>ize fulness>ful ousness>ous iveness>ive tional>tion biliti>ble lessli>less entli>ent
  ation>ate alism>al aliti>al fulli>ful ousli>ous iviti>ive ogist>og enci>ence anci>ance abli>able izer>ize
  ator>ate alli>al bli>ble ogi>og li>`,
);

const STEP_3 = replacements("ational>ate tional>tion alize>al icate>ic iciti>ic ative> ical>ic ness> ful>");

const STEP_4 = "ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic".split(" ");

/** One word during the steps. `Y` marks a y that is a consonant. */
class Stemming {
  #word: string;
  readonly #r1: number;
  readonly #r2: number;

  constructor(word: string) {
    const text = word.startsWith("'") ? word.slice(1) : word;
    this.#word = text.replace(/^y|([aeiouy])y/g, (_match, vowel: string | undefined) => `${vowel ?? ""}Y`);
    const prefix = LONG_R1_PREFIX.exec(this.#word);
    this.#r1 = prefix ? prefix[0].length : regionAfter(this.#word, 0);
    this.#r2 = regionAfter(this.#word, this.#r1);
  }

  run(): string {
    this.#step0();
    this.#step1a();
    if (UNSTEMMED_AFTER_1A.test(this.#word)) return this.#word;
    this.#step1b();
    this.#step1c();
    this.#step2();
    this.#step3();
    this.#step4();
    this.#step5();
    return this.#word.toLowerCase();
  }

  #cut(length: number, replacement = ""): void {
    this.#word = this.#word.slice(0, this.#word.length - length) + replacement;
  }

  #inR1(suffix: string): boolean {
    return this.#word.length - suffix.length >= this.#r1;
  }

  #inR2(suffix: string): boolean {
    return this.#word.length - suffix.length >= this.#r2;
  }

  #step0(): void {
    const suffix = /(?:'s'|'s|')$/.exec(this.#word);
    if (suffix) this.#cut(suffix[0].length);
  }

  #step1a(): void {
    const word = this.#word;
    if (word.endsWith("sses")) this.#cut(2);
    else if (word.endsWith("ied") || word.endsWith("ies")) this.#cut(word.length > 4 ? 2 : 1);
    else if (word.endsWith("us") || word.endsWith("ss")) return;
    else if (word.endsWith("s") && /[aeiouy]/.test(word.slice(0, -2))) this.#cut(1);
  }

  #step1b(): void {
    const eed = /(?:eedly|eed)$/.exec(this.#word)?.[0];
    if (eed) {
      const isWhole = /^(?:exc|proc|succ)$/.test(this.#word.slice(0, -eed.length));
      if (this.#inR1(eed) && !isWhole) this.#cut(eed.length, "ee");
      return;
    }
    const suffix = /(?:ingly|edly|ing|ed)$/.exec(this.#word)?.[0];
    if (!suffix) return;
    const rest = this.#word.slice(0, -suffix.length);
    // `dying` → `die`: this rule is only for a consonant followed by y.
    if (suffix === "ing" && /^[^aeiouy]y$/.test(rest)) {
      this.#word = `${rest[0]}ie`;
      return;
    }
    if (!/[aeiouy]/.test(rest)) return;
    this.#word = this.#restored(rest);
  }

  #restored(rest: string): string {
    if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
    // `adding` → `add`: the double letter stays in a word of three letters.
    if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return /^[aeo]..$/.test(rest) ? rest : rest.slice(0, -1);
    return rest.length <= this.#r1 && endsInShortSyllable(rest) ? `${rest}e` : rest;
  }

  #step1c(): void {
    if (/.[^aeiouy][yY]$/.test(this.#word)) this.#cut(1, "i");
  }

  #step2(): void {
    const found = STEP_2.find(([suffix]) => this.#word.endsWith(suffix));
    if (!found || !this.#inR1(found[0])) return;
    const before = this.#word[this.#word.length - found[0].length - 1] ?? "";
    if (found[0] === "ogi" && before !== "l") return;
    if (found[0] === "li" && !/[cdeghkmnrt]/.test(before)) return;
    this.#cut(found[0].length, found[1]);
  }

  #step3(): void {
    const found = STEP_3.find(([suffix]) => this.#word.endsWith(suffix));
    if (!found || !this.#inR1(found[0])) return;
    if (found[0] === "ative" && !this.#inR2(found[0])) return;
    this.#cut(found[0].length, found[1]);
  }

  #step4(): void {
    const suffix = STEP_4.find((candidate) => this.#word.endsWith(candidate));
    if (!suffix || !this.#inR2(suffix)) return;
    if (suffix === "ion" && !/[st]$/.test(this.#word.slice(0, -3))) return;
    this.#cut(suffix.length);
  }

  #step5(): void {
    const word = this.#word;
    if (word.endsWith("e")) {
      if (this.#inR2("e") || (this.#inR1("e") && !endsInShortSyllable(word.slice(0, -1)))) this.#cut(1);
    } else if (word.endsWith("ll") && this.#inR2("l")) this.#cut(1);
  }
}

/** The start of the region after the first non-vowel that follows a vowel, at or after `start`. */
function regionAfter(word: string, start: number): number {
  const match = /[aeiouy][^aeiouy]/.exec(word.slice(start));
  return match ? start + match.index + 2 : word.length;
}

const endsInShortSyllable = (word: string): boolean =>
  /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word) || /^[aeiouy][^aeiouy]$/.test(word) || word.endsWith("past");

// Porter2 leaves these on English nouns of one family: `installer`, `installation` → `instal`.
const SUFFIXES =
  "ation ition ator ment ness able ible abl ibl ing ion ism ist iv ic al at er or ur ly li i e".split(" ");

const MIN_STEM_LENGTH = 4;

/**
 * Removes further suffixes from a Porter2 stem, keeping at least four letters, and then a doubled last
 * letter. It serves `aggressive-stem`, which finds more and confuses more words.
 */
export function stemFurther(stem: string): string {
  if (!/^[a-z]+$/.test(stem)) return stem;
  let rest = stem;
  for (let round = 0; round < 2; round++) {
    const suffix = SUFFIXES.find((one) => rest.endsWith(one) && rest.length - one.length >= MIN_STEM_LENGTH);
    if (!suffix) break;
    rest = rest.slice(0, -suffix.length);
  }
  return rest.replace(/([^aeiou])\1$/, "$1");
}
