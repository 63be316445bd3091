import { Cookie, CookieJar } from "tough-cookie";

/** A cookie in the form of Playwright's storage state. */
export type StoredCookie = {
  readonly name: string;
  readonly value: string;
  /** With a leading dot it counts for the hosts below, too. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1 lasts as long as the session. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: "Strict" | "Lax" | "None";
};

/** The cookies of one session (RFC 6265): what one site sets goes back to that site alone. */
export interface CookieSession {
  /** The value of a Cookie header for this URL, or null when it has none. */
  headerFor(url: URL): string | null;
  /** Takes the Set-Cookie headers of an answer from this URL; malformed or foreign ones are ignored. */
  store(url: URL, setCookies: readonly string[]): void;
  /** All cookies that are still valid. */
  list(): StoredCookie[];
}

/** Longer ones are not kept, as in browsers. */
const MAX_COOKIE_LENGTH = 4096;
const MAX_COOKIES_AN_ANSWER = 50;
/** A crawl over many sites keeps no more than this; past it no new cookie is taken. */
const MAX_COOKIES = 3000;

/** @param initial cookies to start with, e.g. of a saved browser session */
export function createCookieSession(initial: readonly StoredCookie[] = []): CookieSession {
  const jar = new CookieJar();
  const keys = new Set<string>();
  const put = (text: string | Cookie, url: URL): void => {
    const cookie = typeof text === "string" ? Cookie.parse(text) : text;
    if (!cookie) return;
    const key = `${cookie.domain ?? url.hostname} ${cookie.path ?? ""} ${cookie.key}`;
    if (keys.size >= MAX_COOKIES && !keys.has(key)) return;
    if (jar.setCookieSync(cookie, url.href, { ignoreError: true })) keys.add(key);
  };
  for (const cookie of initial) put(fromStored(cookie), siteOf(cookie));
  return {
    // Most sessions never see a cookie, and the jar's own search is not free.
    headerFor: (url) => (keys.size === 0 ? null : jar.getCookieStringSync(url.href) || null),
    store(url, setCookies) {
      for (const header of setCookies.slice(0, MAX_COOKIES_AN_ANSWER))
        if (header.length <= MAX_COOKIE_LENGTH) put(header, url);
    },
    list: () => (jar.serializeSync()?.cookies ?? []).flatMap((record) => toStored(Cookie.fromJSON(record))),
  };
}

const siteOf = (cookie: StoredCookie): URL =>
  new URL(`${cookie.secure ? "https" : "http"}://${cookie.domain.replace(/^\./, "")}/`);

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
  if (!cookie?.domain || cookie.TTL() <= 0) return [];
  const expires = cookie.expiryTime();
  const sameSite = cookie.sameSite === "strict" || cookie.sameSite === "none" ? cookie.sameSite : "lax";
  return [
    {
      name: cookie.key,
      value: cookie.value,
      domain: cookie.hostOnly ? cookie.domain : `.${cookie.domain}`,
      path: cookie.path ?? "/",
      expires: expires !== undefined && Number.isFinite(expires) ? expires / 1000 : -1,
      httpOnly: cookie.httpOnly,
      secure: cookie.secure,
      sameSite: SAME_SITE[sameSite],
    },
  ];
}
