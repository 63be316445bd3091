import type { PageTree } from "../classification/page-tree.ts";
import {
  ElementFlag,
  firstFrom,
  isInside,
  type PageModel,
  startTagOf,
  Tag,
  valueIn,
} from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { Draft } from "./draft.ts";

/*
 * Furniture between the paragraphs of an article that its words or its function give away: links to a page's source,
 * pointers to other stories, labels of advertisements, forms that subscribe, and asides that lead away. To the trees it
 * is short text among content.
 */

const MOST_WORDS = 8;
const FURNITURE_LINKS = 0.9;
/** An address of the page's source in a repository's editor. */
const EDIT_ADDRESS = /\bhref\s*=\s*["']?[^"'\s>]{1,300}\/(?:-\/)?_?edit\/[^"'\s>]{1,300}/i;
const EDIT_WORDS =
  /^(?:edit|improve|suggest (?:an edit|edits|changes) (?:to|on)|view|show) (?:this |the )?(?:page|doc|document|file|source|page source|source of this page)?(?: ?source)?(?: ?on (?:github|gitlab|bitbucket|codeberg))?$/i;
/** Notes beside a function's name in a reference: the version that introduced it, and a link to its source. */
const SOURCE_OF_ITEM = /^(?:\[(?:source|src)\]|v?\d[\d.]{0,12}[\s·•|–−-]+(?:source|src))[\s·•|[\]–−-]*$/i;

/** How pages in many languages begin a pointer to another story; nothing but the words tells it from a remark. */
const POINTER =
  /^[\s\p{P}\p{S}]*(?:read (?:also|more|next|on)|also read|more on (?:this|the) (?:topic|story|subject)|related(?: (?:stor(?:y|ies)|articles?|posts?|reading|content|news|coverage|links?))?(?=\s*[:：|–—-]|$)|(?:recommended|suggested) (?:reading|stor(?:y|ies)|articles?)|you (?:may|might) (?:also )?(?:like|enjoy)|don['’]t miss|auch interessant|lesen sie (?:auch|mehr|dazu|hierzu)|lies auch|mehr (?:zum thema|dazu)|zum thema|(?:à )?lire (?:aussi|également|la suite)|sur le même sujet|(?:lea|lee|leer?) (?:también|además|más)|(?:también )?(?:te|le) puede interesar|leia (?:também|mais)|veja (?:também|mais)|leggi anche|leggi pure|lees (?:ook|meer|verder)|(?:prze)?czytaj (?:także|też|również|więcej|dalej)|zobacz (?:także|też|również|więcej)|čtěte (?:také|též|dále)|přečtěte si (?:také|též)|läs (?:också|även|mer)|les også|læs også|lue myös|olvassa? el ezt is|(?:ayrıca|bunu da) oku\p{L}*|citește și|citiți și|прочетете още|читайте (?:также|еще|ещё|так же|далее|по теме)|смотрите также|по теме|читайте (?:також|ще)|διαβάστε (?:επίσης|ακόμη|ακόμα|περισσότερα|και)|δείτε (?:επίσης|ακόμη|ακόμα)|延伸阅读|相关(?:阅读|新闻|报道|文章|链接)|推荐阅读|阅读更多|更多新闻|関連(?:記事|リンク|ニュース)|(?:あ|合)わせて読みたい|관련\s?기사|اقرأ (?:أيضا|أيضًا|المزيد))(?!\p{L})/iu;
const POINTER_WORDS = 40;
/** A pointer's link has at least this share of its characters. */
const POINTER_LINKS = 0.3;
const LABEL_WORDS = 5;
/** The text begins with a block of this many words; everything above is the head of the page. */
const SENTENCE_WORDS = 12;
const ADVERTISEMENT =
  /^[\s\p{P}]*(?:advertisements?|ad|advertising|sponsored(?: content)?|anzeige|werbung|publicité|publicidad|pubblicità|publicidade|advertentie|reklama|reklam|annonse?|mainos|реклама|διαφήμιση|广告|廣告|広告|광고|(?:article|story|text|content)? ?continues (?:after|below) (?:the |this )?(?:ad|advert|advertisement))[\s\p{P}]*$/iu;
/** Labels of a button, or of a link on its own, that sells a subscription; the box around it is an offer. */
const SUBSCRIBE =
  /^(?:(?:start|get|begin|choose|see|view|try)\s.{0,24}\b(?:subscription|trial|plans?|offers?)|subscribe(?: now| today)?|become a (?:member|subscriber)|jetzt (?:abonnieren|testen)|(?:jetzt )?abo(?:nnement)? (?:abschließen|bestellen|testen)|(?:je )?m['’]abonne|s['’]abonner|abonnez-vous|suscr[ií]b(?:ete|irse|ase)|assine(?: já| agora)?|abbonati(?: ora| subito)?|neem een abonnement|word (?:lid|abonnee)|prenumerera|bli (?:medlem|prenumerant|abonnent)|tegn abonnement|kup (?:dostęp|subskrypcję|prenumeratę)|předplatit|tilaa(?: nyt)?|подписаться|оформить подписку|передплатити|εγγραφείτε|立即订阅|订阅|購読する|구독하기)[\s!.→›»]*$/iu;
/** How letters end that their readers can stop. */
const UNSUBSCRIBE =
  /(?:^|[\s.|·(])(?:unsubscribe(?: (?:here|now|from this list))?|(?:newsletter )?(?:abmelden|abbestellen)|se désabonner|se désinscrire|darse de baja|cancelar (?:la )?(?:suscripción|inscrição|assinatura)|annulla (?:l['’])?iscrizione|disiscriviti|uitschrijven|afmelden|avregistrera|avprenumerera|avslutt abonnement|wypisz się|odhlásit|peru tilaus|отписаться|відписатися|διαγραφή|退订|取消订阅|配信停止|구독 취소)[\s.)|·]*$/iu;
const UNSUBSCRIBE_WORDS = 60;
/** Larger boxes with a form are a part of the page. */
const FORM_WORDS = 60;
const TYPED = /\btype\s*=\s*(?:"([^"]{0,20})"|'([^']{0,20})'|([^\s>"']{1,20}))/i;
/** Types of fields in forms that subscribe. Fields for numbers, as in calculators and recipes, are content. */
const WRITTEN_TYPES = new Set(["email", "text", "tel", "search"]);

/** Takes links to a page's source, and the links at the end of a newsletter, out of the choice. */
export function dropToolLinks({ tree: { model, candidates }, isKept }: Draft): void {
  for (const block of candidates)
    if (isKept[block] === 1 && (isEditLink(model, block) || isUnsubscribing(model, block))) isKept[block] = 0;
}

const isUnsubscribing = (model: PageModel, block: number): boolean =>
  statOf(model, block, TextStat.linkChars) > 0 &&
  statOf(model, block, TextStat.words) <= UNSUBSCRIBE_WORDS &&
  UNSUBSCRIBE.test(model.blocks.text[block]!.slice(-60));

function isEditLink(model: PageModel, block: number): boolean {
  const { text, firstText } = model.blocks;
  const linked = statOf(model, block, TextStat.linkChars);
  if (linked === 0 || statOf(model, block, TextStat.words) > MOST_WORDS) return false;
  if (SOURCE_OF_ITEM.test(text[block]!)) return true;
  if (linked < FURNITURE_LINKS * statOf(model, block, TextStat.chars)) return false;
  if (EDIT_WORDS.test(text[block]!.trim())) return true;
  let link = model.textParent[firstText[block]!]!;
  while (link >= 0 && model.tag[link] !== Tag.a) link = model.parent[link]!;
  return link >= 0 && EDIT_ADDRESS.test(model.html.slice(model.openStart[link]!, model.openEnd[link]!));
}

/** Takes what leads away from an article out of the choice for good, below its first sentence. */
export function dropInterruptions({ tree, isKept, isBarred }: Draft): void {
  const { model, candidates } = tree;
  const first = candidates.findIndex(
    (block) => isKept[block] === 1 && statOf(model, block, TextStat.words) >= SENTENCE_WORDS,
  );
  if (first < 0) return;
  const start = model.blocks.element[candidates[first]!]!;
  const isInterrupting = interruptingBoxes(tree, start);
  for (let index = first + 1; index < candidates.length; index++) {
    const block = candidates[index]!;
    const isInBox = isInterrupting[model.blocks.element[block]!] === 1;
    if (isInBox || isAdvertisement(model, block) || isPointer(model, block)) isBarred[block] = 1;
    else if (isPointerLabel(model, block))
      for (const pointed of candidates.subarray(index, endOfPointed(tree, index))) isBarred[pointed] = 1;
    if (isBarred[block] === 1) isKept[block] = 0;
  }
}

const isAdvertisement = (model: PageModel, block: number): boolean =>
  statOf(model, block, TextStat.words) <= LABEL_WORDS && ADVERTISEMENT.test(model.blocks.text[block]!);

function isPointer(model: PageModel, block: number): boolean {
  const linked = statOf(model, block, TextStat.linkChars);
  return (
    linked > 0 &&
    statOf(model, block, TextStat.words) <= POINTER_WORDS &&
    linked >= POINTER_LINKS * statOf(model, block, TextStat.chars) &&
    POINTER.test(model.blocks.text[block]!)
  );
}

const isPointerLabel = (model: PageModel, block: number): boolean =>
  statOf(model, block, TextStat.words) <= LABEL_WORDS && POINTER.test(model.blocks.text[block]!);

/** The candidate after the links below a label; the label itself where it heads text, and so stays. */
function endOfPointed({ model, candidates }: PageTree, label: number): number {
  let end = label + 1;
  while (end < candidates.length && isMostlyLinks(model, candidates[end]!)) end++;
  return end > label + 1 ? end : label;
}

const isMostlyLinks = (model: PageModel, block: number): boolean =>
  statOf(model, block, TextStat.linkChars) >= 0.7 * statOf(model, block, TextStat.chars);

/** Marks the elements in asides with links, in small forms, and in small boxes that ask for an address or sell. */
function interruptingBoxes(tree: PageTree, start: number): Uint8Array {
  const { model, words, linkChars } = tree;
  const { elementCount, elementEnd, parent, tag } = model;
  const marked = new Uint8Array(elementCount);
  const fields = fieldsOf(model);
  const isSmall = (element: number): boolean =>
    words[element]! <= FORM_WORDS && !isInside(model, start, element);
  const mark = (element: number): void => {
    if (marked[element] === 0) marked.fill(1, element, elementEnd[element]!);
  };
  const markAround = (element: number): void => {
    let box = element;
    while (parent[box]! >= 0 && isSmall(parent[box]!)) box = parent[box]!;
    mark(box);
  };
  for (const block of tree.candidates) {
    const element = model.blocks.element[block]!;
    if (element > start && isSmall(element) && isSubscribing(model, block)) markAround(element);
  }
  for (let element = start + 1; element < elementCount; element++) {
    if (!isSmall(element)) continue;
    if (tag[element] === Tag.aside && linkChars[element]! > 0) mark(element);
    if (tag[element] === Tag.form && firstInside(model, fields, element) >= 0) mark(element);
    if (tag[element] === Tag.input && typeOf(model, element) === "email") markAround(element);
  }
  return marked;
}

function isSubscribing(model: PageModel, block: number): boolean {
  const { flags, text } = model.blocks;
  if (statOf(model, block, TextStat.words) > LABEL_WORDS) return false;
  const isButton = (flags[block]! & ElementFlag.button) !== 0;
  return (isButton || isMostlyLinks(model, block)) && SUBSCRIBE.test(text[block]!.trim());
}

/** The fields that a reader writes into, ascending. */
function fieldsOf(model: PageModel): readonly number[] {
  const fields: number[] = [];
  for (let element = 0; element < model.elementCount; element++)
    if (model.tag[element] === Tag.input && WRITTEN_TYPES.has(typeOf(model, element))) fields.push(element);
  return fields;
}

const typeOf = (model: PageModel, input: number): string =>
  (valueIn(startTagOf(model, input, 600), TYPED) ?? "text").toLowerCase();

function firstInside({ elementEnd }: PageModel, ascending: readonly number[], element: number): number {
  const first = ascending[firstFrom(ascending, element)] ?? -1;
  return first < elementEnd[element]! ? first : -1;
}
