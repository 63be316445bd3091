import { isRecord } from "../../../base/json.ts";
import { decodeLoosely } from "../../../base/text.ts";
import { withoutHiddenMarkup } from "../hidden-markup.ts";
import type { MarkdownWriter } from "../markdown-writer.ts";
import { codeSpan, literal, oneLine } from "../phrases.ts";

/** An object of the description. */
export type Json = Readonly<Record<string, unknown>>;

/** References to references, and schemas in schemas: what is deeper is named and not followed. */
const MAX_DEPTH = 8;
/** The most rows of one table of fields. */
const MAX_FIELDS = 300;
/** The most characters of one example. */
const MAX_EXAMPLE = 8000;

/** A part of an API's description that is a document of its own. */
export type ApiPart = {
  /** The keys that lead to it from the root. */
  readonly pointer: readonly string[];
  readonly title: string;
  /** What a list of the parts says about it. */
  readonly summary: string;
  readonly write: (writer: MarkdownWriter) => void;
};

export const textOf = (value: unknown): string =>
  typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";

/** A description's Markdown in one line, for the cell of a table. */
export const phraseOf = (value: unknown): string => oneLine(withoutHiddenMarkup(textOf(value)));

export const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * An API's description, with its references. What a reference repeats is written as long as there is something
 * left of a budget, so that a small file cannot ask for gigabytes.
 */
export class ApiDescription {
  readonly root: Json;
  #budget: number;

  /** @param budget the most characters that repeated parts may have */
  constructor(root: Json, budget: number) {
    this.root = root;
    this.#budget = budget;
  }

  /** Follows references within the file; what cannot be followed has no keys. */
  resolve(value: unknown): Json {
    let found = value;
    for (let steps = 0; steps < MAX_DEPTH; steps++) {
      const record = recordOf(found);
      const { $ref } = record;
      if (typeof $ref !== "string") return record;
      found = this.#at($ref);
    }
    return {};
  }

  #at(pointer: string): unknown {
    if (!pointer.startsWith("#/") || pointer.length > 2000) return null;
    let value: unknown = this.root;
    for (const part of pointer.slice(2).split("/")) {
      const key = keyOf(part);
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return null;
      value = (value as Json)[key]; // an object or a list, whose keys are strings too
    }
    return value;
  }

  /** Writes a schema: its type, its fields as a table, its description where it is not that of a reference. */
  writeSchema(value: unknown, writer: MarkdownWriter): void {
    const schema = this.resolve(value);
    const rows: string[][] = [];
    this.#addFields(schema, "", { rows, above: new Set(), depth: 0 });
    const type = this.typeOf(value);
    if (type !== "") writer.paragraph(`Type: ${type}`);
    if (rows.length > 0) writer.table(["Field", "Type", "Required", "Description"], rows);
  }

  /** The type of a schema as a phrase: names of references, formats, limits and the values of an enumeration. */
  typeOf(value: unknown, depth = 0): string {
    const schema = recordOf(value);
    if (typeof schema.$ref === "string") return literal(nameOf(schema.$ref));
    if (depth >= MAX_DEPTH) return "";
    const parts: string[] = [];
    const types = [schema.type].flat().filter((type) => typeof type === "string");
    if (types.length > 0) parts.push(literal(types.join(" or ")));
    if (schema.items !== undefined) {
      const items = this.typeOf(schema.items, depth + 1);
      if (items !== "") parts.push(`of ${items}`);
    }
    for (const [key, word] of COMBINED) {
      const names = listOf(schema[key])
        .slice(0, MAX_VALUES)
        .map((one) => this.typeOf(one, depth + 1));
      const named = names.filter((name) => name !== "");
      if (named.length > 0) parts.push(`${word} ${named.join(", ")}`);
    }
    if (typeof schema.format === "string") parts.push(`(${literal(schema.format)})`);
    if (Array.isArray(schema.enum))
      parts.push(
        `: ${schema.enum
          .slice(0, MAX_VALUES)
          .map((one) => codeSpan(printJson(one, 200)))
          .join(", ")}`,
      );
    for (const [key, word] of LIMITS)
      if (schema[key] !== undefined) parts.push(`, ${word} ${codeSpan(printJson(schema[key], 200))}`);
    return parts
      .join(" ")
      .replace(/ (?=[,:])/g, "")
      .replace(/^[,:] /, "");
  }

  #addFields(schema: Json, path: string, place: FieldPlace): void {
    const { rows, above, depth } = place;
    if (above.has(schema) || depth > MAX_DEPTH) return;
    const inner = { ...place, above: new Set([...above, schema]), depth: depth + 1 };
    for (const part of listOf(schema.allOf)) this.#addFields(this.resolve(part), path, inner);
    for (const key of ["oneOf", "anyOf"])
      for (const part of listOf(schema[key]))
        if (recordOf(part).$ref === undefined) this.#addFields(recordOf(part), path, inner);
    if (isRecord(schema.items) && schema.items.$ref === undefined)
      this.#addFields(schema.items, `${path}[]`, inner);
    const required = new Set(listOf(schema.required));
    for (const [name, field] of Object.entries(recordOf(schema.properties))) {
      if (rows.length >= MAX_FIELDS || this.#budget <= 0) return;
      const own = recordOf(field);
      const target = this.resolve(field);
      const fullName = path === "" ? name : `${path}.${name}`.replace(/^\./, "");
      const description = phraseOf(own.description ?? target.description);
      const row = [codeSpan(fullName), this.typeOf(field), required.has(name) ? "yes" : "", description];
      this.#budget -= row.join().length;
      rows.push(row);
      // Schemas with a name have documents of their own.
      if (own.$ref === undefined) this.#addFields(own, fullName, inner);
    }
  }
}

type FieldPlace = {
  readonly rows: string[][];
  /** The schemas around this one: one that contains itself is not written again. */
  readonly above: ReadonlySet<Json>;
  readonly depth: number;
};

const MAX_VALUES = 100;

const COMBINED = [
  ["allOf", "all of"],
  ["oneOf", "one of"],
  ["anyOf", "any of"],
] as const;

const LIMITS = [
  ["const", "always"],
  ["default", "default"],
  ["minimum", "from"],
  ["maximum", "to"],
  ["minLength", "from length"],
  ["maxLength", "to length"],
  ["pattern", "pattern"],
] as const;

const nameOf = (pointer: string): string => keyOf(pointer.slice(pointer.lastIndexOf("/") + 1));

/** The key that a part of a JSON pointer in a fragment means (RFC 6901, sections 4 and 6). */
const keyOf = (part: string): string => decodeLoosely(part).replaceAll("~1", "/").replaceAll("~0", "~");

/** A value as JSON of at most so many characters; YAML's aliases make a small text mean an endless value. */
export function printJson(value: unknown, limit = MAX_EXAMPLE): string {
  let text = "";
  const print = (one: unknown, indent: string): void => {
    if (text.length > limit) return;
    if (indent.length > 40) text += "…";
    else if (Array.isArray(one)) printAll(one, indent, ["[", "]"]);
    else if (isRecord(one)) printAll(Object.entries(one), indent, ["{", "}"]);
    else if (typeof one === "string") text += JSON.stringify(one.slice(0, limit));
    else text += String(one ?? "null");
  };
  const printAll = (
    entries: readonly unknown[],
    indent: string,
    [open, close]: readonly [string, string],
  ): void => {
    const inside = `${indent}  `;
    text += open;
    for (const [index, entry] of entries.entries()) {
      if (text.length > limit) return;
      text += `${index === 0 ? "" : ","}\n${inside}`;
      if (open === "{") {
        const [key, inner] = entry as readonly [string, unknown]; // one of Object.entries
        text += `${JSON.stringify(key)}: `;
        print(inner, inside);
      } else print(entry, inside);
    }
    text += entries.length === 0 ? close : `\n${indent}${close}`;
  };
  if (typeof value === "string" && limit < MAX_EXAMPLE) return value.slice(0, limit);
  print(value, "");
  return text.length > limit ? `${text.slice(0, limit).toWellFormed()} …` : text;
}

/** Writes `example`, `examples` (a list, or examples by name) and Swagger's examples by media type. */
export function writeExamples(holder: Json, writer: MarkdownWriter): void {
  const named = recordOf(holder.examples);
  const all = [
    ...(holder.example === undefined ? [] : [holder.example]),
    ...listOf(holder.examples),
    ...Object.values(named).map((one) => (isRecord(one) && "value" in one ? one.value : one)),
  ];
  for (const example of all.slice(0, MAX_EXAMPLES)) {
    writer.paragraph("Example:");
    if (typeof example === "string") writer.code(example.slice(0, MAX_EXAMPLE));
    else writer.code(printJson(example), "json");
  }
}

const MAX_EXAMPLES = 20;
