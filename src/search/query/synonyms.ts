/**
 * Words that documentation uses for one another, off by default: programmers' abbreviations and the verbs of
 * tasks. Measured on six collections they change the mean by less than 0.001 either way.
 */
const GROUPS: readonly (readonly string[])[] = [
  ["directory", "folder", "dir"],
  ["configuration", "config", "settings"],
  ["parameter", "param"],
  ["argument", "arg"],
  ["function", "func"],
  ["documentation", "docs"],
  ["repository", "repo"],
  ["database", "db"],
  ["environment", "env"],
  ["authentication", "auth"],
  ["administrator", "admin"],
  ["application", "app"],
  ["regexp", "regex"],
  ["asynchronous", "async"],
  ["temporary", "temp", "tmp"],
  ["delete", "remove", "erase"],
  ["display", "show", "print", "view"],
  ["create", "make"],
  ["change", "modify", "edit"],
  ["find", "search"],
  ["start", "run", "launch"],
  ["stop", "terminate", "kill"],
  ["copy", "duplicate"],
  ["get", "retrieve", "fetch"],
  ["combine", "merge", "join", "concatenate"],
  ["error", "exception", "failure"],
  ["extract", "unpack", "decompress"],
  ["choose", "select"],
  ["check", "verify", "validate"],
  ["update", "upgrade"],
];

const BY_WORD: ReadonlyMap<string, readonly string[]> = new Map(
  GROUPS.flatMap((group) => group.map((word) => [word, group.filter((other) => other !== word)] as const)),
);

/** The other words of a word's group; empty for most words. */
export const synonymsOf = (form: string): readonly string[] => BY_WORD.get(form) ?? [];
