import {
  applyChanges,
  type CookieChange,
  type CookieSession,
  cookieKey,
  cookiesByKey,
  createCookieSession,
  isEmpty,
  isSameCookie,
  type SessionChanges,
  type StorageChange,
  type StorageState,
  type StoredCookie,
} from "./cookies.ts";
import { EMPTY_STATE } from "./queue.ts";
import type { Storage } from "./storage.ts";

/** One caller's cookies and local storage for both fetchers, kept in a file or forgotten at the end. */
export interface BrowsingSession extends AsyncDisposable {
  /** The cookies in the form that the plain HTTP client uses. */
  readonly cookies: CookieSession;
  /** A number that grows with every change. */
  readonly revision: number;
  state(): StorageState;
  /**
   * Applies the changes that a browser made.
   * @throws Failure `unwritable_output`
   */
  take(changes: SessionChanges): Promise<void>;
  /** The number of changes that wait to be merged into the file; null without a file. */
  pendingEntries(): number | null;
  /**
   * Waits until all changes so far are on the disk.
   * @throws Failure `unwritable_output`
   */
  saved(): Promise<void>;
}

/**
 * @param storage the file to start from and to save to; null starts empty and ends with the program
 * @param given cookies to start with besides, which go before those of the file and are saved nowhere unless a site sets
 * them again
 * @throws Failure `unreadable_input` for a file that holds no storage state
 */
export function createBrowsingSession(
  storage: Storage | null,
  now: () => number,
  given: readonly StoredCookie[] = [],
): BrowsingSession {
  const saved = storage?.read() ?? EMPTY_STATE;
  const own = cookiesByKey(given);
  let state: StorageState = {
    ...saved,
    cookies: [...saved.cookies.filter((cookie) => !own.has(cookieKey(cookie))), ...given],
  };
  let revision = 0;
  let saving: Promise<void> = Promise.resolve();
  const keep = (changes: SessionChanges): void => {
    if (isEmpty(changes)) return;
    revision++;
    state = applyChanges(state, [changes], now());
    if (!storage) return;
    saving = saving.then(() => storage.push(changes));
    saving.catch(() => {}); // `saved` reports the error
  };
  let answered: CookieChange[] = [];
  const cookies = createCookieSession(state.cookies, (change) => answered.push(change));
  return {
    cookies: {
      ...cookies,
      store(url, setCookies) {
        answered = [];
        cookies.store(url, setCookies);
        const known = cookiesByKey(state.cookies);
        const fresh = answered.filter(({ key, cookie }) => !isKnown(known.get(key), cookie));
        keep({ cookies: fresh, storage: [] });
      },
    },
    get revision() {
      return revision;
    },
    state: () => state,
    async take(changes) {
      cookies.apply(changes.cookies);
      keep({ ...changes, storage: withinBounds(state, changes.storage) });
      await saving;
    },
    pendingEntries: () => storage?.pendingEntries() ?? null,
    saved: () => saving,
    async [Symbol.asyncDispose]() {
      await storage?.[Symbol.asyncDispose]();
      await saving;
    },
  };
}

/** A new context has to visit each origin to restore its storage. */
const MAX_ORIGINS = 100;
const MAX_STORAGE_CHARS = 32 * 1024 * 1024;

// A crawl may visit any number of sites, so beyond these limits nothing new is stored.
function withinBounds(state: StorageState, changes: readonly StorageChange[]): readonly StorageChange[] {
  if (changes.length === 0) return changes;
  const origins = new Set(state.origins.map(({ origin }) => origin));
  let chars = 0;
  for (const { localStorage } of state.origins)
    for (const { name, value } of localStorage) chars += name.length + value.length;
  return changes.filter(({ origin, name, value }) => {
    if (value === null) return true;
    if (!origins.has(origin) && origins.size >= MAX_ORIGINS) return false;
    chars += name.length + value.length;
    if (chars > MAX_STORAGE_CHARS) return false;
    origins.add(origin);
    return true;
  });
}

const isKnown = (known: StoredCookie | undefined, cookie: StoredCookie | null): boolean =>
  known === undefined || cookie === null
    ? known === undefined && cookie === null
    : isSameCookie(known, cookie);
