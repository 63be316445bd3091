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
export type StorageChange = {
  readonly origin: string;
  readonly name: string;
  readonly value: string | null;
};

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
    cookies: [...cookies.values()].filter((cookie) => !isExpired(cookie, nowMs)),
    origins: [...storage].map(([origin, entries]) => ({
      ...known.get(origin),
      origin,
      localStorage: [...entries].map(([name, value]) => ({ name, value })),
    })),
  };
}

/** Maps the entries of local storage by name. */
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

/** A change of one cookie. */
export type CookieChange = {
  /** The key that `cookieKey` computes. */
  readonly key: string;
  /** The new cookie; null when it was removed or has expired. */
  readonly cookie: StoredCookie | null;
};

/** Two cookies with the same key are the same cookie (RFC 6265, 5.3); partitions keep them apart (CHIPS). */
export const cookieKey = (cookie: StoredCookie): string =>
  JSON.stringify([cookie.name, cookie.domain.toLowerCase(), cookie.path, cookie.partitionKey ?? null]);

const isExpired = ({ expires }: StoredCookie, nowMs: number): boolean =>
  expires >= 0 && expires * 1000 <= nowMs;

/** Whether two cookies have the same contents. */
export const isSameCookie = (a: StoredCookie, b: StoredCookie): boolean =>
  a.value === b.value &&
  // Browsers store whole microseconds.
  Math.abs(a.expires - b.expires) < 0.001 &&
  a.httpOnly === b.httpOnly &&
  a.secure === b.secure &&
  a.sameSite === b.sameSite;
