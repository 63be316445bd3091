import { createReadStream } from "node:fs";
import { isStoreUrl } from "../../../base/objects.ts";
import { MANIFEST_START } from "../../../crawler/index.ts";
import {
  CRAWL,
  EXTRACTION,
  flagName,
  manifestField,
  NETWORK,
  type Option,
  type OptionTable,
  unmarked,
} from "../../../options/index.ts";
import type { Typed } from "../../arguments.ts";
import { wrongUsage } from "../../io.ts";
import { pathBytes } from "../../words.ts";

/**
 * The words of a command that tries the failed pages of a crawl again: those of the crawl, as its manifest shows them,
 * under what was typed with `--retry-failed`.
 * @throws Failure `invalid_usage` for a directory without a crawl's manifest, and for what would change the crawl
 */
export async function retriedCrawl(directory: string, typed: Typed): Promise<Typed> {
  const changes = ({ name, group }: Typed["command"]["flags"][number]): boolean =>
    typed.has(name) && !KEEPING_GROUPS.includes(group) && !KEEPING.includes(name);
  const other = typed.positionals.length > 0 ? "the URL" : typed.command.flags.find(changes)?.name;
  if (other !== undefined)
    throw wrongUsage(
      `--retry-failed takes the crawl from ${directory}; leave out ${other === "the URL" ? other : `--${other}`}`,
    );
  if (isStoreUrl(directory))
    throw wrongUsage(
      "--retry-failed takes a directory; for a bucket, the crawl's own command with more --retries",
    );
  const kept = wordsOf(await readConfig(directory), typed);
  kept.set("output-dir", [directory]);
  const many = (name: string): readonly string[] =>
    typed.has(name) ? typed.many(name) : (kept.get(name) ?? []);
  return {
    ...typed,
    has: (name) => many(name).length > 0,
    one: (name) => many(name).at(-1) ?? null,
    many,
  };
}

// How pages are fetched may be what failed; the others say which crawl it is.
const KEEPING_GROUPS: readonly string[] = ["Pace", "Fetching", "General"];
const KEEPING = ["retry-failed", "changed-jsonl", "max-failures", "fields"];

/** The options under their names in a manifest. */
const BY_FIELD: ReadonlyMap<string, Option> = new Map(
  [CRAWL, EXTRACTION, NETWORK]
    .flatMap((table: OptionTable) => Object.values(table))
    .map((option) => [manifestField(option) ?? "", option]),
);

/** Options of one run. */
const OF_ONE_RUN = ["fresh", "changed_jsonl", "user_interaction_timeout"];

const FETCHERS = { browser: "prefer-browser", http: "prefer-http", http_only: "no-browser" } as const;

type Config = Readonly<Record<string, unknown>>;
/** Parts that every manifest has. */
type Sections = Config & { readonly options: Config; readonly network: Config };

/** The options of a manifest's `config`, each with its values; options that the command does not take are left out. */
function wordsOf(config: Config, typed: Typed): Map<string, readonly string[]> {
  const { options, network, fetcher_preference: fetcher, ...plan } = config as Sections;
  const words = new Map<string, readonly string[]>();
  const { header_names: headers, tries, ...ways } = network;
  if (Array.isArray(headers) && headers.length > 0 && !typed.has("header"))
    throw wrongUsage(
      `the crawl sent the header ${headers.join(", ")}, whose value is not kept: type it again with --header`,
    );
  for (const [field, value] of Object.entries({ ...plan, ...options, ...ways })) {
    if (OF_ONE_RUN.includes(field)) continue;
    const { name, isContrary } = flagOf(field);
    const values = isContrary ? value === false : value;
    if (!typed.command.flags.some((flag) => flag.name === name) || values === false) continue;
    words.set(name, [values ?? []].flat().map(String));
  }
  if (typeof tries === "number") words.set("retries", [String(tries - 1)]);
  const preference = FETCHERS[fetcher as keyof typeof FETCHERS] ?? null;
  if (preference !== null && !Object.values(FETCHERS).some(typed.has)) words.set(preference, ["true"]);
  return words;
}

/** The flag for a field of a manifest, and whether it says the contrary. */
function flagOf(field: string): ReturnType<typeof unmarked> {
  const option = BY_FIELD.get(field);
  const name = (option && flagName(option)) ?? field.replaceAll("_", "-");
  return { name, isContrary: unmarked(option?.flag ?? "").isContrary };
}

/** The text before a manifest's entries, of which there may be a million. */
const RESULTS = ',\n  "results": [';

async function readConfig(directory: string): Promise<Config> {
  const missing = wrongUsage(`--retry-failed: ${directory} holds no manifest.json of a crawl`);
  let text = "";
  try {
    for await (const piece of createReadStream(pathBytes(`${directory}/manifest.json`), "utf8")) {
      const from = Math.max(0, text.length - RESULTS.length);
      text += piece;
      const end = text.indexOf(RESULTS, from);
      if (end < 0) continue;
      if (!text.startsWith(MANIFEST_START)) break;
      const { config } = JSON.parse(`${text.slice(0, end)}}`);
      return config;
    }
  } catch (cause) {
    throw wrongUsage(missing.message, { cause });
  }
  throw missing;
}
