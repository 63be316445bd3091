/** One bit per kind of phrase that short texts around the content use. */
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
/** Longer texts are sentences, which say such things without being them. */
const MAX_PATTERN_CHARS = 120;

/** The kinds of phrase in a short text, as a bit mask; 0 for longer texts. */
export function patternsOf(text: string): number {
  if (text.length > MAX_PATTERN_CHARS) return 0;
  let mask = 0;
  for (let index = 0; index < PATTERNS.length; index++) {
    if (PATTERNS[index]!.test(text)) mask |= 1 << index;
  }
  return mask;
}
