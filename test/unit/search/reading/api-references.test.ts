import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../support/cpu.ts";
import { fieldsOf, OPENAPI, schemaOf } from "../../../support/search/api.ts";
import { documentsOfText } from "../../../support/search/read-text.ts";

describe("references", () => {
  test.each([
    ["to itself", { $ref: "#/components/schemas/Boat" }],
    ["to nothing", { $ref: "#/components/schemas/None" }],
    ["to another file", { $ref: "file:///etc/passwd" }],
    ["to a relative file", { $ref: "./other.yaml#/A" }],
    ["that is no text", { $ref: { a: 1 } }],
    ["to what all objects have", { $ref: "#/constructor/prototype" }],
    ["with broken escapes", { $ref: "#/%E0%A4%A" }],
  ])("%s are not followed", (_, schema) => {
    expect(fieldsOf(schemaOf(schema))).toEqual([]);
  });

  test("in a circle end", () => {
    const Boat = {
      properties: {
        crew: { $ref: "#/components/schemas/Crew" },
        self: { allOf: [{ $ref: "#/components/schemas/Boat" }] },
      },
    };
    const Crew = { properties: { boat: { $ref: "#/components/schemas/Boat" } } };
    expect(fieldsOf(schemaOf(Boat, { Crew }))).toEqual(["crew", "self"]);
  });

  const aliases = (levels: number): string => {
    const lines = Array.from(
      { length: levels },
      (_, at) => `a${at + 1}: &a${at + 1} {properties: {x: *a${at}, y: *a${at}, z: *a${at}}, k: *a${at}}`,
    );
    const last = `*a${levels}`;
    return `openapi: 3.0.0\na0: &a0 {type: string}\n${lines.join("\n")}\ncomponents: {schemas: {Deep: ${last}}}
paths: {/a: {get: {responses: {200: {content: {x: {example: ${last}}}}}}}}\n`;
  };

  test("of YAML's aliases do not make gigabytes", () => {
    let size = 0;
    const read = (): void => {
      size = documentsOfText(aliases(8), "api").reduce((sum, { markdown }) => sum + markdown.length, 0);
    };
    expect(cpuMs(read)).toBeLessThan(4000);
    expect(size).toBeGreaterThan(1000);
    expect(size).toBeLessThan(200_000);
    expect(() => documentsOfText(aliases(60), "api")).toThrow("cannot be read");
  });

  test("of YAML's aliases may be circles", () => {
    const circle = "&c {properties: {a: *c}, items: *c, allOf: [*c], example: *c, description: Round}";
    const documents = documentsOfText(`openapi: 3.0.0\ncomponents: {schemas: {Ring: ${circle}}}`, "api");
    expect(documents.at(-1)?.markdown).toContain("Round");
  });

  test("to a large schema are not written for every operation", () => {
    const Large = {
      properties: Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [`f${at}`, { description: "word ".repeat(200) }]),
      ),
    };
    const body = { content: { "application/json": { schema: { $ref: "#/components/schemas/Large" } } } };
    const paths = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`/p${at}`, { post: { requestBody: body } }]),
    );
    const text = JSON.stringify({ ...OPENAPI, paths, components: { schemas: { Large } } });
    const size = documentsOfText(text, "api").reduce((sum, { markdown }) => sum + markdown.length, 0);
    expect(size).toBeLessThan(8 * text.length);
  });
});
