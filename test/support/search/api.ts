import { documentsOfText } from "./read-text.ts";

export const OPENAPI = { openapi: "3.1.0", info: { title: "Harbour", version: "2" } };

/** The documents of a description, by title. */
export const apiDocuments = (description: unknown) =>
  new Map(documentsOfText(JSON.stringify(description), "api").map((document) => [document.title, document]));

/** The Markdown of a part of a description. */
export const operationOf = (description: object, title: string): string =>
  apiDocuments({ ...OPENAPI, ...description }).get(title)?.markdown ?? "";

/** The Markdown of the schema `Boat`. */
export const schemaOf = (schema: object, others: object = {}): string =>
  operationOf({ components: { schemas: { Boat: schema, ...others } } }, "Boat");

/** The names in a table of fields. */
export const fieldsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name ?? "");
