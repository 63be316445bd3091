import {
  CRAWL,
  EXTRACTION,
  FETCHING,
  flagName,
  type Option,
  type OptionTable,
  unmarked,
} from "../../options/index.ts";

/** One field of a form, for an option or for what only a page asks for. */
export type FormField = {
  /** The name of the field in the request. */
  readonly name: string;
  readonly id: string;
  readonly label: string;
  /** The kind of the field; a list of addresses has one a line. */
  readonly kind: "list" | "text" | "number" | "choice" | "switch";
  readonly note?: string;
  readonly placeholder?: string;
  /** The values of a choice with their names. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  /** The entries may lack their scheme, as in the form for one page. */
  readonly areAddresses?: boolean;
  readonly isProminent?: boolean;
  /** Whether a switch is on where nobody has touched it. */
  readonly isOn?: boolean;
};

const ORDER: readonly FormField["kind"][] = ["choice", "number", "text", "list", "switch"];

/**
 * The fields of a form, of the options that have a label. It runs while the program is built (as a macro of the bundler),
 * so that the page does not load the tables.
 */
export function formFields(form: "extract" | "crawl"): readonly FormField[] {
  // Without what is undefined, the page is shorter.
  return JSON.parse(JSON.stringify(form === "crawl" ? fieldsOf(CRAWL) : extractFields()));
}

const fieldsOf = (table: OptionTable): FormField[] => Object.values(table).flatMap(fieldOf);

function extractFields(): FormField[] {
  const fields = fieldsOf(EXTRACTION);
  return [...fieldsOf(FETCHING), ...ORDER.flatMap((kind) => fields.filter((field) => field.kind === kind))];
}

function fieldOf(option: Option): FormField[] {
  const { kind, label, field = "", placeholder, choices, isProminent, byDefault } = option;
  if (label === undefined) return [];
  const { name } = unmarked(field);
  return [
    {
      name,
      id: (flagName(option) ?? name).replace(/^no-/, "").replaceAll("_", "-"),
      label,
      kind: choices ? "choice" : CONTROLS[kind.type],
      placeholder,
      choices: choices && Object.entries(choices),
      areAddresses: kind.type === "texts" && kind.areAddresses,
      isProminent,
      isOn: byDefault === true || undefined,
    } as FormField,
  ];
}

const CONTROLS: Readonly<Record<Option["kind"]["type"], FormField["kind"]>> = {
  switch: "switch",
  whole: "number",
  decimal: "number",
  seconds: "number",
  bytes: "number",
  choice: "choice",
  text: "text",
  header_text: "text",
  texts: "list",
  headers: "list",
};
