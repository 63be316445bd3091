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

/**
 * Flags by how they are typed, in the form of the help: `-o, --output-file FILE ...`, where the three dots mean that the
 * flag may be given several times. Most need nothing but their help.
 */
export type FlagTable = Readonly<
  Record<string, string | Pick<Flag, "choices" | "isPath" | "takesBytes" | "insteadOf" | "help">>
>;

const SPELLING = /^(?:-(\w), )?--([\w-]+)(?: (.+?))??( \.\.\.)?$/;
/** The words that stand for paths in placeholders. */
const PATH = /^(?:PATH|FILE|DIR|URL\|PATH)$/;

/** Declares flags that stand in one group of the help. */
export const flagsOf = (group: FlagGroup, table: FlagTable): readonly Flag[] =>
  Object.entries(table).map(([spelling, about]) => {
    const [, short, name = "", placeholder = "", dots] = SPELLING.exec(spelling) ?? [];
    return {
      name,
      ...(short !== undefined && { short }),
      ...(placeholder !== "" && { placeholder }),
      ...(dots !== undefined && { isRepeatable: true }),
      ...(PATH.test(placeholder) && { isPath: true }),
      ...(typeof about === "string" ? { help: about } : about),
      group,
    };
  });
