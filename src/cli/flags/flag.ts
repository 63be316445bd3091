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

/** One option, which parsing, help, completions and the reference read. Without a placeholder it is a switch. */
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
  readonly group: FlagGroup;
  readonly help: string;
};

/**
 * Flags by how they are typed, in the form of the help: `-o, --output-file FILE ...`, where the three dots mean that the
 * flag may be given several times. Most need nothing but their help.
 */
export type FlagTable = Readonly<
  Record<string, string | Pick<Flag, "choices" | "isPath" | "takesBytes" | "help">>
>;

const SPELLING = /^(?:-(\w), )?--([\w-]+)(?: (.+?))??( \.\.\.)?$/;
/** The words that stand for paths in placeholders. */
const PATH = /^(?:PATH|FILE|DIR|URL\|PATH)$/;

/** Flags by the group of the help in which they stand. */
type FlagGroups = { readonly [Group in FlagGroup]?: FlagTable };

/** Declares flags that only some commands take. */
export const ownFlags = (groups: FlagGroups): readonly Flag[] =>
  Object.entries(groups).flatMap(([group, table]) =>
    Object.entries(table).map(([spelling, about]) => {
      const [, short, name = "", placeholder = "", dots] = SPELLING.exec(spelling) ?? [];
      return {
        name,
        ...(short !== undefined && { short }),
        ...(placeholder !== "" && { placeholder }),
        ...(dots !== undefined && { isRepeatable: true as const }),
        ...(PATH.test(placeholder) && { isPath: true as const }),
        ...(typeof about === "string" ? { help: about } : about),
        group: group as FlagGroup, // a key of `FlagGroups`
      };
    }),
  );

/** The flags that every command takes. */
export const GENERAL_FLAGS: readonly Flag[] = ownFlags({
  General: {
    "--env-file PATH": "Read settings from this file instead of the .env beside the program",
    "--log-level LEVEL": {
      choices: ["debug", "info", "warning", "error", "critical"],
      help: "Least severe level logged to stderr (default critical; servers: info)",
    },
    "--log-format FORMAT": { choices: ["json", "text"], help: "Form of a log line (default json)" },
    "-q, --quiet": "No notices on stderr, only errors",
    "-v, --verbose": "Log what is done (level info; servers, which do: debug)",
    "--no-color": "No colours on stderr; NO_COLOR does the same",
    "-V, --version": "Print the version",
    "-h, --help": "Print this help",
  },
});

/** Declares the flags of a command; every command takes the general ones, too. */
export const flagsOf = (groups: FlagGroups): readonly Flag[] => [...ownFlags(groups), ...GENERAL_FLAGS];
