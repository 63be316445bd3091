import { CodeWords } from "../page/code-words.ts";

/** The kinds of phrases in short texts around content, one bit each. */
const PATTERNS: readonly RegExp[] = [
  // more to read
  /\b(?:related|recommended|you (?:may|might) (?:also )?(?:like|enjoy)|more (?:from|in|on|stories|articles|news|posts)|read (?:more|next|also)|see also|also (?:viewed|bought|like)|popular|trending|latest|similar|most read|up next|weitere|mehr (?:zum|zu|aus)|lesen sie auch|ähnliche|à lire|similaires|lire (?:aussi|la suite)|leer más|relacionad[oa]s|te puede interesar|leggi anche|correlati|lees ook|gerelateerd|powiązane|czytaj)\b|関連|相关|推荐|похожие|читайте также/i,
  // share bars
  /\b(?:share|tweet|facebook|twitter|whatsapp|linkedin|pinterest|reddit|e-?mail|print|copy link|follow us|teilen|drucken|partager|compartir|condividi|delen|udostępnij)\b|分享|シェア|поделиться/i,
  // comments
  /\b(?:comments?|repl(?:y|ies)|leave a|log in to (?:reply|comment)|kommentare?|commentaires?|comentarios?|commenti|reacties|komentarze)\b|コメント|评论|комментари/i,
  // subscriptions
  /\b(?:newsletter|subscribe|sign ?up|inbox|abonnieren|s'abonner|suscr[ií]bete|iscriviti|abonneer)\b|购读|подписаться/i,
  // legal
  /©|\b(?:copyright|all rights reserved|privacy|terms (?:of|and)|cookies?|impressum|datenschutz|agb|mentions légales|aviso legal)\b/i,
  // accounts and baskets
  /\b(?:log ?in|sign ?in|register|my account|cart|basket|checkout|wish ?list|add to|buy now|anmelden|warenkorb|connexion|panier|carrito|carrello)\b/i,
  // bylines
  /^(?:by|von|par|por|di|door|autor|author|written by|posted by|published|updated|text|foto|photo)\b.{2,80}$/i,
  // steps to other pages
  /^(?:previous|next|back|home|menu|skip to|search|older|newer|zurück|weiter|suche|startseite|précédent|suivant|accueil|anterior|siguiente|inicio|close|show|view all|load more|all)\b/i,
  // dates
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-zé]*\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}\b|\b\d{1,2}\.? [a-zäéû]{3,10}\.? \d{4}\b|\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|\b\d+ (?:min|minutes?|hours?|days?|weeks?|months?|years?) (?:ago|read)\b|年\d{1,2}月/i,
];

export const PATTERN_COUNT = PATTERNS.length;
/** Longer texts are sentences that mention such phrases. */
const MAX_PATTERN_CHARS = 120;

/**
 * The words that a phrase of each kind may begin with, in ASCII. Most texts contain none of them, and looking up
 * their words takes a tenth of the time of all expressions.
 */
const FIRST_WORDS = [
  `related recommended you more read see also popular trending latest similar most up weitere mehr lesen similaires
   lire leer relacionados relacionadas te leggi correlati lees gerelateerd czytaj`,
  `share tweet facebook twitter whatsapp linkedin pinterest reddit e email print copy follow teilen drucken partager
   compartir condividi delen`,
  `comment comments reply replies leave log kommentar kommentare commentaire commentaires comentario comentarios
   commenti reacties komentarze`,
  "newsletter subscribe sign signup inbox abonnieren s suscribete iscriviti abonneer",
  "copyright all privacy terms cookie cookies impressum datenschutz agb mentions aviso",
  `log login sign signin register my cart basket checkout wish wishlist add buy anmelden warenkorb connexion panier
   carrito carrello`,
  "by von par por di door autor author written posted published updated text foto photo",
  `previous next back home menu skip search older newer weiter suche startseite suivant accueil anterior siguiente
   inicio close show view load all`,
] as const;
/** The kind whose phrases contain or begin with a number. */
const DATE = 1 << FIRST_WORDS.length;
const ALL = (1 << PATTERN_COUNT) - 1;

const KINDS_OF_WORD: ReadonlyMap<string, number> = (() => {
  const kinds = new Map<string, number>();
  FIRST_WORDS.forEach((words, kind) => {
    for (const word of words.split(/\s+/)) kinds.set(word, (kinds.get(word) ?? 0) | (1 << kind));
  });
  return kinds;
})();
const WORDS = new CodeWords([...KINDS_OF_WORD.keys()]);
const KINDS_BY_WORD = Int32Array.from(KINDS_OF_WORD.values());
const scratch = new Uint16Array(MAX_PATTERN_CHARS);

/** Returns the kinds of phrases in a short text as a bit mask; 0 for longer texts. */
export function patternsOf(text: string): number {
  if (text.length > MAX_PATTERN_CHARS) return 0;
  let mask = 0;
  for (let rest = possiblePatterns(text); rest !== 0; rest &= rest - 1) {
    const kind = 31 - Math.clz32(rest & -rest);
    if (PATTERNS[kind]!.test(text)) mask |= 1 << kind;
  }
  return mask;
}

/** Returns the kinds that the words of a short text allow; all kinds when the text is not ASCII. */
function possiblePatterns(text: string): number {
  const { length } = text;
  let mask = 0;
  let start = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return ALL;
    scratch[at] = code;
    const isDigit = (code - 48) >>> 0 < 10;
    if (isDigit) mask |= DATE;
    if (isDigit || ((code | 32) - 97) >>> 0 < 26 || code === UNDERSCORE) continue;
    mask |= kindsOfWord(start, at);
    start = at + 1;
  }
  return mask | kindsOfWord(start, length);
}

const UNDERSCORE = 95;

function kindsOfWord(start: number, end: number): number {
  const word = end > start ? WORDS.find(scratch, start, end) : -1;
  return word < 0 ? 0 : KINDS_BY_WORD[word]!;
}
