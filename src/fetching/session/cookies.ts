import { Cookie, CookieJar, getPublicSuffix } from "tough-cookie";
import { keepNewest } from "../../base/bounded-map.ts";
import { defined } from "../../base/json.ts";

/** The cookies of one session (RFC 6265). A site gets back only the cookies that it set. */
export interface CookieSession {
  /**
   * The value of a Cookie header for this URL, or null when there are no cookies for it.
   * @param given the Cookie header of a user: it overrides the cookies to start with, and the site's own changes override it
   */
  headerFor(url: URL, given?: string): string | null;
  /** Reads the Set-Cookie headers of an answer from this URL; malformed or foreign cookies are ignored. */
  store(url: URL, setCookies: readonly string[]): void;
  /** Applies changes that somebody else made in the same session. */
  apply(changes: readonly CookieChange[]): void;
  /** All cookies that have not expired. */
  list(): StoredCookie[];
}

/** Longer cookies are not kept, as in browsers. */
const MAX_COOKIE_LENGTH = 4096;
const MAX_COOKIES_AN_ANSWER = 50;
/** Limits of a site and of all; beyond them the oldest go, as in browsers. A site pushes out only its own. */
const MAX_COOKIES_A_SITE = 180;
const MAX_COOKIES = 3000;

/**
 * @param initial cookies to start with, such as those of a saved browser session
 * @param onChange called for each cookie that an answer sets or removes
 */
export function createCookieSession(
  initial: readonly StoredCookie[] = [],
  onChange: (change: CookieChange) => void = () => {},
): CookieSession {
  const jar = new CookieJar();
  const kept = createKeptCookies();
  const put = (text: string | Cookie, url: URL): Put | null => {
    const cookie = typeof text === "string" ? Cookie.parse(text) : text;
    const stored = cookie && jar.setCookieSync(cookie, url.href, { ignoreError: true });
    if (!stored?.domain) return null;
    const evicted = kept.add(stored.domain, changeOf(stored));
    if (evicted !== null) forget(jar, evicted);
    return { stored, evicted };
  };
  const putStored = (cookie: StoredCookie): void => {
    const site = siteOf(cookie);
    // A cookie of a third party's frame (CHIPS) belongs to the embedding page and has a meaning only in a browser.
    if (site && !cookie.partitionKey) put(fromStored(cookie), site);
  };
  initial.forEach(putStored);
  const answers = createAnswerNotes();
  return {
    headerFor(url, given = "") {
      // Most sessions never see a cookie, and even searching the empty jar takes time.
      const own = kept.size() === 0 ? [] : jar.getCookiesSync(url.href);
      const isOlder = (pair: string): boolean => {
        const isSet = answers.of(url.hostname, nameOf(pair));
        // The site may have set the cookie for other paths only.
        return isSet === false || (isSet === true && own.some(({ key }) => key === nameOf(pair)));
      };
      const pairs = given.split(";").flatMap((pair) => pair.trim() || []);
      const sent = pairs.filter((pair) => !isOlder(pair));
      const names = new Set(sent.map(nameOf));
      const rest = own.filter(({ key }) => !names.has(key)).map((cookie) => cookie.cookieString());
      return [...sent, ...rest].join("; ") || null;
    },
    store(url, setCookies) {
      for (const header of setCookies.slice(0, MAX_COOKIES_AN_ANSWER)) {
        if (header.length > MAX_COOKIE_LENGTH) continue;
        const done = put(header, url);
        if (!done) continue;
        const change = changeOf(done.stored);
        answers.note(change);
        onChange(change);
        if (done.evicted) onChange({ key: done.evicted, cookie: null });
      }
    },
    apply(changes) {
      for (const { key, cookie } of changes) {
        answers.note({ key, cookie });
        if (cookie) putStored(cookie);
        else {
          kept.remove(key);
          forget(jar, key);
        }
      }
    },
    list: () => (jar.serializeSync()?.cookies ?? []).flatMap((record) => toStored(Cookie.fromJSON(record))),
  };
}

/** Remembers which cookies sites set (true) or removed (false), by site and name. */
function createAnswerNotes() {
  const notes = new Map<string, boolean>();
  const keyOf = (host: string, name: string): string =>
    `${getPublicSuffix(host, { ignoreError: true }) ?? host} ${name}`;
  return {
    of: (host: string, name: string): boolean | undefined => notes.get(keyOf(host, name)),
    note({ key, cookie }: CookieChange): void {
      const [name, domain] = JSON.parse(key) as [string, string]; // as `cookieKey` makes it
      const noted = keyOf(domain.replace(/^\./, ""), name);
      keepNewest(notes, noted, cookie !== null, MAX_COOKIES);
    },
  };
}

const nameOf = (pair: string): string => pair.split("=", 1)[0]!.trim();

/** A cookie that was stored, and the key of the cookie that was dropped for it. */
type Put = { readonly stored: Cookie; readonly evicted: string | null };

/** Keeps the cookies of each site in order, the oldest first. */
function createKeptCookies() {
  const siteOfKey = new Map<string, string>();
  const keysOfSite = new Map<string, Set<string>>();
  const remove = (key: string): void => {
    const site = siteOfKey.get(key);
    if (site === undefined) return;
    siteOfKey.delete(key);
    const keys = keysOfSite.get(site);
    keys?.delete(key);
    if (keys?.size === 0) keysOfSite.delete(site);
  };
  /** @returns the key of the cookie that must be dropped for it, or null */
  const add = (domain: string, { key, cookie }: CookieChange): string | null => {
    remove(key);
    if (cookie === null) return null;
    const site = getPublicSuffix(domain, { ignoreError: true }) ?? domain;
    const keys = keysOfSite.get(site) ?? new Set();
    keysOfSite.set(site, keys.add(key));
    siteOfKey.set(key, site);
    const oldest =
      keys.size > MAX_COOKIES_A_SITE
        ? keys.values().next().value
        : siteOfKey.size > MAX_COOKIES
          ? siteOfKey.keys().next().value
          : undefined;
    if (oldest !== undefined) remove(oldest);
    return oldest ?? null;
  };
  return { add, remove, size: () => siteOfKey.size };
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
  const fields = defined({
    key: cookie.name,
    value: cookie.value,
    path: cookie.path,
    httpOnly: cookie.httpOnly,
    secure: cookie.secure,
    sameSite: cookie.sameSite.toLowerCase(),
    domain: domainWide ? cookie.domain.slice(1) : undefined,
    expires: cookie.expires >= 0 ? new Date(cookie.expires * 1000) : undefined,
  });
  return new Cookie(fields);
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

/** A browser's cookies and local storage in Playwright's form. Unknown fields are kept as they came. */
export type StorageState = {
  readonly cookies: readonly StoredCookie[];
  readonly origins: readonly OriginState[];
};

export type OriginState = {
  readonly origin: string;
  readonly localStorage: readonly { readonly name: string; readonly value: string }[];
  /** Databases as Playwright writes them; nothing here looks inside. */
  readonly indexedDB?: readonly unknown[];
};

/** A change of one entry in local storage; null means that it was removed. */
export type StorageChange = { readonly origin: string; readonly name: string; readonly value: string | null };

export type SessionChanges = {
  readonly cookies: readonly CookieChange[];
  readonly storage: readonly StorageChange[];
  /** The databases of some origins, which replace everything that the origin had. */
  readonly databases?: readonly { readonly origin: string; readonly indexedDB: readonly unknown[] }[];
};

export const isEmpty = ({ cookies, storage, databases = [] }: SessionChanges): boolean =>
  cookies.length + storage.length + databases.length === 0;

/** The changes from one set of cookies to another; both map keys to cookies. */
export function cookieChanges(
  before: ReadonlyMap<string, StoredCookie>,
  after: ReadonlyMap<string, StoredCookie>,
): CookieChange[] {
  const changes: CookieChange[] = [];
  for (const [key, cookie] of after) {
    const known = before.get(key);
    if (!known || !isSameCookie(known, cookie)) changes.push({ key, cookie });
  }
  for (const key of before.keys()) if (!after.has(key)) changes.push({ key, cookie: null });
  return changes;
}

export const cookiesByKey = (cookies: readonly StoredCookie[]): Map<string, StoredCookie> =>
  new Map(cookies.map((cookie) => [cookieKey(cookie), cookie]));

/** The changes from one origin's local storage to another. */
export function storageChanges(
  origin: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): StorageChange[] {
  const changes: StorageChange[] = [];
  for (const [name, value] of after) if (before.get(name) !== value) changes.push({ origin, name, value });
  for (const name of before.keys()) if (!after.has(name)) changes.push({ origin, name, value: null });
  return changes;
}

/** Applies changes to a state, and drops cookies that have expired. */
export function applyChanges(
  state: StorageState,
  changes: readonly SessionChanges[],
  nowMs: number,
): StorageState {
  const cookies = cookiesByKey(state.cookies);
  const storage = new Map(state.origins.map(({ origin, localStorage }) => [origin, entriesOf(localStorage)]));
  for (const change of changes) {
    for (const { key, cookie } of change.cookies) {
      if (cookie) cookies.set(key, cookie);
      else cookies.delete(key);
    }
    for (const { origin, name, value } of change.storage) {
      const entries = storage.get(origin) ?? new Map<string, string>();
      storage.set(origin, entries);
      if (value === null) entries.delete(name);
      else entries.set(name, value);
    }
  }
  const known = new Map(state.origins.map((one) => [one.origin, one]));
  for (const { origin, indexedDB } of changes.flatMap(({ databases = [] }) => databases)) {
    if (!storage.has(origin)) storage.set(origin, new Map());
    known.set(origin, { origin, localStorage: [], ...known.get(origin), indexedDB });
  }
  return {
    ...state,
    cookies: [...cookies.values()].filter(({ expires }) => !(expires >= 0 && expires * 1000 <= nowMs)),
    origins: [...storage].map(([origin, entries]) => ({
      ...known.get(origin),
      origin,
      localStorage: [...entries].map(([name, value]) => ({ name, value })),
    })),
  };
}

export const entriesOf = (entries: OriginState["localStorage"]): Map<string, string> =>
  new Map(entries.map(({ name, value }) => [name, value]));

/** A cookie in the form of Playwright's storage state. */
export type StoredCookie = {
  readonly name: string;
  readonly value: string;
  /** With a leading dot the cookie is also sent to the hosts below. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1 means until the session ends. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: "Strict" | "Lax" | "None";
  /** The site in whose pages alone the cookie is sent (CHIPS). */
  readonly partitionKey?: string;
};

export type CookieChange = {
  /** The key that `cookieKey` computes. */
  readonly key: string;
  /** The new cookie; null when it was removed or has expired. */
  readonly cookie: StoredCookie | null;
};

/** Two cookies with the same key are the same cookie (RFC 6265, 5.3); partitions keep them apart (CHIPS). */
export const cookieKey = (cookie: StoredCookie): string =>
  JSON.stringify([cookie.name, cookie.domain.toLowerCase(), cookie.path, cookie.partitionKey ?? null]);

/** Whether two cookies have the same contents. */
export const isSameCookie = (a: StoredCookie, b: StoredCookie): boolean =>
  a.value === b.value &&
  // Browsers store whole microseconds.
  Math.abs(a.expires - b.expires) < 0.001 &&
  a.httpOnly === b.httpOnly &&
  a.secure === b.secure &&
  a.sameSite === b.sameSite;
