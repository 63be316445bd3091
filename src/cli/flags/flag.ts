/** Headings of the help, in its order. */
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
export type FlagGroup = (typeof FLAG_GROUPS)[number];

/**
 * One option, declared once: parsing, help, completions and the reference come from it. A flag without
 * a placeholder is a switch.
 */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  /** Stands for the value in the help, and says that there is one. */
  readonly placeholder?: string;
  /** May be given several times. */
  readonly isRepeatable?: true;
  /** The only values there are; completions offer them. */
  readonly choices?: readonly string[];
  /** The value is a path on this machine; completions offer files. */
  readonly isPath?: true;
  /** The path may hold bytes that are no UTF-8. */
  readonly takesBytes?: true;
  /** What people type in its place, each with what they mean; without the dashes, as `name`. */
  readonly insteadOf?: Readonly<Record<string, string>>;
  readonly group: FlagGroup;
  readonly help: string;
};
