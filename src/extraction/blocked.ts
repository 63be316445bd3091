import type { Block, BlockKind } from "../base/failure.ts";
import { ACCEPTS_COOKIES } from "./classification/page-tree.ts";
import type { JsonLdObject } from "./metadata/metadata-page.ts";
import { ElementFlag, type PageModel, type ScannedPage, startTagOf, Tag } from "./page/page-model.ts";
import { countWords, visibleLine } from "./text.ts";
import type { AnswerFacts, Article } from "./types.ts";

/**
 * Tells whether a page stands in for the one that was asked for, by at least two signs together: its structure, its
 * answer, what its title says. A page with many words or links is never one, and no word of a text is a sign by itself.
 * Of 2 489 pages of the development sets one is told, which is a challenge; what is not recognised is extracted as it is.
 * @param answer absent for a document without one
 */
export function blockOf(
  page: ScannedPage,
  article: Article | null,
  { jsonLd, answer }: { readonly jsonLd: readonly JsonLdObject[]; readonly answer: AnswerFacts | null },
): Block | null {
  if ((article?.wordCount ?? 0) > MAX_WORDS || MISSING.has(answer?.status ?? 0)) return null;
  const paywall = paywallSigns(page.model, article, jsonLd);
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

function consentSigns({ titles, general, answer, buttons, links }: View): string[] | null {
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

/** A preview is a lead and a paragraph or two. */
const MAX_PREVIEW_WORDS = 200;
const NOT_FREE = /^(?:false|no)$|\/False$/i;
const OFFER_NAMES =
  /\b(?:paywall|pay-wall|regwall|subscri(?:be|ption)-?(?:wall|offer|prompt|barrier)|premium-?wall|piano-?(?:offer|container))\b/i;
const OFFERS =
  /\b(?:subscribe|sign up|register|log in|sign in) (?:now )?to (?:read|continue|keep reading|unlock)|\bto (?:continue|keep) reading\b|\bthis (?:article|story|content) is (?:for|exclusive|only|available|reserved)\b.{0,40}\b(?:subscribers|members)|\balready a (?:subscriber|member)\?|weiterlesen mit|jetzt (?:abonnieren|weiterlesen)|nur für abonnent|réservé aux abonnés|pour lire la suite|abonnez-vous pour|suscríbete para|solo para suscriptores|abbonati per|alleen voor abonnees/i;

function paywallSigns(
  model: PageModel,
  article: Article | null,
  jsonLd: readonly JsonLdObject[],
): string[] | null {
  const words = article?.wordCount ?? 0;
  if (words > MAX_PREVIEW_WORDS) return null;
  // The page's own data say that its article is not free; the rest of it may still be there, so that is not enough.
  if (!jsonLd.some(({ isAccessibleForFree: free }) => NOT_FREE.test(String(free)))) return null;
  const offer = saying(
    model.blocks.text.filter((_, block) => (model.blocks.flags[block]! & NOT_SHOWN) === 0),
    OFFERS,
    "text",
  );
  const name = model.names.find((written) => OFFER_NAMES.test(written));
  const shown = offer ?? (name === undefined ? null : `element ${JSON.stringify(name.slice(0, 80))}`);
  return shown === null ? null : ["isAccessibleForFree: false", shown, `${words} words`];
}
