import { Cookie, CookieJar } from "tough-cookie";
import { type CookieChange, cookieKey, type StoredCookie } from "./stored-cookie.ts";

/** The cookies of one session (RFC 6265): what one site sets goes back to that site alone. */
export interface CookieSession {
  /** The value of a Cookie header for this URL, or null when it has none. */
  headerFor(url: URL): string | null;
  /** Takes the Set-Cookie headers of an answer from this URL; malformed or foreign ones are ignored. */
  store(url: URL, setCookies: readonly string[]): void;
  /** Takes what somebody else of the same session changed. */
  apply(changes: readonly CookieChange[]): void;
  /** All cookies that are still valid. */
  list(): StoredCookie[];
}

/** Longer ones are not kept, as in browsers. */
const MAX_COOKIE_LENGTH = 4096;
const MAX_COOKIES_AN_ANSWER = 50;
/** A crawl over many sites keeps no more than this; past it no new cookie is taken. */
const MAX_COOKIES = 3000;

/**
 * @param initial cookies to start with, e.g. of a saved browser session
 * @param onChange told of each cookie that an answer sets or removes
 */
export function createCookieSession(
  initial: readonly StoredCookie[] = [],
  onChange: (change: CookieChange) => void = () => {},
): CookieSession {
  const jar = new CookieJar();
  const keys = new Set<string>();
  const put = (text: string | Cookie, url: URL): Cookie | null => {
    const cookie = typeof text === "string" ? Cookie.parse(text) : text;
    if (!cookie) return null;
    const key = `${cookie.domain ?? url.hostname} ${cookie.path ?? ""} ${cookie.key}`;
    if (keys.size >= MAX_COOKIES && !keys.has(key)) return null;
    const stored = jar.setCookieSync(cookie, url.href, { ignoreError: true });
    if (stored) keys.add(key);
    return stored ?? null;
  };
  const putStored = (cookie: StoredCookie): void => {
    const site = siteOf(cookie);
    // A cookie of a third party's frame (CHIPS) is for that page in a browser alone.
    if (site && !cookie.partitionKey) put(fromStored(cookie), site);
  };
  initial.forEach(putStored);
  return {
    // Most sessions never see a cookie, and the jar's own search is not free.
    headerFor: (url) => (keys.size === 0 ? null : jar.getCookieStringSync(url.href) || null),
    store(url, setCookies) {
      for (const header of setCookies.slice(0, MAX_COOKIES_AN_ANSWER)) {
        if (header.length > MAX_COOKIE_LENGTH) continue;
        const stored = put(header, url);
        if (stored?.domain) onChange(changeOf(stored));
      }
    },
    apply(changes) {
      for (const { key, cookie } of changes) {
        if (cookie) putStored(cookie);
        else forget(jar, key);
      }
    },
    list: () => (jar.serializeSync()?.cookies ?? []).flatMap((record) => toStored(Cookie.fromJSON(record))),
  };
}

function changeOf(cookie: Cookie): CookieChange {
  const stored = storedForm(cookie);
  return { key: cookieKey(stored), cookie: cookie.TTL() > 0 ? stored : null };
}

function forget(jar: CookieJar, key: string): void {
  const [name, domain, path] = JSON.parse(key) as [string, string, string]; // as `cookieKey` makes it
  jar.store.removeCookie(domain.replace(/^\./, ""), path, name, () => {});
}

const siteOf = (cookie: StoredCookie): URL | null =>
  URL.parse(`${cookie.secure ? "https" : "http"}://${cookie.domain.replace(/^\./, "")}/`);

function fromStored(cookie: StoredCookie): Cookie {
  const domainWide = cookie.domain.startsWith(".");
  return new Cookie({
    key: cookie.name,
    value: cookie.value,
    path: cookie.path,
    httpOnly: cookie.httpOnly,
    secure: cookie.secure,
    sameSite: cookie.sameSite.toLowerCase(),
    ...(domainWide ? { domain: cookie.domain.slice(1) } : {}),
    ...(cookie.expires >= 0 ? { expires: new Date(cookie.expires * 1000) } : {}),
  });
}

const SAME_SITE = { strict: "Strict", lax: "Lax", none: "None" } as const;

function toStored(cookie: Cookie | undefined): StoredCookie[] {
  return !cookie?.domain || cookie.TTL() <= 0 ? [] : [storedForm(cookie)];
}

function storedForm(cookie: Cookie): StoredCookie {
  const expires = cookie.expiryTime();
  const sameSite = cookie.sameSite === "strict" || cookie.sameSite === "none" ? cookie.sameSite : "lax";
  const domain = cookie.domain ?? "";
  return {
    name: cookie.key,
    value: cookie.value,
    domain: cookie.hostOnly ? domain : `.${domain}`,
    path: cookie.path ?? "/",
    expires: expires !== undefined && Number.isFinite(expires) ? expires / 1000 : -1,
    httpOnly: cookie.httpOnly,
    secure: cookie.secure,
    sameSite: SAME_SITE[sameSite],
  };
}
