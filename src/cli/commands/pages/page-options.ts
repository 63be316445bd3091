import { resolve } from "node:path";
import type { ArticleSession, NetworkOptions } from "../../../app/index.ts";
import {
  ARTICLE_FIELDS,
  type ArticleField,
  DEFAULT_FIELDS,
  DEFAULT_WORD,
  fieldsNamed,
} from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import { didYouMean } from "../../../base/nearest.ts";
import type { ExtractionOptions } from "../../../extraction/index.ts";
import { DEFAULT_EXTRACTION, ENGINES, FAVORS, type Settings } from "../../../settings/index.ts";
import { notPageUrl, splitCredentials, withoutCredentials } from "../../../urls/index.ts";
import { optionValue, type Typed } from "../../arguments.ts";
import { COMMANDS } from "../../commands.ts";

const MAX_WORDS = 1_000_000_000;

/**
 * Reads what is extracted from pages.
 * @param settings what holds where no option says otherwise
 * @throws Failure `invalid_usage`
 */
export function readExtraction(
  typed: Typed,
  renderings: ExtractionOptions["renderings"],
  { favor, engine }: Pick<Settings, "favor" | "engine">,
): ExtractionOptions {
  return {
    minWordCount: optionValue.integer(typed, "min-words", 0, MAX_WORDS) ?? DEFAULT_EXTRACTION.minWordCount,
    favor: optionValue.choice(typed, "favor", FAVORS) ?? favor,
    engine: optionValue.choice(typed, "engine", ENGINES) ?? engine,
    includeImages: !typed.has("no-images"),
    includeCode: !typed.has("no-code"),
    select: optionValue.text(typed, "select"),
    exclude: optionValue.texts(typed, "exclude"),
    renderings,
  };
}

/**
 * Reads the fields of the JSON, in the order in which they were given.
 * @throws Failure `invalid_usage` that names the nearest field for one that there is not
 */
export function readFields(typed: Typed): readonly ArticleField[] {
  if (!typed.has("fields")) return DEFAULT_FIELDS;
  const written = typed.many("fields").flatMap((names) => names.split(","));
  const names = new Set(written.map((name) => name.trim()).filter((name) => name !== ""));
  if (names.size === 0) throw new Failure("invalid_usage", "--fields needs names: --fields title,markdown");
  return fieldsNamed([...names].map(requireField));
}

const FIELD_NAMES = [...ARTICLE_FIELDS, DEFAULT_WORD] as const;

function requireField(name: string): (typeof FIELD_NAMES)[number] {
  const field = FIELD_NAMES.find((known) => known === name);
  if (field !== undefined) return field;
  const guess = didYouMean(name, FIELD_NAMES) || `; there are ${FIELD_NAMES.join(", ")}`;
  throw new Failure("invalid_usage", `--fields: unknown field ${JSON.stringify(name.slice(0, 100))}${guess}`);
}

/**
 * Parses a typed URL, with its credentials separate.
 * @throws Failure `invalid_url` that guesses what was meant
 */
export function requireUrl(written: string): { readonly url: string; readonly authorization: string | null } {
  const split = splitCredentials(written);
  if (split) return split;
  throw new Failure("invalid_url", `${notPageUrl(written)}${guess(written)}`);
}

/** Formats a typed URL for a message. */
export const showUrl = (written: string): string => JSON.stringify(withoutCredentials(written));

function guess(written: string): string {
  if (/^(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?:[/?#]|$)/i.test(written))
    return `; did you mean http://${written} ?`;
  if (/^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]|$)/.test(written) && !/\.(?:html?|md|txt|xml)$/i.test(written)) {
    return `; did you mean https://${written} ?`;
  }
  if (/^(?:file:|\.{0,2}\/)|\.(?:x?html?|md|txt)$/i.test(written)) return "; --file reads a local file";
  return didYouMean(written, [...COMMANDS.map(({ name }) => name), "--help"]);
}

/**
 * Reads how pages are fetched.
 * @param hasPerson whether somebody is there to press Enter
 * @throws Failure `invalid_usage`
 */
export function readNetwork(typed: Typed, hasPerson: () => boolean): NetworkOptions {
  const timeoutSeconds = optionValue.decimal(typed, "timeout", 0.001, 3600);
  const retries = optionValue.integer(typed, "retries", 0, 20);
  return {
    userAgent: optionValue.headerText(typed, "user-agent"),
    hasRandomUserAgent: typed.has("random-user-agent"),
    headers: typed.many("header").map(readHeader),
    proxy: optionValue.text(typed, "proxy"),
    proxyBypass: optionValue.texts(typed, "proxy-bypass"),
    requestTimeoutMs: timeoutSeconds === null ? null : Math.round(timeoutSeconds * 1000),
    tries: retries === null ? null : retries + 1,
    maxBytes: optionValue.bytes(typed, "max-bytes"),
    preference: readPreference(typed),
    isHeaded: typed.has("headed"),
    userInteractionTimeoutMs: readInteractionTimeout(typed, hasPerson),
    storageState: readStorageState(typed),
    waitFor: optionValue.text(typed, "wait-for"),
    scrolls: typed.has("scroll"),
    loadsMedia: typed.has("load-media"),
  };
}

const PREFERENCES = {
  "prefer-browser": "browser",
  "prefer-http": "http",
  "no-browser": "http_only",
} as const;
const NEED_BROWSER = ["headed", "wait-for", "scroll", "load-media"] as const;

function readPreference(typed: Typed): NetworkOptions["preference"] {
  const names = ["prefer-browser", "prefer-http", "no-browser"] as const;
  const [chosen, ...others] = names.filter(typed.has);
  if (chosen === undefined) return null;
  const contrary = others[0] ?? (chosen === "prefer-browser" ? undefined : NEED_BROWSER.find(typed.has));
  if (contrary !== undefined)
    throw new Failure("invalid_usage", `--${contrary} and --${chosen} exclude each other`);
  return PREFERENCES[chosen];
}

const DEFAULT_INTERACTION_MS = 300_000;

function readInteractionTimeout(typed: Typed, hasPerson: () => boolean): number {
  const seconds = optionValue.decimal(typed, "user-interaction-timeout", 0, 86_400);
  if (!typed.has("headed")) {
    if (seconds !== null) throw new Failure("invalid_usage", "--user-interaction-timeout goes with --headed");
    return 0;
  }
  if (seconds !== null) return Math.round(seconds * 1000);
  return hasPerson() ? DEFAULT_INTERACTION_MS : 0;
}

function readStorageState(typed: Typed): string | null {
  const path = optionValue.text(typed, "storage-state");
  return path === null ? null : resolve(path);
}

function readHeader(written: string): readonly [name: string, value: string] {
  const colon = written.indexOf(":");
  // The value may be a secret, so the message only names the form; the fetcher checks the content.
  if (colon < 1) throw new Failure("invalid_usage", '--header must have the form "Name: value"');
  return [written.slice(0, colon), written.slice(colon + 1).trim()];
}

/**
 * Checks the selectors. A selector is parsed with its page; a wrong one should be reported before a page is read,
 * and once for many pages, so it is tried on a page of one word first.
 * @throws Failure `invalid_usage`
 */
export async function requireSelectors(
  extraction: ExtractionOptions,
  { session, signal }: { readonly session: ArticleSession; readonly signal: AbortSignal },
): Promise<void> {
  if (extraction.select === null && extraction.exclude.length === 0) return;
  const page = { name: "selectors", kind: "html", body: "<p>word</p>", url: null, warnings: [] } as const;
  try {
    await session.fromDocument(page, extraction, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The extractor calls the options by their names in a program.
    if (error.code === "invalid_usage")
      throw new Failure("invalid_usage", `--${error.message}`, { cause: error });
    if (error.code !== "no_content") throw error; // nothing matches, of course
  }
}
