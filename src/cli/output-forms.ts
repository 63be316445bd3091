/** A form of results on the command line; `writers` in commands/pages/output.ts has the function that writes it. */
type OutputForm = {
  /** A shorter word for it. */
  readonly alias?: string;
  /** Endings of files that get this form, the usual ending first. */
  readonly endings: readonly string[];
  /** Options that only go with forms that list them. */
  readonly options: readonly (
    | "chunk-overlap"
    | "chunk-tokens"
    | "compact"
    | "fields"
    | "frontmatter"
    | "query"
    | "resume"
    | "save-images"
  )[];
  /** The content to extract: that of the chosen fields, Markdown, HTML (`content`), only the text, or what crawls store. */
  readonly content: "fields" | "markdown" | "content" | "text" | "stored";
  /** Separates pages in one output. */
  readonly separator: string;
};

// A rule separates pages that nothing else tells apart.
const RULE = "\n---\n\n";

/** All forms by name; the first is the default. */
export const OUTPUT_FORMS = {
  json: {
    endings: [".json", ".jsonl"],
    options: ["fields", "compact", "query", "resume"],
    content: "fields",
    separator: "",
  },
  markdown: {
    alias: "md",
    endings: [".md", ".markdown"],
    options: ["frontmatter", "query", "save-images"],
    content: "markdown",
    separator: RULE,
  },
  text: { alias: "txt", endings: [".txt", ".text"], options: ["query"], content: "text", separator: RULE },
  html: { endings: [".html", ".htm"], options: [], content: "content", separator: "" },
  csv: { endings: [".csv"], options: ["fields", "query"], content: "fields", separator: "" },
  chunks: { endings: [], options: ["chunk-tokens", "chunk-overlap"], content: "stored", separator: "" },
} as const satisfies Readonly<Record<string, OutputForm>>;

export type OutputFormName = keyof typeof OUTPUT_FORMS;

export const FORM_NAMES = Object.keys(OUTPUT_FORMS) as OutputFormName[];

const byForm = (wordsOf: (form: OutputForm, name: string) => readonly string[]) =>
  Object.fromEntries(
    FORM_NAMES.flatMap((name) => wordsOf(OUTPUT_FORMS[name], name).map((word) => [word, name])),
  );

/** The forms by the words that people type for them. */
export const FORM_BY_WORD: Readonly<Record<string, OutputFormName>> = {
  ...byForm((_, name) => [name]),
  ...byForm(({ alias }) => (alias === undefined ? [] : [alias])),
};

export const FORM_BY_ENDING: Readonly<Record<string, OutputFormName>> = byForm(({ endings }) => endings);
