import { eld } from "eld/extrasmall";

/**
 * The likeliest of the 60 languages has to lead the next one by this share of its score, because languages of one
 * script score alike. Of 729 pages in ten languages, cut to 100, 200 and 400 characters, 99, 100 and 100 % get an
 * answer, and .999, .999 and 1 of the answers are right. Indonesian is reported as Malay.
 */
const LEAST_LEAD = 0.03;

/** Returns the BCP 47 tag of the language that some prose is written in, or null when it is too mixed to tell. */
export function detectLanguage(prose: string): string | null {
  const result = eld.detect(prose);
  const [best = 0, next = 0] = Object.values(result.getScores()).sort((one, other) => other - one);
  return result.isReliable() && best - next >= LEAST_LEAD * best ? result.language : null;
}
