import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asideOf, replaceFile, syncDirectory } from "../../base/atomic-file.ts";
import { type Damage, putAside } from "../../base/damaged.ts";
import { Failure } from "../../base/failure.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { isMissing, systemReason } from "../../base/system-error.ts";
import {
  type CookieChange,
  cookieKey,
  type OriginState,
  type SessionChanges,
  type StorageState,
  type StoredCookie,
} from "./cookies.ts";

/**
 * Session changes that wait to be merged. Each is a file, and their names give the order:
 *
 *     <queue>/000001795272478038-000004-8d2c….json        waits
 *     <queue>/done/000001795272478038-000004-8d2c….json   is merged into the state file, and kept for a while
 *
 * Thousands of merged files may be kept, and every log line counts the waiting ones, so they have separate directories.
 * In a directory that several state files share, a name also says whose change it is: `…-000004-<owner>-8d2c….json`.
 */
const SUFFIX = ".json";
const DONE = "done";
/** The extension of a file that was being written when its process ended. */
const TEMPORARY = ".tmp";
const ABANDONED_MS = 3_600_000;

let made = 0;

/** A queue, and whose changes in it are meant. */
export type Queue = {
  readonly directory: string;
  /** The owner of the changes, as `ownerOf` computes it; null when only one state file uses the directory. */
  readonly owner: string | null;
  /** Whether changes without an owner are meant as well. */
  readonly takesUnowned: boolean;
};

/** Identifies a state file by twelve hexadecimal digits. */
export const ownerOf = (file: string): string => createHash("sha256").update(file).digest("hex").slice(0, 12);

const OWNER = /^\d+-\d+-([0-9a-f]{12})-/;

/** Writes one entry; it is on the disk when the promise is fulfilled. */
export async function pushChanges(
  { directory, owner }: Queue,
  changes: SessionChanges,
  nowMs: number,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const order = `${String(nowMs).padStart(18, "0")}-${String(++made).padStart(6, "0")}`;
  const name = [order, ...(owner === null ? [] : [owner]), randomUUID()].join("-");
  await writeStateFile(join(directory, `${name}${SUFFIX}`), JSON.stringify(changes));
}

/** Names of the waiting entries, the oldest first. */
export const listPending = ({ directory, owner, takesUnowned }: Queue): string[] =>
  listed(directory).filter((name) => {
    if (!name.endsWith(SUFFIX) || name.startsWith(".")) return false;
    const named = OWNER.exec(name)?.[1] ?? null;
    return named === null ? takesUnowned : named === owner;
  });

/** When an entry was made, in ms since 1970. */
export const madeAt = (name: string): number => Number.parseInt(name, 10) || 0;

function listed(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return []; // nothing was ever pushed
  }
}

/** @returns null when the file is not an entry, or another process has merged it meanwhile */
export function readEntry(directory: string, name: string): SessionChanges | null {
  try {
    return parseChanges(readFileSync(join(directory, name), "utf8"));
  } catch {
    return null;
  }
}

function parseChanges(text: string): SessionChanges | null {
  const value = parseJson(text);
  if (!isRecord(value) || !Array.isArray(value.cookies) || !Array.isArray(value.storage)) return null;
  return {
    cookies: value.cookies.flatMap((change: unknown): CookieChange[] => {
      if (!isRecord(change) || typeof change.key !== "string") return [];
      const cookie = change.cookie === null ? null : readCookie(change.cookie);
      return cookie ? [{ key: cookieKey(cookie), cookie }] : [{ key: change.key, cookie: null }];
    }),
    storage: value.storage.flatMap((change: unknown) =>
      isRecord(change) &&
      typeof change.origin === "string" &&
      typeof change.name === "string" &&
      (typeof change.value === "string" || change.value === null)
        ? [{ origin: change.origin, name: change.name, value: change.value }]
        : [],
    ),
    databases: (Array.isArray(value.databases) ? value.databases : []).flatMap((change: unknown) =>
      isRecord(change) && typeof change.origin === "string" && Array.isArray(change.indexedDB)
        ? [{ origin: change.origin, indexedDB: change.indexedDB }]
        : [],
    ),
  };
}

/** Marks entries as merged, the oldest first: what a crash leaves to be merged again changes nothing. */
export async function markDone(directory: string, names: readonly string[], nowMs: number): Promise<void> {
  await mkdir(join(directory, DONE), { recursive: true, mode: 0o700 });
  for (const name of names) {
    const done = join(directory, DONE, name);
    await rename(join(directory, name), done);
    await utimes(done, nowMs / 1000, nowMs / 1000);
  }
}

/** Removes entries that were merged long ago, and half-written files of ended processes. */
export async function prune(
  directory: string,
  times: { readonly nowMs: number; readonly retentionMs: number },
): Promise<void> {
  const isOlder = async (path: string, limitMs: number): Promise<boolean> => {
    const stats = await stat(path).catch(() => null);
    return stats !== null && times.nowMs - stats.mtimeMs >= limitMs;
  };
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (name.endsWith(TEMPORARY) && (await isOlder(path, ABANDONED_MS))) await rm(path, { force: true });
  }
  // Entries are merged in the order of their names, so all after the first one that stays are younger.
  for (const name of listed(join(directory, DONE))) {
    const path = join(directory, DONE, name);
    if (!(await isOlder(path, times.retentionMs))) return;
    await rm(path, { force: true });
  }
}

export const EMPTY_STATE: StorageState = { cookies: [], origins: [] };

/**
 * Reads a storage state in Playwright's form.
 * @param onDamaged Where given, a file that is not even JSON is put aside and said here
 * @returns an empty state when there is no file yet
 * @throws Failure `unreadable_input` when it cannot be read or is not a storage state
 */
export function readStateFile(path: string, onDamaged?: (damage: Damage) => void): StorageState {
  let text: string;
  try {
    // The state is written back to this path, and a pipe or a device would not hold it.
    const found = statSync(path);
    if (!found.isFile() && !found.isDirectory())
      throw new Failure("unreadable_input", `the storage state ${path} is not a regular file`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (isMissing(error)) return EMPTY_STATE;
    throw new Failure(
      "unreadable_input",
      `the storage state ${path} cannot be read: ${systemReason(error)}`,
      { cause: error },
    );
  }
  if (text.trim() === "") return EMPTY_STATE;
  const state = parseState(text);
  // Valid JSON may be somebody else's file, if the path was mistyped.
  if (!state && onDamaged && parseJson(text) === null) {
    onDamaged(putAside(path, "it is not JSON"));
    return EMPTY_STATE;
  }
  if (!state) throw new Failure("unreadable_input", `${path} holds no storage state as Playwright writes it`);
  return state;
}

/** @returns null when the text is not a storage state */
function parseState(text: string): StorageState | null {
  const value = parseJson(text);
  // Playwright writes both fields; a file with neither belongs to somebody else and must not be overwritten.
  if (!isRecord(value) || !("cookies" in value || "origins" in value)) return null;
  const { cookies = [], origins = [] } = value;
  if (!Array.isArray(cookies) || !Array.isArray(origins)) return null;
  const readCookies = cookies.map(readCookie);
  const readOrigins = origins.map(readOrigin);
  if (readCookies.includes(null) || readOrigins.includes(null)) return null;
  return {
    ...value,
    cookies: readCookies.filter((cookie) => cookie !== null),
    origins: readOrigins.filter((origin) => origin !== null),
  };
}

const SAME_SITE: readonly unknown[] = ["Strict", "Lax", "None"] satisfies StoredCookie["sameSite"][];

function readCookie(value: unknown): StoredCookie | null {
  if (!isRecord(value)) return null;
  const { name, domain, path = "/", expires = -1 } = value;
  if (typeof name !== "string" || typeof value.value !== "string" || typeof domain !== "string") return null;
  if (domain === "" || typeof path !== "string" || typeof expires !== "number") return null;
  return {
    ...value,
    name,
    value: value.value,
    domain,
    path,
    expires,
    httpOnly: value.httpOnly === true,
    secure: value.secure === true,
    sameSite: SAME_SITE.includes(value.sameSite) ? (value.sameSite as StoredCookie["sameSite"]) : "Lax", // one of the three
  };
}

function readOrigin(value: unknown): OriginState | null {
  if (!isRecord(value) || typeof value.origin !== "string") return null;
  const { localStorage = [] } = value;
  if (!Array.isArray(localStorage)) return null;
  const entries = localStorage.flatMap((entry: unknown) =>
    isRecord(entry) && typeof entry.name === "string" && typeof entry.value === "string"
      ? [{ name: entry.name, value: entry.value }]
      : [],
  );
  return entries.length === localStorage.length
    ? { ...value, origin: value.origin, localStorage: entries }
    : null;
}

/** Replaces a file of state for good, readable for its user alone. */
export async function writeStateFile(path: string, text: string): Promise<void> {
  await replaceFile(path, text, { aside: asideOf(path, "state"), mode: 0o600 });
  await syncDirectory(dirname(path));
}
