import { isRecord } from "../../../base/json.ts";
import type { MarkdownWriter } from "../markdown-writer.ts";
import { codeSpan, literal } from "../phrases.ts";
import {
  type ApiDescription,
  type ApiPart,
  type Json,
  listOf,
  phraseOf,
  recordOf,
  textOf,
  writeExamples,
} from "./schema.ts";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"] as const;

/** The operations of OpenAPI and Swagger, and the webhooks, in the order of the file. */
export function* operationParts(api: ApiDescription): Generator<ApiPart> {
  for (const group of ["paths", "webhooks"]) {
    for (const [path, value] of Object.entries(recordOf(api.root[group]))) {
      const item = api.resolve(value);
      for (const method of METHODS) {
        if (!isRecord(item[method])) continue;
        const operation = api.resolve(item[method]);
        yield {
          pointer: [group, path, method],
          title: titleOf(`${method.toUpperCase()} ${path}`, operation),
          summary: textOf(operation.summary),
          write: (writer) => writeOperation(api, { item, operation }, writer),
        };
      }
    }
  }
}

/** What an operation does, with its id: both are searched for. */
export function titleOf(name: string, operation: Json): string {
  const id = textOf(operation.operationId);
  return id === "" ? name : `${name} (${id})`;
}

type OperationPlace = { readonly item: Json; readonly operation: Json };

function writeOperation(
  api: ApiDescription,
  { item, operation }: OperationPlace,
  writer: MarkdownWriter,
): void {
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

export function writeIntroduction(operation: Json, writer: MarkdownWriter): void {
  writer.paragraph(literal(textOf(operation.summary)));
  if (operation.deprecated === true) writer.note("WARNING", "", () => writer.paragraph("Deprecated."));
  writer.markdown(textOf(operation.description));
  const tags = listOf(operation.tags).map((tag) => textOf(isRecord(tag) ? tag.name : tag));
  if (tags.some((tag) => tag !== "")) writer.paragraph(`Tags: ${literal(tags.join(", "))}`);
}

function writeParameters(api: ApiDescription, parameters: readonly Json[], writer: MarkdownWriter): void {
  if (parameters.length === 0) return;
  writer.heading(2, "Parameters");
  const rows = parameters.map((parameter) => [
    codeSpan(textOf(parameter.name)),
    literal(textOf(parameter.in)),
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
  writer.markdown(textOf(holder.description));
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
