import type { MarkdownWriter } from "../markdown-writer.ts";
import { codeSpan, literal } from "../phrases.ts";
import { titleOf, writeIntroduction } from "./operations.ts";
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
