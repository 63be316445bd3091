import { Failure } from "../../../base/failure.ts";
import { type AddressSet, isLoopbackAddress, parseAddressSet } from "../../../fetching/index.ts";
import { type AccessOptions, normalBasePath } from "../../../server/index.ts";
import type { Settings } from "../../../settings/index.ts";
import { readText } from "../../input.ts";
import type { Io } from "../../io.ts";
import type { Notices } from "../../terminal/notices.ts";

// What both servers read out of the settings.

/** Reads which proxies the servers are behind. */
export function readProxySettings({ basePath: written, trustedProxies }: Settings): {
  readonly basePath: string;
  readonly trustedProxies: AddressSet;
} {
  const basePath = normalBasePath(written ?? "");
  if (basePath === null)
    throw new Failure("invalid_settings", "ARTICLE_EXTRACTOR_BASE_PATH must be a path such as /reader");
  try {
    return { basePath, trustedProxies: parseAddressSet(trustedProxies ?? "") };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_TRUSTED_PROXIES: ${cause.message}`, { cause });
  }
}

const MAX_KEY_FILE_BYTES = 64 * 1024;

/**
 * Reads the key that callers must send; null for none.
 * @param written.file goes before the key itself
 * @param written.variable names the setting in a message
 * @throws Failure `invalid_settings`, `unreadable_input`
 */
export async function readApiKey(
  written: { readonly key: string | null; readonly file: string | null; readonly variable: string },
  io: Io,
): Promise<string | null> {
  const { file, variable } = written;
  const key = file === null ? written.key : (await readText(file, io, MAX_KEY_FILE_BYTES)).trim();
  if (key === null || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new Failure(
    "invalid_settings",
    `${file === null ? variable : `${variable}_FILE`} must ${file === null ? "be" : "name a file of"} visible ASCII characters without spaces`,
  );
}

/** Warns at the start about a server that other machines can reach and use without a key. */
export function warnWithoutKey(
  {
    host,
    apiKey,
    keys = null,
    hasTokens = false,
  }: { readonly host: string; readonly hasTokens?: boolean } & AccessOptions,
  variable: string,
  notices: Notices,
): void {
  if (apiKey !== null || keys !== null || hasTokens || host === "localhost" || isLoopbackAddress(host))
    return;
  notices.warn(`there is no API key: whoever reaches ${host} may use the server; ${variable} sets one`);
}

/** Splits a setting at commas and spaces; null for an unset one. */
export const entriesOf = (text: string | null): string[] | null =>
  text?.split(/[\s,]+/).filter((entry) => entry !== "") ?? null;
