import { describe, expect, test } from "bun:test";
import { assert, integer, property, record, string, uniqueArray } from "fast-check";
import { readDocuments } from "../../../../src/search/reading/read-document.ts";
import { parseDocumentUrl } from "../../../../src/urls/index.ts";
import { apiDocuments, fieldsOf, OPENAPI, operationOf, schemaOf } from "../../../support/search/api.ts";
import { documentsOfText } from "../../../support/search/read-text.ts";

describe("a description in OpenAPI", () => {
  test("is a document about the API, and one for each operation and schema", () => {
    const yaml = `
openapi: 3.1.0
info: {title: Harbour, version: "2", summary: Berths., description: "Has **berths**."}
servers: [{url: "https://h.test/v1", description: Live}]
paths:
  /berths/{id}:
    get: {operationId: getBerth, summary: Gets one.}
    delete: {}
components:
  schemas: {Berth: {type: object, title: A berth}}
`;
    const documents = documentsOfText(yaml, "api");
    expect(documents.map(({ url, title }) => [String(url), title])).toEqual([
      ["docs://docs/a%20file", "Harbour"],
      ["docs://docs/a%20file/paths/~1berths~1%7Bid%7D/get", "GET /berths/{id} (getBerth)"],
      ["docs://docs/a%20file/paths/~1berths~1%7Bid%7D/delete", "DELETE /berths/{id}"],
      ["docs://docs/a%20file/components/schemas/Berth", "Berth"],
    ]);
    expect(documents[0]?.markdown).toBe(
      [
        "# Harbour 2\n\nBerths.\n\nHas **berths**.\n\n## Servers\n",
        "| Address | Description |\n| --- | --- |\n| `https://h.test/v1` | Live |\n",
        "## Operations and schemas\n\n| Name | Summary |\n| --- | --- |",
        "| `GET /berths/{id} (getBerth)` | Gets one. |\n| `DELETE /berths/{id}` |  |\n| `Berth` | A berth |",
      ].join("\n"),
    );
    for (const { url } of documents) expect(parseDocumentUrl(url)).toBe(url);
  });

  test("has parts with addresses of the web where the file has one", () => {
    const url = parseDocumentUrl("https://forge.test/r/blob/main/api.json")!;
    const text = JSON.stringify({ ...OPENAPI, paths: { "/a": { get: {} } } });
    const file = { url, path: "api.json", text, kind: "api", mayNameItself: false } as const;
    const addresses = readDocuments(file)
      .toArray()
      .map((document) => String(document.url));
    expect(addresses).toEqual([url, `${url}?pointer=%2Fpaths%2F~1a%2Fget`]);
  });

  test("has operations with parameters, bodies, responses and examples", () => {
    const paths = {
      "/a": {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
        post: {
          description: "Text\n\n- of the file",
          deprecated: true,
          tags: ["x", "y"],
          parameters: [{ $ref: "#/components/parameters/Deep" }],
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: { $ref: "#/components/schemas/A~1B" }, example: { k: [1] } },
            },
          },
          responses: {
            200: {
              description: "Good",
              headers: { "X-A": { schema: { type: "string" }, description: "H" } },
            },
            default: { $ref: "#/components/responses/Bad" },
          },
        },
      },
    };
    const components = {
      parameters: {
        Deep: {
          name: "deep",
          in: "query",
          description: "How\ndeep | is it?",
          schema: { type: "number", default: 2 },
        },
      },
      responses: {
        Bad: { description: "Not good", content: { "text/plain": { examples: { one: { value: "oh" } } } } },
      },
      schemas: {
        "A/B": { required: ["name"], properties: { name: { type: "string", description: "Its name" } } },
      },
    };
    expect(operationOf({ paths, components }, "POST /a")).toBe(`# POST /a

> [!WARNING]
> Deprecated.

Text

- of the file

Tags: x, y

## Parameters

| Name | In | Type | Required | Description |
| --- | --- | --- | --- | --- |
| \`id\` | path | integer | yes |  |
| \`deep\` | query | number, default \`2\` |  | How deep \\| is it? |

## Request body (required)

\`application/json\`

Type: A/B

| Field | Type | Required | Description |
| --- | --- | --- | --- |
| \`name\` | string | yes | Its name |

Example:

\`\`\`json
{
  "k": [
    1
  ]
}
\`\`\`

## Responses

### 200

Good

| Header | Type | Description |
| --- | --- | --- |
| \`X-A\` | string | H |

### default

Not good

\`text/plain\`

Example:

\`\`\`
oh
\`\`\``);
  });
});

test.each([
  ["{}", {}, ""],
  ["a type", { type: "string", format: "date" }, "Type: string (date)"],
  ["types", { type: ["string", "null"] }, "Type: string or null"],
  ["values", { enum: ["a", 1, null] }, "Type: `a`, `1`, `null`"],
  ["limits", { type: "integer", minimum: 1, maximum: 9 }, "Type: integer, from `1`, to `9`"],
  ["a list", { type: "array", items: { type: "string" } }, "Type: array of string"],
  ["alternatives", { oneOf: [{ $ref: "#/x/Cat" }, { type: "string" }] }, "Type: one of Cat, string"],
])("the type of a schema with %s", (_, schema, type) => {
  expect(schemaOf(schema)).toBe(type === "" ? "# Boat" : `# Boat\n\n${type}`);
});

test("the fields of a schema are those of its parts and of schemas inside it", () => {
  const inner = {
    type: "object",
    properties: { x: {}, y: { type: "array", items: { properties: { z: {} } } } },
  };
  const schema = {
    allOf: [{ $ref: "#/components/schemas/Base" }, { properties: { b: inner } }],
    properties: { c: {} },
  };
  const Base = { properties: { a: { $ref: "#/components/schemas/Other" } } };
  const Other = { properties: { hidden: {} }, description: "Of the other" };
  const markdown = schemaOf(schema, { Base, Other });
  expect(fieldsOf(markdown)).toEqual(["a", "b", "b.x", "b.y", "b.y[].z", "c"]);
  expect(markdown).toContain("| `a` | Other |  | Of the other |");
});

test("Swagger's bodies, forms, responses and hosts are read", () => {
  const swagger = {
    swagger: "2.0",
    info: { title: "Old", version: 1 },
    host: "h.test",
    basePath: "/v1",
    paths: {
      "/a": {
        post: {
          parameters: [
            { name: "body", in: "body", schema: { $ref: "#/definitions/B" } },
            { name: "q", in: "query", type: "array", items: { type: "string" }, description: "Words" },
          ],
          responses: {
            200: {
              description: "Good",
              schema: { type: "array", items: { $ref: "#/definitions/B" } },
              examples: { "application/json": [1] },
            },
          },
        },
      },
    },
    definitions: { B: { properties: { b: { type: "string" } } } },
    securityDefinitions: { key: { type: "apiKey", in: "header", name: "X-Key" } },
  };
  const documents = apiDocuments(swagger);
  expect([...documents.keys()]).toEqual(["Old", "POST /a", "B"]);
  expect(documents.get("Old")?.markdown).toContain("| `h.test/v1` |");
  expect(documents.get("Old")?.markdown).toContain("| `key` | apiKey header X-Key |");
  const { markdown } = documents.get("POST /a")!;
  for (const part of [
    "| `q` | query | array of string |  | Words |",
    "## Request body\n\nType: B\n\n| Field",
    "Type: array of B",
    "```json\n[\n  1\n]\n```",
  ])
    expect(markdown).toContain(part);
});

test.each([
  [
    "2",
    {
      asyncapi: "2.6.0",
      channels: {
        "berth/free": {
          description: "Of berths",
          parameters: { id: { schema: { type: "string" }, description: "Which" } },
          subscribe: {
            operationId: "onFree",
            summary: "Tells it",
            message: { oneOf: [{ $ref: "#/components/messages/Free" }] },
          },
        },
      },
    },
    "SUBSCRIBE berth/free (onFree)",
  ],
  [
    "3",
    {
      asyncapi: "3.0.0",
      channels: {
        free: {
          address: "berth/free",
          description: "Of berths",
          messages: { f: { $ref: "#/components/messages/Free" } },
          parameters: { id: { description: "Which", type: "string" } },
        },
      },
      operations: { onFree: { action: "send", summary: "Tells it", channel: { $ref: "#/channels/free" } } },
    },
    "SEND berth/free (onFree)",
  ],
])("AsyncAPI %s has operations and messages", (_, description, title) => {
  const Free = {
    name: "Free",
    title: "A free berth",
    payload: { properties: { berth: { type: "integer" } } },
    examples: [{ payload: { berth: 3 } }],
  };
  const documents = apiDocuments({
    ...description,
    info: { title: "Events" },
    components: { messages: { Free } },
  });
  expect([...documents.keys()]).toEqual(["Events", title, "Free"]);
  const { markdown } = documents.get(title)!;
  for (const part of [
    "Tells it",
    "Of berths",
    "| `id` | string | Which |",
    "## Message Free",
    "A free berth",
    "| `berth` | integer |",
    '"berth": 3',
  ])
    expect(markdown.split(part)).toHaveLength(2);
});

test.each([
  ["nothing", '{"openapi":"3.0.0"}', ["API"]],
  [
    "odd values",
    '{"openapi":"3.0.0","info":7,"paths":[],"tags":{},"servers":"x","components":{"schemas":{"A":null,"B":[1]}}}',
    ["API", "A", "B"],
  ],
  [
    "keys that are no names",
    '{"openapi":"3.0.0","components":{"schemas":{"":{},"..":{},"a\\\\..\\\\b":{},"__proto__":{}}}}',
    ["API", "", "..", "a\\..\\b", "__proto__"],
  ],
  ["several documents", "---\nopenapi: 3.0.0\n---\nother: 1\n", ["API"]],
])("a description with %s is read", (_, text, titles) => {
  const documents = documentsOfText(text, "api");
  expect(documents.map(({ title }) => title)).toEqual(titles);
  for (const { url } of documents) expect(parseDocumentUrl(url)).toBe(url);
});

test.each([
  "",
  '{"openapi": "3.0.0"',
  "openapi: [3",
  `openapi: ${"[".repeat(100_000)}`,
  `openapi: 3.0\na:\n${"- ".repeat(100_000)}`,
])("broken text is refused with a reason", (text) => {
  expect(() => documentsOfText(text, "api")).toThrow("its JSON or YAML cannot be read");
});

test("hidden markup in descriptions is cut, and that in examples is kept", () => {
  const markdown = schemaOf({
    description: "Seen <b hidden>not</b>",
    properties: { a: { description: "Seen too<!-- not -->" } },
    example: "<!-- kept -->",
  });
  expect(markdown).not.toContain("not");
  expect(markdown).toContain("```\n<!-- kept -->\n```");
});

test("every name and description of a schema is there once", () => {
  const words = uniqueArray(
    string({ minLength: 1, unit: "grapheme-ascii" })
      .map((text) => text.replace(/[^\w ]/g, "").trim())
      .filter((text) => text !== ""),
    { minLength: 1, maxLength: 8 },
  );
  assert(
    property(record({ words, depth: integer({ min: 0, max: 3 }) }), ({ words: names, depth }) => {
      let schema: object = { type: "string", description: "bottom" };
      for (let level = 0; level < depth; level++) schema = { properties: { [`level${level}`]: schema } };
      const properties = Object.fromEntries(
        names.map((name, at) => [`f${at}-${name}`, { description: `d${at} ${name} e${at}` }]),
      );
      const markdown = schemaOf({ properties: { ...properties, deep: schema } });
      for (const [at, name] of names.entries()) {
        expect(markdown.split(`\`f${at}-${name}\``)).toHaveLength(2);
        expect(markdown.split(`| d${at} `)).toHaveLength(2);
      }
      expect(markdown.split("bottom")).toHaveLength(2);
    }),
  );
});
