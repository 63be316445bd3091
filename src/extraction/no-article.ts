import { ElementFlag, type PageModel, startTagOf, Tag, tagsNamed } from "./page/page-model.ts";

/** A page with more words than this has content of its own, whatever its title says. */
export const MAX_NOTICE_WORDS = 60;

/** Titles and headings of error pages, in lower case and with `'` as apostrophe. */
const SAYINGS = `
  not found|(?:do|does)(?: not|n't) exist|no longer (?:exists|available|here)|nothing (?:was )?found
  (?:can ?not|can't|could(?: not|n't)|unable to) (?:be )?(?:find|found)
  page (?:is |was |has been )?(?:missing|gone|removed|deleted)
  nicht gefunden|nicht finden|existiert nicht|gibt es nicht|nicht (?:mehr )?(?:vorhanden|verfügbar)
  introuvable|non trouvée?|pas (?:été )?trouvée?|n'existe (?:pas|plus)
  no (?:se )?(?:ha |pudo |puede )?(?:sido |podido )?encontr|no existe|no se encuentra
  não (?:foi )?(?:possível )?encontr|não existe|non (?:è stat[ao] )?trovat|non esiste
  niet (?:worden )?gevonden|bestaat niet|hitta(?:de)?s inte|hittar inte|inte hittas|finns inte
  ikke (?:blive )?fundet|ikke findes|findes ikke|ikke funnet|finnes ikke|fant ikke
  ei löydy|ei löytynyt|ei ole olemassa|nie (?:została |można )?(?:znale|odnale)|nie istnieje
  nenalezen|neexistuje|nebyla? nalezen|nenájden|nebola nájden|nem található|nem létezik
  nu (?:a fost |am )?găsit|nu există|negăsit|не ?найден|не существует|не ?знайден|не існує|не (?:е|беше) намерен
  δεν βρέθηκε|δεν υπάρχει|bulunamadı|mevcut değil|không tìm thấy|không tồn tại|tidak ditemukan
  غير موجود|لم يتم العثور|یافت نشد|پیدا نشد|לא נמצא|לא קיים|नहीं मिल|ไม่พบ
  見つかりません|存在しません|找不到|未找到|不存在|沒有找到|没有找到|찾을 수 없|존재하지 않`;

const ERROR_WORDS =
  "error|gone|http|status|code|fehler|erreur|errore|erro|fout|fel|fejl|feil|virhe|błąd|chyba|hiba|eroare|ошибка|помилка|грешка|σφάλμα|hata|lỗi|kesalahan|خطأ|خطای|שגיאה|त्रुटि|エラー|错误|錯誤|오류";

// A number says so only by itself or with such a word: cars and bus lines have it, too.
const STATUS = `(?:^|[|:·–—-]\\s?)(?:(?:${ERROR_WORDS})\\W{0,3}){0,2}4(?:04|10)\\W{0,3}(?:(?:${ERROR_WORDS})\\W{0,2})?(?:$|[|:·–—-])`;

const SAYS_MISSING = new RegExp(`${SAYINGS.trim().replaceAll("\n  ", "|")}|${STATUS}`, "u");

const MAX_TITLE = 300;

/** Tells whether one of a page's titles and headings says that there is no such page. */
export const sayMissing = (titles: readonly string[]): boolean =>
  titles.some((title) =>
    SAYS_MISSING.test(title.slice(0, MAX_TITLE).normalize("NFC").toLowerCase().replaceAll("’", "'").trim()),
  );

const NOT_SHOWN = ElementFlag.hidden | ElementFlag.template | ElementFlag.noscript | ElementFlag.textless;
const LISTED = ElementFlag.link | ElementFlag.heading;
const MAIN_PARTS = tagsNamed("main article");
const BESIDE = tagsNamed("nav header footer aside form dialog");
const MAIN_ROLE = /\brole\s{0,3}=\s{0,3}["']?main\b/i;

/** The first level-1 heading that the page shows; -1 for none. */
export const firstHeading = ({ tag, blocks }: PageModel): number =>
  blocks.element.findIndex(
    (element, block) => tag[element] === Tag.h1 && (blocks.flags[block]! & NOT_SHOWN) === 0,
  );

/**
 * The blocks of a page that has nothing but a heading and links to say: the heading, and the links after it in the
 * page's main part or, where none is marked, in the nearest element around the heading that holds any.
 * @param heading the block of the page's title
 */
export function linksUnder(model: PageModel, heading: number): Int32Array {
  const { parent, tag, blocks } = model;
  const own = blocks.element[heading]!;
  const around: number[] = [];
  for (let at = parent[own]!; at >= 0 && tag[at] !== Tag.body && tag[at] !== Tag.html; at = parent[at]!)
    around.push(at);
  const main = around.find((element) => isMainPart(model, element));
  const places = main === undefined ? around : [main];
  const found = places.map((place) => linksIn(model, place, heading)).find((links) => links.length > 0);
  return Int32Array.from([heading, ...(found ?? [])]);
}

const isMainPart = (model: PageModel, element: number): boolean =>
  MAIN_PARTS.has(model.tag[element]!) || MAIN_ROLE.test(startTagOf(model, element, 1000));

function linksIn(model: PageModel, place: number, heading: number): number[] {
  const { blocks, elementEnd } = model;
  const found: number[] = [];
  for (let block = heading + 1; block < blocks.count; block++) {
    const element = blocks.element[block]!;
    if (element >= elementEnd[place]!) break;
    const flags = blocks.flags[block]!;
    if ((flags & LISTED) !== 0 && (flags & NOT_SHOWN) === 0 && !isBeside(model, element, place))
      found.push(block);
  }
  return found;
}

function isBeside({ parent, tag }: PageModel, element: number, place: number): boolean {
  for (let at = element; at > place; at = parent[at]!) if (BESIDE.has(tag[at]!)) return true;
  return false;
}
