import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type App, DEFAULT_NETWORK, preferenceOf } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import { systemReason } from "../../../base/system-error.ts";
import { VERSION } from "../../../base/version.ts";
import { isLoopbackAddress, parseAddressSet } from "../../../fetching/index.ts";
import {
  type AccessOptions,
  countCalls,
  countSearches,
  type DocumentationOptions,
  type ExtractorServerOptions,
  type McpOptions,
  normalBasePath,
} from "../../../server/index.ts";
import {
  crawlDefaults,
  type Deployment,
  extractionDefaults,
  type Settings,
} from "../../../settings/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import { readText } from "../../input.ts";
import type { Io } from "../../io.ts";
import type { Notices } from "../../terminal/notices.ts";

// Settings that both servers read.

/** Reads which proxies the servers are behind, and how much clients may leave unread. */
export function readFrameSettings(settings: Settings) {
  const { trustedProxies, idleSeconds, maxUnreadBytes, maxUnreadBytesPerClient } = settings;
  const basePath = normalBasePath(settings.basePath ?? "");
  if (basePath === null)
    throw new Failure("invalid_settings", "ARTICLE_EXTRACTOR_BASE_PATH must be a path such as /reader");
  try {
    const trusted = parseAddressSet(trustedProxies ?? "");
    return { basePath, trustedProxies: trusted, idleSeconds, maxUnreadBytes, maxUnreadBytesPerClient };
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

/** Reads the origins of other sites whose pages may call a server. @throws Failure `invalid_settings` */
export function readOrigins(variable: string, text: string | null): readonly string[] {
  const origins = entriesOf(text) ?? [];
  for (const origin of origins)
    if (origin !== "*" && URL.parse(origin)?.origin !== origin)
      throw new Failure(
        "invalid_settings",
        `${variable}: ${JSON.stringify(origin.slice(0, 100))} is not an origin such as https://app.example`,
      );
  return origins;
}

// Steps that every server of documentation takes with its deployment file.

/** How the tools over the tenants answer. */
export function toolOptions(
  { infrastructure }: Deployment,
  {
    registry,
    app,
    settings,
  }: { readonly registry: TenantRegistry; readonly app: App; readonly settings: Settings },
): DocumentationOptions & Pick<McpOptions, "name" | "version" | "onCall"> {
  const mayRead = infrastructure.allowPageFetches && !infrastructure.isOffline;
  // The request itself ends a moment later.
  const maxSeconds = (infrastructure.httpTimeoutMs / 1000) * 0.9;
  return {
    name: "article-extractor",
    version: VERSION,
    registry,
    searchTimeoutMs: infrastructure.searchTimeoutMs,
    includeStats: infrastructure.includeStats,
    fetchMode: infrastructure.fetchMode,
    fetchSurroundingChars: infrastructure.fetchSurroundingChars,
    maxFetchChars: infrastructure.maxFetchChars,
    queryLog: null,
    onSearched: countSearches(app.metrics),
    pages: mayRead ? { app, extraction: extractionDefaults(settings), maxSeconds } : null,
    onCall: countCalls(app.metrics),
  };
}

/** Such a tenant answers no search until somebody builds its index, and nothing here will. */
export async function warnOfMissingIndexes(
  { tenants }: Deployment,
  { registry, notices }: { readonly registry: TenantRegistry; readonly notices: Notices },
): Promise<void> {
  const built = new Map((await registry.statuses()).map(({ codename, builtAt }) => [codename, builtAt]));
  const waiting = tenants.filter(
    ({ codename, allowIndexBuilds, search }) =>
      search.isEnabled && !allowIndexBuilds && (built.get(codename) ?? null) === null,
  );
  if (waiting.length === 0) return;
  const names = waiting.map(({ codename, rootDir, source }) =>
    // The others make theirs when they are synced.
    source === "filesystem" && !existsSync(rootDir)
      ? `${codename} (docs_root_dir ${rootDir} does not exist)`
      : codename,
  );
  const codenames = waiting.map(({ codename }) => codename).join(" ");
  notices.warn(
    `no search index, and this server may not build one (allow_index_builds is false): ${names.join(", ")}; build with: article-extractor index ${codenames}`,
  );
}

// Settings that every server of pages and crawls reads.

/** The values for what requests leave out. */
export const defaultsOf = (settings: Settings): ExtractorServerOptions["defaults"] => ({
  ...crawlDefaults(settings),
  extraction: extractionDefaults(settings),
  preference: preferenceOf(DEFAULT_NETWORK, settings),
});

/** The directory that requests may write to. @throws Failure `invalid_settings` */
export function openRoot(written: string | null): string | null {
  if (written === null) return null;
  const path = resolve(written);
  try {
    mkdirSync(path, { recursive: true });
    if (statSync(path).isDirectory()) return realpathSync(path);
  } catch (cause) {
    const reason = systemReason(cause, "folder");
    throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path}: ${reason}`, { cause });
  }
  throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path} is not a directory`);
}
