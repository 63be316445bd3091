// The architecture as data; the rules that read it are in test/architecture.test.ts.

export type Room = {
  /** Rooms whose door it may import; a room not named is closed to it. */
  readonly mayImport: readonly string[];
  /** Rooms of which it may import types and nothing that exists at run time. */
  readonly mayImportTypesOf?: readonly string[];
  /** `src/<room>.ts` instead of a folder. */
  readonly isOneFile?: boolean;
};

// Each file of the base is a room of its own, so that nobody has to load all of it.
const files = (names: string, ...mayImport: string[]): Readonly<Record<string, Room>> =>
  Object.fromEntries(names.split(" ").map((name) => [`base/${name}`, { isOneFile: true, mayImport }]));

const BASE_FILES = {
  ...files(
    "abort atomic-file bounded-map clock damaged detect-language earlier-names event-loop failure fair-queue free-disk json",
  ),
  ...files("front-matter other-names text url-secrets version"),
  ...files("nearest", "base/other-names"),
  ...files("system-error worker-thread", "base/failure"),
};
const OBSERVING_FILES = {
  ...files("metrics tracing"),
  ...files("log", "base/url-secrets"),
  // Beside the log, so that the library needs nothing of what writes lines.
  ...files("silent-log", "base/log"),
};
const BASE = ["urls", ...Object.keys(BASE_FILES)];
// Metrics may be imported wherever the log may.
const OBSERVED_BASE = [...BASE, ...Object.keys(OBSERVING_FILES)];
const CRAWLING = ["articles", "fetching", "extraction", "pages"] as const;
const MODULES = [...CRAWLING, "crawler", "search", "tenants"] as const;

/** Which room may import which (docs: the table in src/README.md). */
export const ROOMS: Readonly<Record<string, Room>> = {
  ...BASE_FILES,
  ...OBSERVING_FILES,
  urls: { mayImport: [] },
  options: { mayImport: [] },
  "base/database": {
    mayImport: ["base/clock", "base/damaged", "base/failure", "base/system-error", "base/log"],
  },
  "base/database-url": { isOneFile: true, mayImport: ["base/failure", "base/nearest", "base/system-error"] },
  "base/objects": { isOneFile: true, mayImport: ["base/failure"] },
  fetching: { mayImport: OBSERVED_BASE },
  extraction: { mayImport: ["markdown", ...BASE], mayImportTypesOf: ["options"] },
  articles: { mayImport: ["fetching", "extraction", "markdown", ...OBSERVED_BASE] },
  pages: { mayImport: ["markdown", ...BASE] },
  crawler: { mayImport: ["options", "base/database", "base/objects", ...CRAWLING, ...OBSERVED_BASE] },
  markdown: { mayImport: [] },
  search: { mayImport: ["markdown", "pages", ...BASE] },
  tenants: { mayImport: ["base/database", ...CRAWLING, "crawler", "search", ...OBSERVED_BASE] },
  // It has to throw and to check log levels and URLs; of the rest it holds options, not code.
  settings: { mayImport: ["options", ...OBSERVED_BASE], mayImportTypesOf: ["base/objects", ...MODULES] },
  // What processes on several machines share; only app imports it, and only where something is shared.
  scale: {
    mayImport: [
      "base/database",
      "base/database-url",
      "base/objects",
      ...CRAWLING,
      "crawler",
      ...OBSERVED_BASE,
    ],
  },
  app: {
    mayImport: [
      "settings",
      "options",
      "base/database",
      "base/database-url",
      "base/objects",
      "scale",
      ...MODULES,
      ...OBSERVED_BASE,
    ],
  },
  server: {
    mayImport: [
      "app",
      "chunks",
      "question",
      "options",
      "base/database",
      "base/objects",
      "markdown",
      ...MODULES,
      ...OBSERVED_BASE,
    ],
  },
  // Flags go before settings, so the shell reads both with the same parsers.
  cli: {
    mayImport: [
      "app",
      "base/database",
      "base/objects",
      "markdown",
      "options",
      "chunks",
      "question",
      "server",
      "settings",
      ...MODULES,
      ...OBSERVED_BASE,
    ],
  },
  chunks: { isOneFile: true, mayImport: ["articles", "options", "search"] },
  question: { isOneFile: true, mayImport: ["articles", "extraction", "options", "search", "settings"] },
  // The library's door: what app is to the program, without crawls and search.
  library: {
    mayImport: ["options", "question", "settings", "articles", "fetching", "extraction", ...OBSERVED_BASE],
  },
  // The program's entry, and the workers', which load `src/<room>/worker.ts` and not the whole room.
  bin: { mayImport: ["cli", "extraction", "search", "base/version"] },
};

/** The room whose door is for other programs. */
export const PUBLIC_ROOM = "library";

/** Rooms that may read the environment: one owns it, the entries hand it over. */
export const ENVIRONMENT_READERS: readonly string[] = ["settings", "bin", "library"];

/** Files outside fetching that may open connections, each with its reason. */
export const NETWORK_USERS: Readonly<Record<string, string>> = {
  "src/server/web/page/http.ts": "runs in the browser, and asks the server that the page came from",
  "src/server/web/page/box/main.ts":
    "runs in the browser, and asks the server that its script came from or that is named",
  "src/scale/postgres/connections.ts": "the shared database is a server that the operator names",
  "src/scale/objects/s3.ts": "the bucket is a server that the operator names",
  "src/app/opentelemetry.ts": "traces leave for a collector that the operator names",
  "src/app/statsd.ts": "metrics leave by UDP to a server that the operator names",
};

/** Files that are embedded although they lie outside `src/` and `bin/`. */
export const EMBEDDED_FILES: readonly string[] = ["package.json", "project.json", "build/licenses.txt"];

/** A function that is longer than this, or has more ways through it or parameters, wants parts or a table. */
export const MAX_FUNCTION = { lines: 60, branches: 15, parameters: 5 } as const;

/** Functions that run inside a foreign page, where nothing from outside of them exists; their parts keep the limits. */
export const IN_PAGE: Readonly<Record<string, string>> = {
  "src/fetching/browser/read-page.ts": "captureDocument",
  "src/fetching/browser/settle.ts": "watchDocument",
};
