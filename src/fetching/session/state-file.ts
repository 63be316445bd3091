import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { asideOf, replaceFile, syncDirectory } from "../../base/atomic-file.ts";
import { Failure } from "../../base/failure.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { isMissing, systemReason } from "../../base/system-error.ts";
import type { OriginState, StorageState, StoredCookie } from "./changes.ts";

export const EMPTY_STATE: StorageState = { cookies: [], origins: [] };

/**
 * Reads a storage state in Playwright's form.
 * @returns an empty state when there is no file yet
 * @throws Failure `unreadable_input` when it cannot be read or is no storage state
 */
export function readStateFile(path: string): StorageState {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return EMPTY_STATE;
    throw new Failure(
      "unreadable_input",
      `the storage state ${path} cannot be read: ${systemReason(error)}`,
      {
        cause: error,
      },
    );
  }
  if (text.trim() === "") return EMPTY_STATE;
  const state = parseState(text);
  if (!state) throw new Failure("unreadable_input", `${path} holds no storage state as Playwright writes it`);
  return state;
}

/** @returns null when the text is no storage state */
export function parseState(text: string): StorageState | null {
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

export function readCookie(value: unknown): StoredCookie | null {
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
