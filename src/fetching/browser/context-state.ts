import { createTurns } from "../../base/event-loop.ts";
import {
  cookieChanges,
  cookiesByKey,
  entriesOf,
  isEmpty,
  type OriginState,
  type SessionChanges,
  type StorageState,
  type StoredCookie,
  storageChanges,
} from "../session/cookies.ts";
import type { BrowsingSession } from "../session/session.ts";
import { type BrowserContext, type Page, within } from "./chromium.ts";

/** Keeps the cookies and local storage of a browser context and of its session in step. */
export type ContextState = {
  /** Copies into the context the cookies that others have set in the session meanwhile. */
  refresh(): Promise<void>;
  /** Copies the context's changes and the origin's local storage to the session: `BrowsingSession.take`. */
  keep(page: Page, options?: KeepOptions): Promise<void>;
};

export type KeepOptions = {
  /** Whether to save, more slowly, local storage and databases of every origin that was visited. */
  readonly isWhole: boolean;
};

/** A page whose scripts never yield cannot be asked for its storage. */
const STORAGE_TIMEOUT_MS = 1_000;
/** Browsers let an origin store this much. */
const MAX_STORAGE_CHARS = 5 * 1024 * 1024;

/** @param initial what the context began with */
export function createContextState(
  context: BrowserContext,
  session: BrowsingSession,
  initial: StorageState,
): ContextState {
  let known = cookiesByKey(initial.cookies);
  let revision = session.revision;
  const refresh = async (): Promise<void> => {
    if (session.revision === revision) return;
    revision = session.revision;
    const wanted = cookiesByKey(session.state().cookies);
    const changes = cookieChanges(known, wanted);
    const set = changes.flatMap(({ cookie }) => (cookie ? [{ ...cookie }] : []));
    const removed = changes.flatMap(({ key, cookie }) => (cookie ? [] : (known.get(key) ?? [])));
    known = wanted;
    for (const { name, domain, path } of removed) await context.clearCookies({ name, domain, path });
    if (set.length > 0) await context.addCookies(set);
  };
  // Saves run one after another, so that no change is taken twice.
  const inTurn = createTurns();
  const keep = async (page: Page, options: KeepOptions): Promise<void> => {
    const now = cookiesByKey((await context.cookies()) as StoredCookie[]); // Playwright's form is ours
    const cookies = cookieChanges(known, now);
    known = now;
    const stored = options.isWhole
      ? await wholeStorage(context, session)
      : { storage: await pageStorage(page, session) };
    const changes: SessionChanges = { cookies, ...stored };
    if (isEmpty(changes)) return;
    const isUpToDate = session.revision === revision;
    await session.take(changes);
    // When the session was up to date, the only changes since are the context's own, which it knows.
    if (isUpToDate) revision = session.revision;
  };
  return {
    refresh: () => inTurn(refresh),
    keep: (page, options = { isWhole: false }) => inTurn(() => keep(page, options)),
  };
}

async function wholeStorage(
  context: BrowserContext,
  session: BrowsingSession,
): Promise<Omit<SessionChanges, "cookies">> {
  // Some databases cannot be written as JSON; the rest of the session is still worth saving.
  const state = context.storageState({ indexedDB: true }).catch(() => context.storageState());
  const origins: readonly OriginState[] = (await state).origins;
  return {
    storage: origins.flatMap(({ origin, localStorage }) =>
      storageChanges(origin, storageOf(session, origin), entriesOf(localStorage)),
    ),
    databases: origins.flatMap(({ origin, indexedDB = [] }) => {
      const length = JSON.stringify(indexedDB).length;
      return indexedDB.length > 0 && length <= MAX_STORAGE_CHARS ? [{ origin, indexedDB }] : [];
    }),
  };
}

async function pageStorage(page: Page, session: BrowsingSession): Promise<SessionChanges["storage"]> {
  const reading = page.evaluate(readLocalStorage, MAX_STORAGE_CHARS);
  if (!(await within(STORAGE_TIMEOUT_MS, reading))) return [];
  const read = await reading.catch(() => null);
  if (!read) return [];
  return storageChanges(read.origin, storageOf(session, read.origin), new Map(read.entries));
}

const storageOf = (session: BrowsingSession, wanted: string): Map<string, string> =>
  entriesOf(session.state().origins.find(({ origin }) => origin === wanted)?.localStorage ?? []);

/** Reads the page's local storage. Runs inside the page. */
function readLocalStorage(maxChars: number): { origin: string; entries: [string, string][] } | null {
  try {
    const entries = Object.entries(localStorage) as [string, string][];
    const chars = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    return chars <= maxChars ? { origin: location.origin, entries } : null;
  } catch {
    return null; // A page without an origin of its own has no storage.
  }
}
