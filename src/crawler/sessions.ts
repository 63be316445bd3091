import { createHash } from "node:crypto";
import { type PageUrl, parsePageUrl } from "../urls/index.ts";

/** Names that servers give to sessions and to nothing else, whatever the value. */
const SESSION_NAME = /^(?:jsessionid|phpsessid|aspsessionid\w{0,40}|oscsid|zenid|cfid|cftoken)$/i;
/** Forums write their sessions so; another value of these names may name a page. */
const FORUM_NAME = /^(?:s|sid)$/i;
const FORUM_SESSION = /^[0-9a-f]{32}$/i;
const PATH_PARAMETER = /;([a-z_-]{1,40})=([^/;?]*)/gi;
/** ASP.NET writes `/(S(id))/`, with other letters for other cookies. */
const COOKIELESS = /\/\((?:[A-Z]\([\w-]{1,500}\)){1,4}\)(?=\/|$)/i;

/**
 * The link without the session that a server has written into it for visitors without cookies: as it is, each answer
 * leads to new addresses of the same pages. The other parts stay as they are.
 */
export function withoutSession(url: PageUrl): PageUrl {
  const queryStart = url.indexOf("?");
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const query = queryStart < 0 ? "" : url.slice(queryStart + 1);
  const plainPath = path
    .replace(PATH_PARAMETER, (parameter, name: string, value: string) =>
      isSession(name, value) ? "" : parameter,
    )
    .replace(COOKIELESS, "");
  const plainQuery = query
    .split("&")
    .filter((pair) => {
      const [name = "", value = ""] = pair.split("=", 2);
      return !isSession(name, value);
    })
    .join("&");
  if (plainPath === path && plainQuery === query) return url;
  return parsePageUrl(plainQuery === "" ? plainPath : `${plainPath}?${plainQuery}`) ?? url;
}

const isSession = (name: string, value: string): boolean =>
  SESSION_NAME.test(name) || (FORUM_NAME.test(name) && FORUM_SESSION.test(value));

/** Whether a text looks drawn by lot: hexadecimal digits and letters, or letters and digits in turn. */
function isRandom(text: string): boolean {
  if (text.length > 200) return false;
  const plain = text.replaceAll("-", "").toLowerCase();
  if (!/\d/.test(plain) || !/[a-z]/.test(plain)) return /^\d{20,}$/.test(plain);
  if (/^[0-9a-f]{8,}$/.test(plain)) return true;
  const turns = plain.match(/[a-z](?=\d)|\d(?=[a-z])/g)?.length ?? 0;
  return /^[0-9a-z_]{12,}$/.test(plain) && turns >= MIN_TURNS;
}

/** `release20260101` changes once from letters to digits. */
const MIN_TURNS = 3;

/** So many pages of one pattern with one text, and none with another, are one page. */
const MAX_ECHOES = 3;
/** What follows such a name may be a session's: as a number too, where the texts are equal. */
const SESSION_WORD = /^(?:s|sid|sess|sessid|session|session_?id)$/i;
/** A random part of such a path is one, whatever the texts. */
const SESSION_SEGMENT = /\/(?:s|sid|sess|sessid|session_?id)[/=:_-]?\*\//i;
/** Kept at once; a crawl that is resumed begins without any, and asks for a few pages more. */
const MAX_PATTERNS = 10_000;

type Pattern = { readonly hash: string; count: number; isMixed: boolean };

/**
 * Knows pages that a site answers again and again under addresses with another random part, by the text of those that
 * were stored.
 */
export class EchoedPages {
  readonly #patterns = new Map<string, Pattern>();

  /** Takes note of a page that was stored, with its text. */
  note(url: PageUrl, text: string): void {
    const { key, parts } = patternOf(url);
    if (parts.length === 0) return;
    const hash = hashOf(text, parts);
    const known = this.#patterns.get(key);
    if (!known) {
      if (this.#patterns.size >= MAX_PATTERNS) this.#patterns.clear();
      this.#patterns.set(key, { hash, count: 1, isMixed: false });
    } else if (known.hash === hash || SESSION_SEGMENT.test(key)) known.count++;
    else known.isMixed = true;
  }

  /** Whether the page would be one of those that are known already. */
  has(url: PageUrl): boolean {
    const { key, parts } = patternOf(url);
    const known = parts.length === 0 ? undefined : this.#patterns.get(key);
    return known !== undefined && !known.isMixed && known.count >= MAX_ECHOES;
  }
}

/** The address with `*` for what looks random and `#` for numbers that may be a session's, and what they were. */
function patternOf(url: PageUrl): { readonly key: string; readonly parts: readonly string[] } {
  const parts: string[] = [];
  let previous = "";
  const key = url.replace(/[^/?&=;:()]+/g, (part) => {
    const isNamed = SESSION_WORD.test(previous);
    previous = part;
    // A name before it, as in `sid-8f3a…`, is no part of what is random.
    const start = /^(?:s|sid|sess|session)[-_]/i.exec(part)?.[0] ?? "";
    const rest = part.slice(start.length);
    const isLot = isRandom(rest);
    if (!isLot && !(isNamed && /\d/.test(part))) return part;
    parts.push(isLot ? rest : part);
    return isLot ? `${start}*` : "#";
  });
  return { key, parts };
}

/** Removed from a text at most; each takes a pass over it. */
const MAX_PARTS = 8;

/** Of a text without the addresses of its links, and without what was random in its own. */
function hashOf(text: string, parts: readonly string[]): string {
  let plain = text.replace(/\]\([^()\s]{0,2000}/g, "]");
  // Short numbers stand in texts for themselves.
  for (const part of parts.slice(0, MAX_PARTS)) if (isRandom(part)) plain = plain.replaceAll(part, "");
  return createHash("sha256").update(plain).digest("base64");
}
