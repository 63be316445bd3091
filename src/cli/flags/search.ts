// Plain values: the type `Flag` checks them where flags.ts puts them into the commands.

const DIR = {
  name: "dir",
  placeholder: "DIR",
  isPath: true,
  group: "Input",
  help: "The folder of Markdown files, as a crawl writes it",
} as const;

const INDEX_FILE = {
  name: "index-file",
  placeholder: "FILE",
  isPath: true,
  group: "Search",
  help: "The index's file of --dir (default DIR/.article-extractor/search.index)",
} as const;

const CONFIG = {
  name: "config",
  placeholder: "FILE",
  isPath: true,
  group: "Input",
  help: "Deployment file of the tenants (default DEPLOYMENT_CONFIG, then ./deployment.json)",
} as const;

const JSON_OUTPUT = {
  name: "json",
  group: "Output",
  help: "One JSON document instead of text",
} as const;

/** What only `index` takes. */
export const INDEX_ONLY_FLAGS = [
  CONFIG,
  { name: "all", group: "Input", help: "Every tenant of the deployment" },
  DIR,
  INDEX_FILE,
  {
    name: "profile",
    placeholder: "PROFILE",
    choices: ["default", "aggressive-stem", "code-friendly"],
    group: "Search",
    help: "How words of --dir are told apart: default, aggressive-stem, or code-friendly (code is not stemmed)",
  },
  JSON_OUTPUT,
] as const;

/** What only `search` takes. */
export const SEARCH_ONLY_FLAGS = [
  CONFIG,
  { name: "all", group: "Input", help: "Search every tenant of the deployment" },
  DIR,
  INDEX_FILE,
  { name: "size", placeholder: "N", group: "Search", help: "Hits at most, 1 to 100 (default 10)" },
  { name: "word-match", group: "Search", help: "Only words as they are typed, no other forms of them" },
  { name: "explain", group: "Search", help: "Show how each hit of --dir got its score" },
  JSON_OUTPUT,
] as const;

/** What only `fetch` takes. */
export const FETCH_ONLY_FLAGS = [CONFIG, JSON_OUTPUT] as const;

/** What only `sync` takes. */
export const SYNC_ONLY_FLAGS = [CONFIG, { name: "all", group: "Input", help: "Every tenant" }] as const;

/** What only `doctor` takes. */
export const DOCTOR_ONLY_FLAGS = [
  CONFIG,
  { name: "json", group: "Output", help: "Print the findings as JSON" },
] as const;
