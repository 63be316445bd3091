/** The flags for fetching pages, in extractions and in crawls. */
export const FETCHING_FLAGS: readonly Flag[] = inGroup("Fetching", [
  { name: "user-agent", placeholder: "TEXT", help: "User agent to send; wins over --random-user-agent" },
  { name: "random-user-agent", help: "Send a current desktop browser's user agent" },
  {
    name: "header",
    placeholder: '"NAME: VALUE"',
    isRepeatable: true,
    help: "Send this header too; it stays with the page's own origin (repeatable)",
  },
  { name: "proxy", placeholder: "URL", help: "HTTP proxy; wins over HTTPS_PROXY, HTTP_PROXY and ALL_PROXY" },
  {
    name: "proxy-bypass",
    placeholder: "HOST",
    isRepeatable: true,
    help: "Host that skips the proxy, as in NO_PROXY (repeatable)",
  },
  {
    name: "timeout",
    placeholder: "SECONDS",
    help: "Longest wait for one request (default 30); a page with its retries gets 60, or this if longer",
  },
  {
    name: "retries",
    placeholder: "N",
    help: "Further tries after a failed connection, 408, 425, 429 or 5xx (default 3)",
  },
  { name: "max-bytes", placeholder: "SIZE", help: "Largest page, decompressed (default 20M)" },
  {
    name: "egress",
    placeholder: "POLICY",
    help: "Addresses that may be reached: auto (default), open, public, or a list of hosts and networks",
  },
  { name: "prefer-browser", help: "Fetch with the browser first (the default where one is found)" },
  {
    name: "prefer-http",
    help: "Fetch with the plain HTTP client first; the browser helps with empty shells and 404",
  },
  { name: "no-browser", help: "Never start a browser" },
  { name: "wait-for", placeholder: "CSS", help: "Wait in the browser until an element matches" },
  { name: "scroll", help: "Scroll through the page in the browser, for content that comes when it is seen" },
  { name: "load-media", help: "Load images, fonts and media in the browser, too" },
  { name: "headed", help: "Show the browser, to log in by hand on the first page" },
  {
    name: "user-interaction-timeout",
    placeholder: "SECONDS",
    help: "How long a headed browser waits for Enter (default 300 at a terminal, else 0)",
  },
  {
    name: "storage-state",
    placeholder: "PATH",
    isPath: true,
    help: "File that keeps cookies and sessions, for both fetchers",
  },
]);

/** The headings of the help, in order. */
export const FLAG_GROUPS = [
  "Input",
  "Scope",
  "Pace",
  "Output",
  "Extraction",
  "Fetching",
  "Search",
  "Serving",
  "General",
] as const;
type FlagGroup = (typeof FLAG_GROUPS)[number];

/**
 * One option, declared once: parsing, help, completions and the reference come from it. A flag without
 * a placeholder is a switch.
 */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of the value in the help; with it, the flag takes a value. */
  readonly placeholder?: string;
  /** The flag may be given several times. */
  readonly isRepeatable?: true;
  /** The allowed values; completions offer them. */
  readonly choices?: readonly string[];
  /** The value is a path on this machine; completions offer files. */
  readonly isPath?: true;
  /** The path may contain bytes that are not UTF-8. */
  readonly takesBytes?: true;
  /** What people type instead of it, each with what they mean; without the dashes, as `name`. */
  readonly insteadOf?: Readonly<Record<string, string>>;
  readonly group: FlagGroup;
  readonly help: string;
};

/** Declares flags that stand in one group of the help. */
export function inGroup(group: FlagGroup, flags: readonly Omit<Flag, "group">[]): readonly Flag[] {
  return flags.map((flag) => ({ ...flag, group }));
}
