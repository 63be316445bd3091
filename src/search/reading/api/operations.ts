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
function titleOf(name: string, operation: Json): string {
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

function writeIntroduction(operation: Json, writer: MarkdownWriter): void {
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

/** The operations of AsyncAPI 2 (in the channels) and 3 (beside them), and the messages with a name. */
export function* asyncParts(api: ApiDescription): Generator<ApiPart> {
  for (const [name, value] of Object.entries(recordOf(api.root.channels))) {
    const channel = api.resolve(value);
    for (const action of ["publish", "subscribe"]) {
      if (channel[action] === undefined) continue;
      const operation = api.resolve(channel[action]);
      const message = api.resolve(operation.message);
      const messages = Array.isArray(message.oneOf) ? message.oneOf : [operation.message];
      const pointer = ["channels", name, action];
      yield operationPart(api, {
        pointer,
        name: `${action.toUpperCase()} ${name}`,
        operation,
        channel,
        messages,
      });
    }
  }
  for (const [id, value] of Object.entries(recordOf(api.root.operations))) {
    const operation = api.resolve(value);
    const channel = api.resolve(operation.channel);
    const messages = Array.isArray(operation.messages)
      ? operation.messages
      : Object.values(recordOf(channel.messages));
    const name = `${textOf(operation.action).toUpperCase()} ${textOf(channel.address)}`.trim();
    const named = { ...operation, operationId: id };
    yield operationPart(api, { pointer: ["operations", id], name, operation: named, channel, messages });
  }
  for (const [name, value] of Object.entries(recordOf(recordOf(api.root.components).messages))) {
    const message = api.resolve(value);
    yield {
      pointer: ["components", "messages", name],
      title: name,
      summary: textOf(message.summary) || textOf(message.title),
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
    summary: textOf(operation.summary),
    write: (writer) => {
      writeIntroduction(operation, writer);
      writer.markdown(textOf(channel.description));
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
        writer.heading(2, `Message ${literal(textOf(message.name))}`);
        writeMessage(api, message, writer);
      }
    },
  };
}

function writeMessage(api: ApiDescription, message: Json, writer: MarkdownWriter): void {
  writer.paragraph(literal(textOf(message.title)));
  writer.paragraph(literal(textOf(message.summary)));
  writer.markdown(textOf(message.description));
  for (const key of ["headers", "payload"]) {
    if (message[key] === undefined) continue;
    writer.heading(3, key === "headers" ? "Headers" : "Payload");
    const { schema } = recordOf(message[key]);
    api.writeSchema(schema ?? message[key], writer);
  }
  const examples = listOf(message.examples).map((one) => recordOf(one).payload ?? one);
  writeExamples({ examples }, writer);
}
