import { CRAWL } from "../../../options/index.ts";
import type { TenantSettings } from "../../../tenants/index.ts";
import { parsePageUrl } from "../../../urls/index.ts";
import type { Typed } from "../../arguments.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";

/** The tenant that the options apply to. */
type Target = Pick<TenantSettings, "source"> & {
  /** The address that an excluded path is below; null for folders and repositories. */
  readonly entry: string | null;
};

/** Changed fields of a tenant; `undefined` removes a field. */
type ChangedFields = Readonly<Record<string, unknown>>;

/** The options of `tenants add` and `tenants set`, with the kinds of sources that they are for and their fields. */
const OPTIONS: Readonly<
  Record<string, { sources: readonly string[]; read: (typed: Typed, target: Target) => ChangedFields }>
> = {
  name: { sources: ["online", "git", "filesystem"], read: (typed) => ({ docs_name: typed.one("name") }) },
  library: { sources: ["online", "git", "filesystem"], read: (typed) => ({ library: typed.one("library") }) },
  "library-version": {
    sources: ["online", "git", "filesystem"],
    read: (typed) => ({ version: typed.one("library-version") }),
  },
  "max-pages": {
    sources: ["online"],
    read: (typed) => ({
      max_crawl_pages: typed.one("max-pages") && optionValue.integer(typed, "max-pages", CRAWL.maxPages.kind),
    }),
  },
  exclude: {
    sources: ["online", "git", "filesystem"],
    read: (typed, { entry }) => {
      const patterns = typed.many("exclude").filter((pattern) => pattern !== "");
      if (entry === null) return { exclude: patterns.length > 0 ? patterns : undefined };
      return { url_blacklist_prefixes: patterns.map((pattern) => prefixOf(pattern, entry)).join(", ") };
    },
  },
  schedule: {
    sources: ["online", "git"],
    // An interval would go before the schedule.
    read: (typed, { source }) => ({
      refresh_schedule: typed.one("schedule"),
      ...(source === "git" && { git_sync_interval_minutes: undefined }),
    }),
  },
};

/** The names of the options that become fields. */
export const FIELD_OPTIONS: readonly string[] = Object.keys(OPTIONS);

/** Reads the options that become fields; an empty value takes the field out. @throws Failure `invalid_usage` */
export function typedFields(typed: Typed, target: Target): ChangedFields {
  const fields = FIELD_OPTIONS.filter((name) => typed.has(name)).flatMap((name) => {
    const { sources = [], read } = OPTIONS[name] ?? {};
    if (!sources.includes(target.source)) throw wrongUsage(`--${name} ${WHY_NOT[name]}`);
    return Object.entries(read?.(typed, target) ?? {});
  });
  return Object.fromEntries(fields.map(([name, value]) => [name, value === "" ? undefined : value]));
}

const WHY_NOT: Readonly<Record<string, string>> = {
  "max-pages": "is for websites",
  schedule: "is for websites and repositories; a folder is read again when it changes",
};

/** `/blog/` and `/blog/*` are what begins so on the site. @throws Failure `invalid_usage` */
function prefixOf(pattern: string, entry: string): string {
  const beginning = pattern.replace(/\*{1,2}$/, "");
  const isAddress = /^(?:https?:\/\/|\/)/.test(beginning) && !/[*\s,]/.test(beginning);
  const url = isAddress ? parsePageUrl(URL.parse(beginning, entry)?.href ?? "") : null;
  if (url !== null) return url;
  throw wrongUsage(`--exclude of a website takes paths, such as /blog/, not ${pattern}`);
}
