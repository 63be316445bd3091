import { Failure } from "../failure.ts";
import { ANALYZER_PROFILES, type AnalyzerProfile, indexFileOf } from "../search/index.ts";
import type { Typed } from "./arguments.ts";
import { optionValue } from "./values.ts";

/** `index`, ready to run. */
export type IndexCommand = {
  readonly folder: string;
  readonly indexFile: string;
  readonly profile: AnalyzerProfile;
};

/** `search`, ready to run. */
export type SearchCommand = {
  readonly folder: string;
  readonly indexFile: string;
  readonly query: string;
  readonly size: number;
  readonly isWordMatch: boolean;
  readonly isExplained: boolean;
  readonly isJson: boolean;
};

const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;

/** @throws Failure `invalid_usage` */
export function readIndexCommand(typed: Typed): IndexCommand {
  if (typed.positionals.length > 0) {
    const [first] = typed.positionals;
    throw new Failure("invalid_usage", `index takes no arguments; did you mean --dir ${first}?`);
  }
  const profile = optionValue.choice(typed, "profile", ANALYZER_PROFILES) ?? "default";
  return { ...readPlaces(typed), profile };
}

/** @throws Failure `invalid_usage` */
export function readSearchCommand(typed: Typed): SearchCommand {
  const query = typed.positionals.join(" ");
  if (query.trim() === "") {
    throw new Failure("invalid_usage", "search needs a query: article-extractor search --dir DIR QUERY");
  }
  return {
    ...readPlaces(typed),
    query,
    size: optionValue.integer(typed, "size", 1, MAX_SIZE) ?? DEFAULT_SIZE,
    isWordMatch: typed.has("word-match"),
    isExplained: typed.has("explain"),
    isJson: typed.has("json"),
  };
}

function readPlaces(typed: Typed): { readonly folder: string; readonly indexFile: string } {
  const folder = optionValue.text(typed, "dir");
  if (folder === null) {
    throw new Failure("invalid_usage", `${typed.command.name} needs --dir DIR, the folder of Markdown files`);
  }
  return { folder, indexFile: optionValue.text(typed, "index-file") ?? indexFileOf(folder) };
}
