import type { Block, BlockKind } from "../base/failure.ts";
import { ACCEPTS_COOKIES } from "./classification/page-tree.ts";
import type { JsonLdObject } from "./metadata/metadata-page.ts";
import { ElementFlag, type PageModel, type ScannedPage, startTagOf, Tag } from "./page/page-model.ts";
import { statOf, TextStat } from "./page/word-stats.ts";
import { countWords, visibleLine } from "./text.ts";
import type { AnswerFacts, Article } from "./types.ts";

/** What else tells of a page than what is on it. */
type Beside = {
  readonly jsonLd: readonly JsonLdObject[];
  /** The blocks of the article, in their order. */
  readonly kept: ArrayLike<number>;
  /** Absent for a document without one. */
  readonly answer: AnswerFacts | null;
};

/**
 * Tells whether a page stands in for the one that was asked for, by at least two signs together: its structure, its
 * answer, what its title says. A page with many words or links is never one, and no word of a text is a sign by itself.
 * Of 3 489 pages of development two are told, a challenge and a preview; what is not recognised is extracted as it is.
 */
export function blockOf(page: ScannedPage, article: Article | null, beside: Beside): Block | null {
  const { answer } = beside;
  if ((article?.wordCount ?? 0) > MAX_WORDS || MISSING.has(answer?.status ?? 0)) return null;
  const paywall = paywallSigns(page.model, article?.wordCount ?? 0, beside);
  if (paywall !== null) return { kind: "paywall", signs: paywall };
  const shown = shownBlocks(page.model);
  if (page.facts.links.length > MAX_LINKS || shown.words > MAX_WORDS) return null;
  const view = viewOf(page, shown, answer);
  for (const { kind, mostWords, signs } of RULES) {
    const found = view.words > mostWords ? null : signs(view);
    if (found !== null) return { kind, signs: [...new Set(found)].slice(0, MAX_SIGNS) };
  }
  return null;
}

/** The most that a consent wall says, which says more than all others. */
const MAX_WORDS = 400;
/** Links of a page that leads only to terms, help and languages. */
const MAX_LINKS = 30;
/** A notice leads home and to help; other pages have a navigation. */
const MOST_LINKS_OF_NOTICE = 5;
const MAX_SIGNS = 4;
/** These say of themselves what they are. */
const MISSING: ReadonlySet<number> = new Set([404, 410]);

/** What is seen of a page with few words. */
type View = {
  readonly words: number;
  readonly links: number;
  /** Title and headings. */
  readonly titles: readonly string[];
  /** The text that is shown, block by block. */
  readonly lines: readonly string[];
  readonly buttons: readonly string[];
  /** Start tags and the code of scripts: what names whose page it is. */
  readonly markup: string;
  readonly hasPassword: boolean;
  /** Whether there is a field for words, be it a password. */
  readonly hasField: boolean;
  /** What the answer says besides: a status of refusal, `noindex`. */
  readonly general: readonly string[];
  /** Whether the page names the request, as a guard does, and as articles do in their code. */
  readonly trace: readonly string[];
  readonly answer: AnswerFacts | null;
};

type Rule = {
  readonly kind: BlockKind;
  readonly mostWords: number;
  /** Returns the signs that together show it, or null. */
  readonly signs: (view: View) => readonly string[] | null;
};

const NOT_SHOWN =
  ElementFlag.hidden | ElementFlag.template | ElementFlag.noscript | ElementFlag.textless | ElementFlag.panel;

type Shown = { readonly blocks: readonly number[]; readonly words: number };

/** The blocks that are shown, up to the first that makes the words too many. */
function shownBlocks({ blocks }: PageModel): Shown {
  const shown: number[] = [];
  let words = 0;
  for (let block = 0; block < blocks.count && words <= MAX_WORDS; block++) {
    if ((blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
    shown.push(block);
    words += countWords(blocks.text[block]!);
  }
  return { blocks: shown, words };
}

function viewOf({ model, facts }: ScannedPage, { blocks, words }: Shown, answer: AnswerFacts | null): View {
  const { text, flags } = model.blocks;
  const linesWith = (flag: number) =>
    blocks.filter((block) => (flags[block]! & flag) !== 0).map((block) => text[block]!);
  const { markup, fields } = markupOf(model);
  const status = answer !== null && REFUSALS.has(answer.status) ? [`HTTP ${answer.status}`] : [];
  const lines = blocks.map((block) => text[block]!);
  const isTraced =
    facts.links.length <= MOST_LINKS_OF_NOTICE &&
    blocks.some((block) => (flags[block]! & ElementFlag.preformatted) === 0 && TRACE.test(text[block]!));
  const isNoindex = facts.robots.some((directives) => /\b(?:noindex|none)\b/i.test(directives));
  return {
    words,
    links: facts.links.length,
    titles: [facts.title, ...linesWith(ElementFlag.heading)].map((title) => visibleLine(title).slice(0, 200)),
    lines,
    buttons: [...linesWith(ElementFlag.button), ...fields.labels],
    markup,
    hasPassword: fields.types.includes("password"),
    hasField: fields.types.some((type) => /^(?:text|email|tel|password|search|url)$/.test(type)),
    general: [...status, ...(isNoindex ? ["noindex"] : [])],
    trace: isTraced ? ["the number of the request"] : [],
    answer,
  };
}

/** 429 counts, too, but not as a rate page: it has its own code, and is tried again. */
const REFUSALS: ReadonlySet<number> = new Set([202, 401, 403, 405, 406, 429, 451, 503]);

const MAX_ELEMENTS = 3000;
const MAX_MARKUP = 100_000;
const TYPE = /\stype\s*=\s*["']?([a-z]+)/i;
const VALUE = /\svalue\s*=\s*(?:"([^"]*)"|'([^']*)')/i;

function markupOf(model: PageModel) {
  const { tag, flags, html, openEnd, closeEnd, elementCount } = model;
  let markup = "";
  const types: string[] = [];
  const labels: string[] = [];
  for (let element = 0; element < Math.min(elementCount, MAX_ELEMENTS); element++) {
    if (markup.length > MAX_MARKUP) break;
    const start = startTagOf(model, element);
    markup += `${start}\n`;
    if (tag[element] === Tag.script)
      markup += html.slice(openEnd[element]!, Math.min(closeEnd[element]!, openEnd[element]! + 10_000));
    const isHidden = (flags[element]! & (ElementFlag.hidden | ElementFlag.template)) !== 0;
    if (isHidden || (tag[element] !== Tag.input && tag[element] !== Tag.textarea)) continue;
    const type = TYPE.exec(start)?.[1]?.toLowerCase() ?? "text";
    types.push(type);
    if (type === "submit" || type === "button") labels.push(VALUE.exec(start)?.slice(1).join("") ?? "");
  }
  return { markup, fields: { types, labels } };
}

/** The first of the texts that matches, as a sign; null for none. */
function saying(texts: readonly string[], pattern: RegExp, where = "title"): string | null {
  const found = texts.find((text) => pattern.test(text.normalize("NFC").replaceAll("’", "'")));
  return found === undefined ? null : `${where} ${JSON.stringify(found.slice(0, 80))}`;
}

/**
 * What only a page that stands before another has of these makers. The scripts with which they watch ordinary pages are
 * none of it: `/cdn-cgi/challenge-platform/scripts/jsd/`, `_Incapsula_Resource` as a script, `awswaf.com`.
 */
const VENDOR_MARKS = new RegExp(
  String.raw`/cdn-cgi/challenge-platform/[\w/]{0,40}orchestrate|_cf_chl_opt|captcha-delivery\.com|id=["']?px-captcha|captcha\.px-cdn\.net|` +
    String.raw`<iframe[^>]{1,300}_Incapsula_Resource|gokuProps|/_sec/(?:verify|cp_challenge)|sec-if-cpt-container|bm-verify|` +
    String.raw`/\.well-known/ddos-guard/|/\.within\.website/|sucuri_cloudproxy|/149e9513-[\w-]{1,40}/[\w-]{1,40}/ips\.js`,
  "i",
);
/** Widgets that also stand below ordinary forms. */
const WIDGETS =
  /class=["'][^"']*\b(?:g-recaptcha|h-captcha|cf-turnstile)\b|challenges\.cloudflare\.com\/turnstile|geetest\.com/i;
/** Headers with which these makers say so themselves. */
const VENDOR_HEADERS: readonly (readonly [name: string, value: RegExp])[] = [
  ["cf-mitigated", /^challenge$/i],
  ["x-amzn-waf-action", /^(?:challenge|captcha)$/i],
];
const FRONTS =
  /^(?:cloudflare|akamai\w*|ddos-guard|imperva|incapsula|datadome|sucuri\S*|qrator|awselb\S*|cloudfront)/i;

/** What the title or a heading of such a page says, and hardly any article's does; the vague ones say nothing else. */
const CHALLENGE_TITLES =
  /^(?:(?:just a moment|one more step|human verification|bot verification|robot check|security (?:check|verification|challenge)|vérification de sécurité|sicherheitsüberprüfung|un instant|(?:nur )?einen moment|un momento|un attimo|um momento|проверка браузера|один момент|請稍候|请稍候|しばらくお待ちください|잠시만(?: 기다리십시오)?)\s*(?:[.…!|–-]|$)|attention required! ?\||checking (?:your|if the) (?:browser|site connection)|(?:please )?verify(?:ing)? (?:that )?you are (?:a )?human|(?:let's )?confirm (?:that )?you(?:'re| are) (?:a )?human|are you (?:a )?(?:human|robot|bot)\?|pardon our interruption|ddos-guard|access to this page has been denied|making sure you're not a bot|unusual traffic from your|press (?:&|and) hold|sind sie ein mensch\?)/i;
/** What an ordinary refusal says, too: it takes a mark of the maker. */
const REFUSAL_TITLES =
  /^(?:access (?:is )?denied|request (?:unsuccessful|blocked|rejected)|sorry, you have been blocked|blocked|forbidden|human|verify|error|captcha)/i;
/** The number under which the site's guard has noted the request, or the reader's address. */
const TRACE =
  /\b(?:ray|reference|incident|event|support|request|block|session)[ -]?(?:id|#|number|no\.?)\W{0,3}(?=\S*\d)\S{6,}|\bincident id\b|\byour ip(?: address)?\b\W{0,3}(?:is )?\W{0,2}\d{1,3}(?:\.\d{1,3}){3}/i;

/** What a captcha says of itself; downloads with one say more. */
const MOST_WORDS_OF_PROMPT = 60;

function challengeSigns(view: View): readonly string[] | null {
  const { titles, general, trace } = view;
  const { sent, vendor, widget, front } = guardSigns(view);
  const title = saying(titles, CHALLENGE_TITLES);
  const refusal = saying(titles, REFUSAL_TITLES);
  const said = [title ?? refusal ?? []].flat();
  if (sent.length > 0) return [...sent, ...said, ...vendor, `${view.words} words`];
  const others = [...vendor, ...widget, ...general, ...trace];
  if (title !== null) return others.length > 0 ? [title, ...others] : null;
  if (vendor.length > 0 && [...general, ...said, ...trace].length > 0) return [...said, ...others];
  if (widget.length > 0 && general.length > 0 && view.words <= MOST_WORDS_OF_PROMPT) return others;
  // A guard names the request that it refuses; the application behind it does not.
  const isRefused = refusal !== null && trace.length > 0 && general.length > 0;
  return isRefused && front.length > 0 ? [refusal, ...trace, ...front, ...general] : null;
}

/** What the makers of guards leave in headers and markup. */
function guardSigns({ markup, answer, hasField }: View) {
  const { headers = {} } = answer ?? {};
  const mark = VENDOR_MARKS.exec(markup)?.[0];
  const server = headers.server ?? "";
  return {
    sent: VENDOR_HEADERS.filter(([name, value]) => value.test(headers[name] ?? "")).map(
      ([name]) => `header ${name}: ${headers[name]}`,
    ),
    vendor: mark === undefined ? [] : [`markup ${mark.replace(/^(?:id=["']?|<.*(?=_Incapsula))/, "")}`],
    widget: !hasField && WIDGETS.test(markup) ? ["a captcha without another field"] : [],
    front: FRONTS.test(server) ? [`server ${server}`] : [],
  };
}

const RATE_TITLES =
  /\btoo many (?:requests|page views|attempts)\b|\brate[ -]?limit(?:ed| exceeded| reached)|\brequest limit (?:exceeded|reached)|you(?:'re| are| have been) (?:being )?rate[ -]limited|zu viele anfragen|trop de requêtes|demasiadas (?:solicitudes|peticiones)|troppe richieste|muitas (?:solicitações|requisições)|te veel verzoeken|слишком много запросов|请求过于频繁|访问过于频繁|リクエストが多すぎ/i;
const WAIT = /\b(?:try|retry) again (?:later|in|after|shortly)\b|\bwait (?:a|some|\d+)\b|\bslow down\b/i;

function rateSigns({ titles, lines, general, trace, answer, links, words }: View): string[] | null {
  const title = saying(titles, RATE_TITLES);
  // The status says it by itself, and has its own code.
  if (title === null || links > MOST_LINKS_OF_NOTICE || answer?.status === 429) return null;
  const retry = answer?.headers["retry-after"];
  const others = [
    ...general,
    ...(retry === undefined ? [] : [`header retry-after: ${retry}`]),
    ...trace,
    ...(words <= 40 && lines.some((line) => WAIT.test(line)) ? [`${words} words that ask to wait`] : []),
  ];
  return others.length > 0 ? [title, ...others] : null;
}

const REGION =
  /(?:not|n't|un) ?(?:currently |yet )?(?:available|accessible|supported)\b.{0,40}\b(?:your|this) (?:country|region|location|territory)|(?:blocked|restricted|denied)\b.{0,30}\b(?:your|this) (?:country|region|location)|unavailable (?:due to|for) legal reasons|(?:unavailable|not available|blocked).{0,40}\b(?:European Union|European Economic Area|EU|EEA)\b|country belonging to the European Economic Area|in (?:ihrem land|ihrer region|deinem land) nicht (?:verfügbar|zugänglich)|(?:pas|non) disponible dans votre (?:pays|région)|no (?:está )?disponible en (?:su|tu) (?:país|región)|non (?:è )?disponibile nel tuo paese|недоступ\S{1,4} в (?:вашей стране|вашем регионе)/i;
const REGION_ADDRESS = /\/(?:geo-?block\w*|region-?block\w*|not-available-in-\w+|unavailable-location)\b/i;

function regionSigns({ titles, lines, general, trace, answer, links }: View): string[] | null {
  const title = saying(titles, REGION) ?? saying(lines, REGION, "text");
  if (title === null || links > MOST_LINKS_OF_NOTICE) return null;
  const address = ledTo(answer, REGION_ADDRESS);
  const others = [...general, ...address, ...trace];
  return others.length > 0 ? [title, ...others] : null;
}

/** Says that the site has led from the page asked for to an address like this. */
function ledTo(answer: AnswerFacts | null, address: RegExp): string[] {
  if (answer === null || answer.asked === answer.url || address.test(answer.asked)) return [];
  const { host, pathname } = new URL(answer.url);
  return address.test(`//${host}${pathname}`) ? [`led to ${host}${pathname.slice(0, 80)}`] : [];
}

const CONSENT_ADDRESS =
  /\/\/(?:consent|myprivacy|privacy-?(?:wall|gate)|zustimmung|cmp)\.|\/(?:consent|collectconsent|cookie-?(?:wall|consent)|privacy-?(?:wall|gate)|zustimmung)(?:[/.]|$)/i;
const CONSENT_TITLES =
  /^(?:before you continue|we value your privacy|your privacy (?:choices|matters)|cookie (?:consent|wall)|privacy wall|bevor (?:sie|du) (?:fortfahren|fortfährst|zu)|ihre privatsphäre|zustimmung|avant de continuer|nous respectons votre vie privée|antes de continuar|valoramos su privacidad|prima di continuare|voordat (?:je|u) (?:verder|doorgaat)|accept (?:all )?cookies (?:to|and) continue)/i;

/** What the paragraphs of a wall are about. */
const PRIVACY =
  /cookie|privacy|consent|partner|personal(?:i[sz]ed)? |advertis|tracking|datenschutz|einwilligung|werbung|zustimm|confidentialit|publicit|données|privacidad|datos|consentim|consenso|dati personali|gegevens|toestemming|プライバシー|同意|куки|隐私/i;
const MOST_OTHER_WORDS = 40;

function consentSigns({ titles, general, answer, buttons, links, lines }: View): string[] | null {
  const accept = saying(
    buttons.map((label) => label.trim()),
    ACCEPTS_COOKIES,
    "button",
  );
  if (accept === null) return null;
  const address = ledTo(answer, CONSENT_ADDRESS);
  if (address.length > 0) return [...address, accept, ...general];
  const title = saying(titles, CONSENT_TITLES);
  if (title === null || general.length === 0 || links > MAX_LINKS / 2) return null;
  const prose = lines
    .map((line) => (PRIVACY.test(line) ? 0 : countWords(line)))
    .filter((words) => words >= 10);
  if (prose.reduce((sum, words) => sum + words, 0) >= MOST_OTHER_WORDS) return null;
  return [title, accept, ...general];
}

const LOGIN_ADDRESS =
  /\/(?:[\w-]*[_-])?(?:log-?in|sign-?in|logon|sso|saml2?|oauth2?|authorize|auth|anmelden|connexion|iniciar-sesion|wp-login\.php|users\/sign_in)(?:[/.]|$)|\/\/(?:login|signin|sso|auth|accounts|idp|id)\./i;
const LOGIN_TITLES =
  /\b(?:log|sign)[ -]?(?:in|on)\b|\blogin\b|^(?:anmeld|einloggen|connexion|se connecter|identifiez|iniciar sesión|inicia sesión|accedi|entrar|inloggen|logga in|zaloguj|logowanie|вход|войти|ログイン|登录|登入|로그인)/i;

function loginSigns({ titles, general, answer, hasPassword, hasField, words }: View): string[] | null {
  const title = saying(titles, LOGIN_TITLES);
  const address = ledTo(answer, LOGIN_ADDRESS);
  const fewWords = `${words} words`;
  // Some ask for the name first, and for the password on the next page.
  if (address.length > 0 && (hasPassword || (hasField && title !== null)))
    return [
      ...address,
      ...(title === null ? [] : [title]),
      hasPassword ? "a password field" : "a field for a name",
    ];
  if (!hasPassword || title === null || answer === null) return null;
  // Whoever asks for the login page, or a site's start, gets what was asked for.
  if (LOGIN_ADDRESS.test(answer.asked) || new URL(answer.asked).pathname === "/") return null;
  return general.length > 0 ? [title, "a password field", fewWords, ...general] : null;
}

const RULES: readonly Rule[] = [
  { kind: "challenge", mostWords: 200, signs: challengeSigns },
  { kind: "rate", mostWords: 120, signs: rateSigns },
  { kind: "region", mostWords: 150, signs: regionSigns },
  { kind: "consent", mostWords: MAX_WORDS, signs: consentSigns },
  { kind: "login", mostWords: 150, signs: loginSigns },
];

/** A preview is a lead and a paragraph or two; without the page's own word it has other signs as well. */
const MAX_DECLARED_WORDS = 200;
const NOT_FREE = /^(?:false|no)$|\/False$/i;
const OFFER_NAMES =
  /\b(?:paywall|pay-wall|regwall|subscri(?:be|ption)-?(?:wall|offer|prompt|barrier)|premium-?wall|piano-?(?:offer|container))\b/i;
const OFFERS =
  /\b(?:subscribe|sign up|register|log in|sign in|join) (?:now )?to (?:read|continue|keep reading|unlock)|\bto (?:continue|keep) reading\b|\b(?:continue|keep) reading (?:with|for|by)\b|\bto (?:read|unlock) the (?:full|whole|rest of th[ei]s?) (?:story|article)|\bth(?:is|e rest of this) (?:article|story|post|content) is (?:for|exclusive|only|available|reserved)\b.{0,40}\b(?:subscribers|members)|\balready a (?:subscriber|member)\?|(?:weiterlesen|weiter lesen) mit|jetzt (?:abonnieren|weiterlesen)|nur für abonnent|um weiterzulesen|(?:den ganzen|diesen) artikel (?:weiter)?lesen\b.{0,20}\b(?:abo|mit)|exklusiv für abonnent|réservée? (?:aux|à nos) abonnés|pour lire la suite|(?:abonnez|connectez|inscrivez)-vous pour (?:lire|continuer|poursuivre)|pour (?:continuer|poursuivre) (?:la|votre) lecture|(?:suscríbe(?:te|se)|regístre?(?:ate|se)|inicia sesión) para|para (?:seguir|continuar) leyendo|(?:solo|exclusivo) para (?:suscriptores|abonados)|(?:abbonati|registrati|accedi) per|per continuare a leggere|(?:riservat|solo)\S{0,2} (?:agli|per gli) abbonati|alleen voor (?:abonnees|leden)|om verder te lezen|para continuar (?:a ler|lendo)|exclusivo para assinantes|(?:会員|購読者|有料会員|登録会員)(?:登録)?(?:限定|専用|の(?:み|方))|続きを(?:読|お読み|ご覧)|続きは.{0,20}(?:会員|登録|購読)/i;

/** Data count words in other ways than we do. */
const MARGIN_OF_WORDS = 100;

function paywallSigns(model: PageModel, words: number, { jsonLd, kept }: Beside): string[] | null {
  // The page's own data say that its article is not free; the rest of it may still be there, so that is not enough.
  const isDeclared = jsonLd.some(({ isAccessibleForFree: free }) => NOT_FREE.test(String(free)));
  const declared = isDeclared ? ["isAccessibleForFree: false"] : [];
  const found = offerAfter(model, kept);
  if (found !== null) {
    const isLonger = jsonLd.some(({ wordCount }) => Number(wordCount) > 2 * words + MARGIN_OF_WORDS);
    const signs = [...declared, ...found.cut, ...(isLonger ? ["a wordCount of more"] : [])];
    if (signs.length > 0) return [...signs, found.offer, `${words} words`].slice(-MAX_SIGNS);
  }
  if (!isDeclared || words > MAX_DECLARED_WORDS) return null;
  const offer = saying(
    model.blocks.text.filter((_, block) => (model.blocks.flags[block]! & NOT_SHOWN) === 0),
    OFFERS,
    "text",
  );
  const name = model.names.find((written) => OFFER_NAMES.test(written));
  const shown = offer ?? (name === undefined ? null : `element ${JSON.stringify(name.slice(0, 80))}`);
  return shown === null ? null : [...declared, shown, `${words} words`];
}

const MOST_WORDS_OF_OFFER = 25;
const LEAST_WORDS_OF_PROSE = 8;
/** Blocks after a text in which an offer begins. */
const NEAR = 6;

/** Finds the offer that follows the last prose of an article, and the signs that the prose goes on. */
function offerAfter(model: PageModel, kept: ArrayLike<number>) {
  const { count, flags, text, element } = model.blocks;
  let end = -1;
  let near = 0;
  let place = 0;
  for (let block = kept[0] ?? count; block < count; block++) {
    const isKept = kept[place] === block;
    if (isKept) place++;
    if (place === kept.length && near >= NEAR) return null;
    if ((flags[block]! & NOT_SHOWN) !== 0) continue;
    const length = lengthOf(model, block);
    if (length <= MOST_WORDS_OF_OFFER && end >= 0 && near++ < NEAR && OFFERS.test(text[block]!)) {
      const box = boxWithout(model, element[block]!, element[end]!);
      const offer = `text ${JSON.stringify(text[block]!.slice(0, 80))}`;
      if (endsWith(model, kept, block, box)) return { offer, cut: cutSigns(model, end, box) };
    } else if (isKept && length >= LEAST_WORDS_OF_PROSE && (flags[block]! & NO_PROSE) === 0) {
      end = block;
      near = 0;
    }
  }
  return null;
}

const NO_PROSE = ElementFlag.heading | ElementFlag.link | ElementFlag.button | ElementFlag.form;

/** The length of a block in words; an ideograph is half of one. */
const lengthOf = (model: PageModel, block: number): number =>
  Math.max(statOf(model, block, TextStat.words), statOf(model, block, TextStat.ideographs) / 2);

/** The outermost element around one that does not hold another. */
function boxWithout({ parent, elementEnd }: PageModel, inner: number, other: number): number {
  let box = inner;
  for (let up = parent[box]!; up >= 0 && !(up <= other && other < elementEnd[up]!); up = parent[up]!)
    box = up;
  return box;
}

const PRESSED = ElementFlag.button | ElementFlag.form;

/** Whether an offer has something to press in its box or after it, and the article nothing more to say. */
function endsWith(model: PageModel, kept: ArrayLike<number>, block: number, box: number): boolean {
  const { elementEnd, parent, blocks } = model;
  let rest = 0;
  for (let place = kept.length - 1; place >= 0 && kept[place]! > block; place--)
    if (blocks.element[kept[place]!]! >= elementEnd[box]!) rest += lengthOf(model, kept[place]!);
  const around = elementEnd[Math.max(parent[box]!, 0)]!;
  let hasPressed = false;
  for (let next = block; next < Math.min(blocks.count, block + NEAR); next++)
    hasPressed ||=
      blocks.element[next]! < around &&
      ((blocks.flags[next]! & PRESSED) !== 0 || statOf(model, next, TextStat.linkChars) > 0);
  return hasPressed && rest <= MOST_WORDS_OF_OFFER;
}

const FADE_NAMES =
  /(?:^|[\s_-])(?:fade(?!s?-?in\b)\w*|gradient\w*|truncat\w*|blur(?!-?up)\w*|obscur\w*|cut-?off)(?=$|[\s_-])/i;
const FADE_STYLES =
  /mask(?:-image)?\s*:[^;]{0,40}gradient|linear-gradient\([^;]{0,200}(?:transparent|,\s*0?\.?0\s*\))|filter\s*:\s*blur\(|max-height\s*:\s*\d[^;]{0,20};\s*overflow\s*:\s*hidden/i;
const CUT = /(?:…|\.{3})[\s\])»"”]*$/;
const WITHIN_SENTENCE = /[\p{Ll},]$/u;

/** The signs that a text goes on where it ends: it fades or breaks off. */
function cutSigns(model: PageModel, block: number, box: number): string[] {
  const text = model.blocks.text[block]!.trim();
  const element = model.blocks.element[block]!;
  const fading = fadingElement(model, element, box);
  const breaks = CUT.test(text) || (model.tag[element] === Tag.p && WITHIN_SENTENCE.test(text));
  return [
    ...(fading === undefined ? [] : [`markup ${fading.slice(0, 80)}`]),
    ...(breaks ? [`a text that ends in ${JSON.stringify(text.slice(-20))}`] : []),
  ];
}

/** The start tag of what fades a text: an element around its end, or between it and the box of the offer. */
function fadingElement(model: PageModel, end: number, box: number): string | undefined {
  const { tag, html, openEnd, closeEnd, elementCount, parent, elementEnd } = model;
  let rules = "";
  for (let element = 0; element < elementCount && rules.length < MAX_MARKUP; element++)
    if (tag[element] === Tag.style) rules += html.slice(openEnd[element]!, closeEnd[element]!);
  const fading = rules.split("}").filter((rule) => FADE_STYLES.test(rule));
  const classes = new Set(fading.flatMap((rule) => rule.split("{", 1)[0]!.match(/(?<=\.)[\w-]+/g) ?? []));
  const looked: number[] = [];
  for (let up = end; up >= 0 && elementEnd[up]! <= box; up = parent[up]!) looked.push(up);
  for (let next = end + 1; next < box; next++) if (elementEnd[next]! <= box) looked.push(next);
  return looked
    .map((element) => startTagOf(model, element))
    .find(
      (start) =>
        (/\sstyle\s*=/i.test(start) && FADE_STYLES.test(start)) ||
        [...start.matchAll(NAMES)].some(
          ([, names = ""]) => FADE_NAMES.test(names) || names.split(/\s+/).some((name) => classes.has(name)),
        ),
    );
}

const NAMES = /\s(?:class|id)\s*=\s*["']?([^"'>]*)/gi;
