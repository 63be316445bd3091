import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import type { Language } from "../types.ts";
import { stemEnglish } from "./stemmer.ts";

// Snowball's algorithms, over folded words: a vowel has no accent here, which their rules for plurals do not need.
const STEMMERS: Readonly<Record<Exclude<Language, "en">, (word: string) => string>> = {
  da: danish,
  de: german,
  es: spanish,
  fi: finnish,
  fr: french,
  it: italian,
  nl: dutch,
  no: norwegian,
  pt: portuguese,
  ru: russian,
  sv: swedish,
};

/** Languages that write compounds as one word. */
const COMPOUNDING: readonly Language[] = ["da", "de", "fi", "nl", "no", "sv"];

export const hasCompounds = (language: Language): boolean => COMPOUNDING.includes(language);

const WORD = /^\p{L}+$/u;

/** Returns the function that makes terms of the folded words of a language. */
export function stemmerOf(language: Language): (form: string) => string {
  if (language === "en") return stemEnglish;
  const stem = STEMMERS[language];
  return (form) => (WORD.test(form) ? stem(form) || form : form);
}
