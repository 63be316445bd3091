import { Failure } from "../../base/failure.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { decodeLoosely } from "../../base/text.ts";
import { type DocumentUrl, parseDocumentUrl } from "../../urls/index.ts";
import type { SourceDocument } from "../types.ts";
import { withoutHiddenMarkup } from "./hidden-markup.ts";
import { codeSpan, literal, MarkdownWriter, oneLine, strong } from "./markdown-writer.ts";

/** More parts than any API that people read. */
const MAX_PARTS = 20_000;
/** Text repeated by references may be this many times as long as the file; a minimum is always allowed. */
const REPEATED_SHARE = 4;
const LEAST_REPEATED = 1_000_000;

/**
 * Reads a description in OpenAPI, Swagger or AsyncAPI: a document about the API, and one for each operation and
 * schema. Only references within the file are followed.
 * @throws Failure `unreadable_input` for broken JSON or YAML, and for a text that describes no API
 */
export function* readApi(text: string, url: DocumentUrl): Generator<SourceDocument> {
  const root = parseDescription(text);
  const api = new ApiDescription(root, Math.max(LEAST_REPEATED, REPEATED_SHARE * text.length));
  const parts: ApiPart[] = [];
  for (const part of partsOf(api)) {
    if (parts.length >= MAX_PARTS) break;
    parts.push(part);
  }
  yield { url, ...overview(root, parts), declared: REFERENCE };
  for (const { pointer, title, write } of parts) {
    const address = partAddress(url, pointer);
    if (address === null) continue;
    const writer = new MarkdownWriter();
    writer.heading(1, literal(title));
    write(writer);
    yield { url: address, title, markdown: writer.toString(), declared: REFERENCE };
  }
}

const REFERENCE = { isReference: true };

function parseDescription(text: string): Json {
  const value = /^\s*\{/.test(text) ? (parseJson(text) ?? parseYaml(text)) : parseYaml(text);
  // A file of several YAML documents is a list.
  const root = [value].flat().find((one) => isRecord(one) && VERSIONS.some((key) => key in one));
  if (isRecord(root)) return root;
  throw new Failure("unreadable_input", "it names an API's version, but its JSON or YAML cannot be read");
}

const VERSIONS = ["openapi", "swagger", "asyncapi"] as const;

// The runtime's reader takes a tenth of the time of the one for front matter, and is safe with aliases: they share
// their value, and whatever is written of a value is limited.
function parseYaml(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch {
    return null;
  }
}

function* partsOf(api: ApiDescription): Generator<ApiPart> {
  const { root } = api;
  yield* "asyncapi" in root ? asyncParts(api) : operationParts(api);
  const schemas = [["components", "schemas"], ["definitions"]];
  for (const path of schemas) {
    const all = path.reduce((value, key) => recordOf(value[key]), root);
    for (const [name, value] of Object.entries(all)) yield schemaPart(api, [...path, name], value);
  }
}

function schemaPart(api: ApiDescription, pointer: readonly string[], value: unknown): ApiPart {
  const schema = recordOf(value);
  return {
    pointer,
    title: pointer.at(-1) ?? "",
    summary: scalarText(schema.title),
    write: (writer) => {
      writer.paragraph(literal(scalarText(schema.title)));
      writer.markdown(scalarText(schema.description));
      api.writeSchema(schema, writer);
      writeExamples(schema, writer);
    },
  };
}

function overview(root: Json, parts: readonly ApiPart[]): Pick<SourceDocument, "title" | "markdown"> {
  const info = recordOf(root.info);
  const title = scalarText(info.title) || "API";
  const writer = new MarkdownWriter();
  writer.heading(1, literal(`${title} ${scalarText(info.version)}`));
  writer.paragraph(literal(scalarText(info.summary)));
  writer.markdown(scalarText(info.description));
  writeServers(root, writer);
  const tags = listOf(root.tags)
    .map(recordOf)
    .filter((tag) => scalarText(tag.description) !== "");
  if (tags.length > 0) writer.heading(2, "Tags");
  for (const tag of tags) {
    writer.paragraph(strong(literal(scalarText(tag.name))));
    writer.markdown(scalarText(tag.description));
  }
  writeSecurity(root, writer);
  const operations = parts.map(({ title: name, summary }) => [codeSpan(name), literal(summary)]);
  if (operations.length > 0) {
    writer.heading(2, "Operations and schemas");
    writer.table(["Name", "Summary"], operations.slice(0, MAX_LISTED));
  }
  return { title, markdown: writer.toString() };
}

const MAX_LISTED = 2000;

function writeServers(root: Json, writer: MarkdownWriter): void {
  const servers = Array.isArray(root.servers) ? root.servers : Object.values(recordOf(root.servers));
  const rows = servers
    .map(recordOf)
    .map((server) => [
      codeSpan(scalarText(server.url) || `${scalarText(server.host)}${scalarText(server.pathname)}`),
      phraseOf(server.description),
    ]);
  if (typeof root.host === "string") rows.push([codeSpan(`${root.host}${scalarText(root.basePath)}`), ""]);
  if (rows.length === 0) return;
  writer.heading(2, "Servers");
  writer.table(["Address", "Description"], rows);
}

function writeSecurity(root: Json, writer: MarkdownWriter): void {
  const schemes = {
    ...recordOf(recordOf(root.components).securitySchemes),
    ...recordOf(root.securityDefinitions),
  };
  const rows = Object.entries(schemes).map(([name, value]) => {
    const scheme = recordOf(value);
    const kind = ["type", "scheme", "in", "name"]
      .map((key) => scalarText(scheme[key]))
      .filter((word) => word !== "");
    return [codeSpan(name), literal(kind.join(" ")), phraseOf(scheme.description)];
  });
  if (rows.length === 0) return;
  writer.heading(2, "Security");
  writer.table(["Name", "Type", "Description"], rows);
}

/**
 * The address of a part: its JSON pointer as a path below that of the file, or as a query where the file has an
 * address on the web, which then still opens the file.
 */
function partAddress(url: DocumentUrl, pointer: readonly string[]): DocumentUrl | null {
  const parts = pointer.map((key) =>
    key.replaceAll("~", "~0").replace(/[/\\]/g, "~1").replace(/^\.*$/, "~$&"),
  );
  if (parts.join("").length > MAX_POINTER) return null;
  const address = url.startsWith("docs:")
    ? `${url}/${parts.map((part) => encodeURIComponent(part.toWellFormed())).join("/")}`
    : `${url}?pointer=${encodeURIComponent(`/${parts.join("/")}`.toWellFormed())}`;
  return parseDocumentUrl(address);
}

const MAX_POINTER = 1000;

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"] as const;

/** The operations of OpenAPI and Swagger, and the webhooks, in the order of the file. */
function* operationParts(api: ApiDescription): Generator<ApiPart> {
  for (const group of ["paths", "webhooks"]) {
    for (const [path, value] of Object.entries(recordOf(api.root[group]))) {
      const item = api.resolve(value);
      for (const method of METHODS) {
        if (!isRecord(item[method])) continue;
        const operation = api.resolve(item[method]);
        yield {
          pointer: [group, path, method],
          title: titleOf(`${method.toUpperCase()} ${path}`, operation),
          summary: scalarText(operation.summary),
          write: (writer) => writeOperation(api, item, operation, writer),
        };
      }
    }
  }
}

/** Returns an operation's purpose with its id, since people search for both. */
function titleOf(name: string, operation: Json): string {
  const id = scalarText(operation.operationId);
  return id === "" ? name : `${name} (${id})`;
}

function writeOperation(api: ApiDescription, item: Json, operation: Json, writer: MarkdownWriter): void {
  writeIntroduction(operation, writer);
  const parameters = [...listOf(item.parameters), ...listOf(operation.parameters)].map((one) =>
    api.resolve(one),
  );
  const isBody = (parameter: Json): boolean => parameter.in === "body";
  writeParameters(
    api,
    parameters.filter((parameter) => !isBody(parameter)),
    writer,
  );
  const body = api.resolve(operation.requestBody);
  const bodies = [...(operation.requestBody === undefined ? [] : [body]), ...parameters.filter(isBody)];
  for (const one of bodies) {
    writer.heading(2, one.required === true ? "Request body (required)" : "Request body");
    writeContent(api, one, writer);
  }
  const responses = Object.entries(recordOf(operation.responses));
  if (responses.length > 0) writer.heading(2, "Responses");
  for (const [status, value] of responses) {
    writer.heading(3, literal(status));
    writeContent(api, api.resolve(value), writer);
  }
}

function writeIntroduction(operation: Json, writer: MarkdownWriter): void {
  writer.paragraph(literal(scalarText(operation.summary)));
  if (operation.deprecated === true) writer.note("WARNING", "", () => writer.paragraph("Deprecated."));
  writer.markdown(scalarText(operation.description));
  const tags = listOf(operation.tags).map((tag) => scalarText(isRecord(tag) ? tag.name : tag));
  if (tags.some((tag) => tag !== "")) writer.paragraph(`Tags: ${literal(tags.join(", "))}`);
}

function writeParameters(api: ApiDescription, parameters: readonly Json[], writer: MarkdownWriter): void {
  if (parameters.length === 0) return;
  writer.heading(2, "Parameters");
  const rows = parameters.map((parameter) => [
    codeSpan(scalarText(parameter.name)),
    literal(scalarText(parameter.in)),
    // Swagger has the type in the parameter itself.
    api.typeOf(parameter.schema ?? contentSchema(parameter) ?? { ...parameter, description: "" }),
    parameter.required === true ? "yes" : "",
    phraseOf(parameter.description),
  ]);
  writer.table(["Name", "In", "Type", "Required", "Description"], rows);
}

const contentSchema = ({ content }: Json): unknown => recordOf(Object.values(recordOf(content))[0]).schema;

/** Writes a body or a response: description, headers, and the schema and examples of each media type. */
function writeContent(api: ApiDescription, holder: Json, writer: MarkdownWriter): void {
  writer.markdown(scalarText(holder.description));
  const headers = Object.entries(recordOf(holder.headers)).map(([name, value]) => {
    const header = api.resolve(value);
    return [codeSpan(name), api.typeOf(header.schema ?? { type: header.type }), phraseOf(header.description)];
  });
  if (headers.length > 0) writer.table(["Header", "Type", "Description"], headers);
  for (const [type, value] of Object.entries(recordOf(holder.content))) {
    writer.paragraph(codeSpan(type));
    const media = api.resolve(value);
    if (media.schema !== undefined) api.writeSchema(media.schema, writer);
    writeExamples(resolvedExamples(api, media), writer);
  }
  // Swagger has one schema for all media types.
  if (holder.schema !== undefined) api.writeSchema(holder.schema, writer);
  writeExamples(resolvedExamples(api, holder), writer);
}

const resolvedExamples = (api: ApiDescription, holder: Json): Json =>
  isRecord(holder.examples)
    ? {
        ...holder,
        examples: Object.fromEntries(
          Object.entries(holder.examples).map(([name, one]) => [
            name,
            isRecord(one) && "$ref" in one ? api.resolve(one) : one,
          ]),
        ),
      }
    : holder;

/** The operations of AsyncAPI 2 (in the channels) and 3 (beside them), and the messages with a name. */
function* asyncParts(api: ApiDescription): Generator<ApiPart> {
  for (const [name, value] of Object.entries(recordOf(api.root.channels))) {
    const channel = api.resolve(value);
    for (const action of ["publish", "subscribe"]) {
      if (channel[action] === undefined) continue;
      const operation = api.resolve(channel[action]);
      const message = api.resolve(operation.message);
      const messages = Array.isArray(message.oneOf) ? message.oneOf : [operation.message];
      const pointer = ["channels", name, action];
      const title = `${action.toUpperCase()} ${name}`;
      yield operationPart(api, { pointer, name: title, operation, channel, messages });
    }
  }
  for (const [id, value] of Object.entries(recordOf(api.root.operations))) {
    const operation = api.resolve(value);
    const channel = api.resolve(operation.channel);
    const messages = Array.isArray(operation.messages)
      ? operation.messages
      : Object.values(recordOf(channel.messages));
    const name = `${scalarText(operation.action).toUpperCase()} ${scalarText(channel.address)}`.trim();
    const named = { ...operation, operationId: id };
    yield operationPart(api, { pointer: ["operations", id], name, operation: named, channel, messages });
  }
  for (const [name, value] of Object.entries(recordOf(recordOf(api.root.components).messages))) {
    const message = api.resolve(value);
    yield {
      pointer: ["components", "messages", name],
      title: name,
      summary: scalarText(message.summary) || scalarText(message.title),
      write: (writer) => writeMessage(api, message, writer),
    };
  }
}

type AsyncOperation = {
  readonly pointer: readonly string[];
  readonly name: string;
  readonly operation: Json;
  readonly channel: Json;
  readonly messages: readonly unknown[];
};

function operationPart(
  api: ApiDescription,
  { pointer, name, operation, channel, messages }: AsyncOperation,
): ApiPart {
  return {
    pointer,
    title: titleOf(name, operation),
    summary: scalarText(operation.summary),
    write: (writer) => {
      writeIntroduction(operation, writer);
      writer.markdown(scalarText(channel.description));
      const parameters = Object.entries(recordOf(channel.parameters)).map(([parameter, value]) => {
        const { schema, description, ...own } = api.resolve(value);
        return [codeSpan(parameter), api.typeOf(schema ?? own), phraseOf(description)];
      });
      if (parameters.length > 0) {
        writer.heading(2, "Parameters");
        writer.table(["Name", "Type", "Description"], parameters);
      }
      for (const value of messages) {
        const message = api.resolve(value);
        writer.heading(2, `Message ${literal(scalarText(message.name))}`);
        writeMessage(api, message, writer);
      }
    },
  };
}

function writeMessage(api: ApiDescription, message: Json, writer: MarkdownWriter): void {
  writer.paragraph(literal(scalarText(message.title)));
  writer.paragraph(literal(scalarText(message.summary)));
  writer.markdown(scalarText(message.description));
  for (const key of ["headers", "payload"]) {
    if (message[key] === undefined) continue;
    writer.heading(3, key === "headers" ? "Headers" : "Payload");
    const { schema } = recordOf(message[key]);
    api.writeSchema(schema ?? message[key], writer);
  }
  const examples = listOf(message.examples).map((one) => recordOf(one).payload ?? one);
  writeExamples({ examples }, writer);
}

/** An object of the description. */
type Json = Readonly<Record<string, unknown>>;

/** References to references, and schemas in schemas: what is deeper is named and not followed. */
const MAX_DEPTH = 8;
/** The most rows of one table of fields. */
const MAX_FIELDS = 300;
/** The most characters of one example. */
const MAX_EXAMPLE = 8000;

/** A part of an API's description that is a document of its own. */
type ApiPart = {
  /** The keys that lead to it from the root. */
  readonly pointer: readonly string[];
  readonly title: string;
  /** Its description in a list of the parts. */
  readonly summary: string;
  readonly write: (writer: MarkdownWriter) => void;
};

const scalarText = (value: unknown): string =>
  typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";

/** A description's Markdown in one line, for the cell of a table. */
const phraseOf = (value: unknown): string => oneLine(withoutHiddenMarkup(scalarText(value)));

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * An API's description, with its references. A reference is written out while a budget lasts, so that a small file
 * cannot ask for gigabytes.
 */
class ApiDescription {
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
    const alternatives = [...listOf(schema.oneOf), ...listOf(schema.anyOf)].map(recordOf);
    const parts = [
      ...listOf(schema.allOf).map((part) => this.resolve(part)),
      ...alternatives.filter(({ $ref }) => $ref === undefined),
    ];
    for (const part of parts) this.#addFields(part, path, inner);
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

/** Prints a value as JSON of at most `limit` characters; YAML's aliases can make a small text mean an endless value. */
function printJson(value: unknown, limit = MAX_EXAMPLE): string {
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
function writeExamples(holder: Json, writer: MarkdownWriter): void {
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
