// The architecture as data; the rules that read it are in architecture-rules.ts.

export type Room = {
  /** Rooms whose door it may import; a room not named is closed to it. */
  readonly mayImport: readonly string[];
  /** Rooms of which it may import types and nothing that exists at run time. */
  readonly mayImportTypesOf?: readonly string[];
  /** `src/<room>.ts` instead of a folder. */
  readonly isOneFile?: boolean;
};

// Every room may import these: they hold no state and write nothing.
const BASE = [
  "urls",
  "base/abort",
  "base/detect-language",
  "base/earlier-names",
  "base/atomic-file",
  "base/event-loop",
  "base/failure",
  "base/fair-queue",
  "base/json",
  "base/nearest",
  "base/system-error",
  "base/text",
  "base/url-secrets",
  "base/version",
  "base/worker-thread",
] as const;
// Metrics may be imported wherever the log may.
const OBSERVED_BASE = [...BASE, "base/log", "base/silent-log", "base/metrics", "base/tracing"] as const;
const CRAWLING = ["articles", "fetching", "extraction", "pages"] as const;
const MODULES = [...CRAWLING, "crawler", "search", "tenants"] as const;

/** Which room may import which (docs: the table in src/README.md). */
export const ROOMS: Readonly<Record<string, Room>> = {
  "base/failure": { isOneFile: true, mayImport: [] },
  "base/url-secrets": { isOneFile: true, mayImport: [] },
  "base/log": { isOneFile: true, mayImport: ["base/url-secrets"] },
  // Beside the log, so that the library needs nothing of what writes lines.
  "base/silent-log": { isOneFile: true, mayImport: ["base/log"] },
  "base/metrics": { isOneFile: true, mayImport: [] },
  "base/tracing": { isOneFile: true, mayImport: [] },
  "base/worker-thread": { isOneFile: true, mayImport: ["base/failure"] },
  "base/version": { isOneFile: true, mayImport: [] },
  "base/json": { isOneFile: true, mayImport: [] },
  "base/text": { isOneFile: true, mayImport: [] },
  "base/system-error": { isOneFile: true, mayImport: ["base/failure"] },
  "base/earlier-names": { isOneFile: true, mayImport: [] },
  "base/nearest": { isOneFile: true, mayImport: [] },
  "base/fair-queue": { isOneFile: true, mayImport: [] },
  "base/atomic-file": { isOneFile: true, mayImport: [] },
  "base/detect-language": { isOneFile: true, mayImport: [] },
  "base/abort": { isOneFile: true, mayImport: [] },
  "base/event-loop": { isOneFile: true, mayImport: [] },
  urls: { mayImport: [] },
  "base/database": { mayImport: ["base/failure", "base/system-error", "base/log"] },
  "base/postgres": {
    mayImport: [
      "base/abort",
      "base/database",
      "base/failure",
      "base/log",
      "base/metrics",
      "base/nearest",
      "base/system-error",
    ],
  },
  "base/objects": {
    mayImport: [
      "base/abort",
      "base/atomic-file",
      "base/failure",
      "base/log",
      "base/metrics",
      "base/system-error",
    ],
  },
  fetching: { mayImport: OBSERVED_BASE },
  extraction: { mayImport: BASE },
  articles: { mayImport: ["fetching", "extraction", ...OBSERVED_BASE] },
  pages: { mayImport: ["base/objects", ...BASE] },
  crawler: { mayImport: ["base/database", "base/objects", "base/postgres", ...CRAWLING, ...OBSERVED_BASE] },
  markdown: { mayImport: [] },
  search: { mayImport: ["markdown", "pages", ...BASE] },
  tenants: {
    mayImport: ["base/database", "base/postgres", ...CRAWLING, "crawler", "search", ...OBSERVED_BASE],
  },
  // It has to throw and to check log levels and URLs; of the rest it holds options, not code.
  settings: {
    mayImport: ["base/postgres", ...OBSERVED_BASE],
    mayImportTypesOf: ["base/objects", ...MODULES],
  },
  app: {
    mayImport: ["settings", "base/database", "base/objects", "base/postgres", ...MODULES, ...OBSERVED_BASE],
  },
  server: {
    mayImport: [
      "app",
      "base/database",
      "base/objects",
      "base/postgres",
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
      "base/postgres",
      "server",
      "settings",
      ...MODULES,
      ...OBSERVED_BASE,
    ],
  },
  // The library's door: what app is to the program, without crawls and search.
  library: {
    mayImport: ["settings", "articles", "fetching", "extraction", ...OBSERVED_BASE],
  },
  // The program's entry, and the workers', which load `src/<room>/worker.ts` and not the whole room.
  bin: { mayImport: ["cli", "extraction", "search", "base/version"] },
};

/** The room whose door is for other programs. */
export const PUBLIC_ROOM = "library";

/** How many names of a door nothing outside its room may use; other rooms have none. The numbers only shrink. */
export const UNUSED_DOOR_NAMES: Readonly<Record<string, number>> = {};

/** Rooms that may read the environment: one owns it, the entries hand it over. */
export const ENVIRONMENT_READERS: readonly string[] = ["settings", "bin", "library"];

/** Files outside fetching that may open connections, each with its reason. */
export const NETWORK_USERS: Readonly<Record<string, string>> = {
  "src/server/web/page/http.ts": "runs in the browser, and asks the server that the page came from",
  "src/server/web/page/box/main.ts":
    "runs in the browser, and asks the server that its script came from or that is named",
  "src/base/postgres/connections.ts": "the shared database is a server that the operator names",
  "src/base/objects/s3.ts": "the bucket is a server that the operator names",
  "src/app/opentelemetry.ts": "traces leave for a collector that the operator names",
  "src/app/statsd.ts": "metrics leave by UDP to a server that the operator names",
};

/** Files that are embedded although they lie outside `src/` and `bin/`. */
export const EMBEDDED_FILES: readonly string[] = ["package.json", "project.json", "build/licenses.txt"];

export const MAX_FILE_LINES = 400;
