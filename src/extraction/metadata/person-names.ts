import { visibleLine } from "../meta-tags.ts";
import { foldForComparison, unescapeTwice } from "../text.ts";

const MAX_NAME_CHARS = 200;

/**
 * Matches the words before a name in a byline; they may stand alone on a line, with the name on the next one.
 */
const SPOKEN_WORDS =
  "(?:written|posted|authored|published|story|words|text|report(?:ed)?|article|post|created|submitted|shared|started|asked|guide)\\s+by|" +
  "this\\s+(?:post|article|story|guide)\\s+(?:was|is)\\s+written\\s+by|by|author|authors|contributors?(?=\\s*:)|autor(?:in|es|a)?|auteurs?|von|vom|par|por|di|door|av|af|écrit\\s+par|rédigé\\s+par|escrito\\s+por|scritto\\s+da|a\\s+cura\\s+di|geschreven\\s+door|verfasst\\s+von|geschrieben\\s+von|ein\\s+beitrag\\s+von|автор|текст|作者|文|著者|執筆";
const LEAD = new RegExp(`^[\\s|•·–—-]*(?:${SPOKEN_WORDS})(?:\\s*[:：]\\s*|\\s+(?=[\\p{L}@]))`, "iu");
const SPOKEN_LINE = new RegExp(`^(?:${SPOKEN_WORDS})\\s*[:：]?$`, "iu");

/** Tells whether a line announces an author's name on the next one. */
export const announcesName = (line: string): boolean => line.length <= 40 && SPOKEN_LINE.test(line.trim());

/** Tells whether a text starts with the words that precede a name. */
export const startsSpoken = (text: string): boolean => LEAD.test(text);

// Matches what follows a name in its line (with single spaces): a date, a reading time, a role behind a bar.
const TAIL =
  /\s?(?:[|•·»⋅]|\s[-–—/]\s|[,;]?\s(?:on|am|le|el|for|updated|last|published|posted|reviewed|reading|is\san?|@)\s|(?:,\s?|\s)(?:\d{1,2}[.\s/-]|\d{4}\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d)|\s?\([^()]*\)$).*$/iu;
// Matches signs at either end, and the word that introduced the part that was cut off.
const LEFT_OVER = /^[\s,;:|•·●–—-]+|(?:\s(?:at|on|in|for|and|&))?[\s,;:|•·●–—-]*$/giu;
const NO_NAME =
  /^(?:https?:|www\.|\{|#|©|\(c\)|cc[ -]by\b|null$|undefined$|unknown$|n\/a$|none$)|\{\{|[<>]|\.(?:com|org|net|php|html?)\/|^\d+$/i;

/**
 * Reduces a byline to its name, without the words, dates and signs around it; null when it cannot be a name
 * (addresses, handles, templates that nobody filled in).
 */
export function cleanName(written: string | null): string | null {
  const text = visibleLine(unescapeTwice(written ?? ""));
  const name = text.replace(LEAD, "").replace(TAIL, "").replace(LEFT_OVER, "");
  if (name.length < 2 || name.length > MAX_NAME_CHARS || name.startsWith("@")) return null;
  if (announcesName(name) || NOBODY.test(name)) return null;
  return !/\p{L}/u.test(name) || NO_NAME.test(name) ? null : name;
}

// Matches what stands in the place of a name and is none: days and months, addresses, mere roles, and the words of
// buttons and labels.
const NOBODY = new RegExp(
  `^(?:${[
    "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?\\.? \\d{1,2}(?:st|nd|rd|th)?",
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    "\\S+@\\S+\\.\\w+|\\[email.protected\\]",
    "(?:the |our |site |web ?)?(?:admin(?:istrator)?|webmaster|editors?|staff|authors?|moderators?|guests?|users?|super ?user|root|unknown|anonymous|(?:the )?(?:editorial|marketing|content|web|blog|news) (?:team|staff|desk)|team)",
    "(?:my |your |view )?(?:profile|account)(?: settings)?|(?:about|meet) (?:the|our|us)\\b.*|email(?: address)?\\b.*|comments?|share|subscri(?:be|ption).*|contributors?|view \\p{L}+|sign(?:ing)? (?:up|in).*|log ?(?:in|out)|join .*|published|edited|answered|asked|recommended .*|category\\b.*|\\p{L}+ ?/ ?\\p{L}+",
  ].join("|")})\\W*$`,
  "iu",
);

const JOINING = /(?:^| )(?:and|und|et|y|e|en|i|och|og|ja|ve|и)(?= )/g;

/**
 * Folds bylines for comparison: those that name the same people in the same order become equal, however they are
 * joined.
 */
export const foldNames = (names: string): string =>
  foldForComparison(names).replace(JOINING, "").replace(/ +/g, " ").trim();
