import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { asideOf, replaceFile } from "../../base/atomic-file.ts";
import { Failure } from "../../base/failure.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { didYouMean } from "../../base/nearest.ts";
import { isMissing, systemCode, systemReason } from "../../base/system-error.ts";
import { hashOf, type Keys } from "./access.ts";
import type { Grant } from "./exchange.ts";

/** A key as the file has it, which is without the key itself. */
type StoredKey = Grant & {
  readonly hash: string;
  readonly createdAt: string;
};

/** How often a server looks for a newer file, in ms. */
const CHECK_EVERY_MS = 1000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Opens the keys of a file for a server, which notices within a second or two when the file changes. A file that
 * cannot be read any more leaves the keys as they were; one that is gone leaves none.
 * @throws Failure `invalid_settings` when it cannot be read now
 */
export function openKeyFile(path: string, log: Log): Keys {
  let signature = signatureOf(path);
  let checkedAt = performance.now();
  let byHash = indexed(readKeys(path));
  const refresh = (): void => {
    checkedAt = performance.now();
    const found = signatureOf(path);
    if (found === signature) return;
    signature = found;
    try {
      byHash = indexed(found === "" ? [] : readKeys(path));
      log.info("keys read", { path, keys: byHash.size });
    } catch (error) {
      log.error("keys not read; the previous ones hold", { path, error: String(error) });
    }
  };
  return {
    find: (token) => {
      if (performance.now() - checkedAt >= CHECK_EVERY_MS) refresh();
      // The key of the map is a hash, so how long a look takes tells nothing of a key.
      return byHash.get(hashOf(token)) ?? null;
    },
  };
}

const indexed = (keys: readonly StoredKey[]): ReadonlyMap<string, Grant> =>
  new Map(keys.map((key) => [key.hash, key]));

function signatureOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
}

/** The keys of a file. @throws Failure `invalid_settings` */
export function readKeys(path: string): readonly StoredKey[] {
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw broken(path, "it is too large");
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const hint = isMissing(cause) ? "; article-extractor keys add NAME makes it" : "";
    throw new Failure("invalid_settings", `keys_file ${path}: ${systemReason(cause)}${hint}`, { cause });
  }
  return parseKeys(text, path);
}

function parseKeys(text: string, path: string): readonly StoredKey[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid_settings", `keys_file ${path} is not JSON`, { cause });
  }
  if (!isRecord(content) || !Array.isArray(content.keys)) throw broken(path, "it has no list of keys");
  return content.keys.map((key: unknown, index) => {
    if (!isRecord(key)) throw broken(path, `keys[${index}] is not an object`);
    const { name, hash, tenants = null, created_at: createdAt } = key;
    if (typeof name !== "string" || !NAME.test(name))
      throw broken(path, `keys[${index}].name must have ${NAME_FORM}`);
    if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash))
      throw broken(path, `keys[${index}].hash must be a SHA-256 in 64 lower-case hexadecimal digits`);
    if (!isTenants(tenants))
      throw broken(path, `keys[${index}].tenants must be a list of codenames, or null for all`);
    return { name, hash, tenants, createdAt: typeof createdAt === "string" ? createdAt : "" };
  });
}

const isTenants = (value: unknown): value is readonly string[] | null =>
  value === null || (Array.isArray(value) && value.every((one) => typeof one === "string"));

const broken = (path: string, what: string): Failure =>
  new Failure("invalid_settings", `keys_file ${path} is not a file of keys: ${what}`);

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME_FORM = "1 to 64 letters, digits, dots, _ and -, and begins with one of the first two";

/**
 * Makes a key and adds its hash to the file, which is made, with its directory, when it is not there.
 * @returns the key, which is kept nowhere
 * @throws Failure `invalid_usage` for a name that is taken or none, `invalid_settings`, `unwritable_output`
 */
export async function addKey(
  path: string,
  { name, tenants, now }: { readonly name: string; readonly tenants: Grant["tenants"]; readonly now: Date },
): Promise<string> {
  if (!NAME.test(name)) throw new Failure("invalid_usage", `a name has ${NAME_FORM}`);
  const directory = dirname(path);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unwritable(directory, cause);
  }
  const key = `ae_${randomBytes(32).toString("base64url")}`;
  await changeKeys(path, (keys) => {
    if (keys.some((one) => one.name === name))
      throw new Failure("invalid_usage", `there is a key '${name}'; remove it, or take another name`);
    return [...keys, { name, hash: hashOf(key), tenants, createdAt: now.toISOString() }];
  });
  return key;
}

/**
 * Takes a key out of the file.
 * @throws Failure `invalid_usage` when there is none of this name, `invalid_settings`, `unwritable_output`
 */
export async function removeKey(path: string, name: string): Promise<void> {
  await changeKeys(path, (keys) => {
    const names = keys.map((key) => key.name);
    if (!names.includes(name))
      throw new Failure("invalid_usage", `there is no key '${name.slice(0, 100)}'${didYouMean(name, names)}`);
    return keys.filter((key) => key.name !== name);
  });
}

async function changeKeys(
  path: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
): Promise<void> {
  await using _ = await lock(`${path}.lock`);
  const present = signatureOf(path) === "" ? [] : readKeys(path);
  const keys = change(present).map(({ createdAt, ...key }) => ({ ...key, created_at: createdAt }));
  try {
    await replaceFile(path, `${JSON.stringify({ keys }, null, 2)}\n`, {
      aside: asideOf(path, "keys"),
      mode: 0o600,
    });
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

const LOCK_TRIES = 50;
const LOCK_WAIT_MS = 100;

/** Keeps two commands from changing the file at once, since the second would lose what the first has added. */
async function lock(path: string): Promise<AsyncDisposable> {
  for (let tries = 1; ; tries++) {
    try {
      await (await open(path, "wx", 0o600)).close();
      return { [Symbol.asyncDispose]: () => unlink(path) };
    } catch (cause) {
      if (systemCode(cause) !== "EEXIST") throw unwritable(path, cause);
      if (tries === LOCK_TRIES)
        throw new Failure(
          "unwritable_output",
          `another command changes the keys; if none does, delete ${path}`,
          { cause },
        );
      await Bun.sleep(LOCK_WAIT_MS);
    }
  }
}

const unwritable = (path: string, cause: unknown): Failure =>
  new Failure("unwritable_output", `${path}: ${systemReason(cause)}`, { cause });
