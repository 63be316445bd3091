import { Failure } from "../../../base/failure.ts";
import { isRecord, parseJson } from "../../../base/json.ts";
import { type DocumentUrl, parseDocumentUrl } from "../../../urls/index.ts";
import type { SourceDocument } from "../../types.ts";
import { MarkdownWriter } from "../markdown-writer.ts";
import { codeSpan, literal, strong } from "../phrases.ts";
import { asyncParts, operationParts } from "./operations.ts";
import {
  ApiDescription,
  type ApiPart,
  type Json,
  listOf,
  phraseOf,
  recordOf,
  textOf,
  writeExamples,
} from "./schema.ts";

/** More parts than any API that people read. */
const MAX_PARTS = 20_000;
/** What references repeat may be this many times as long as the file, but never less than that. */
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
    summary: textOf(schema.title),
    write: (writer) => {
      writer.paragraph(literal(textOf(schema.title)));
      writer.markdown(textOf(schema.description));
      api.writeSchema(schema, writer);
      writeExamples(schema, writer);
    },
  };
}

function overview(root: Json, parts: readonly ApiPart[]): Pick<SourceDocument, "title" | "markdown"> {
  const info = recordOf(root.info);
  const title = textOf(info.title) || "API";
  const writer = new MarkdownWriter();
  writer.heading(1, literal(`${title} ${textOf(info.version)}`));
  writer.paragraph(literal(textOf(info.summary)));
  writer.markdown(textOf(info.description));
  writeServers(root, writer);
  const tags = listOf(root.tags)
    .map(recordOf)
    .filter((tag) => textOf(tag.description) !== "");
  if (tags.length > 0) writer.heading(2, "Tags");
  for (const tag of tags) {
    writer.paragraph(strong(literal(textOf(tag.name))));
    writer.markdown(textOf(tag.description));
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
      codeSpan(textOf(server.url) || `${textOf(server.host)}${textOf(server.pathname)}`),
      phraseOf(server.description),
    ]);
  if (typeof root.host === "string") rows.push([codeSpan(`${root.host}${textOf(root.basePath)}`), ""]);
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
      .map((key) => textOf(scheme[key]))
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
