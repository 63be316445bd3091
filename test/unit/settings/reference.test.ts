import { expect, test } from "bun:test";
import { join } from "node:path";
import { deploymentJsonSchema } from "../../../src/settings/index.ts";

type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly default?: unknown;
};

const reference = await Bun.file(join(import.meta.dir, "../../../docs/tenants.md")).text();
// These are the parts of the schema that the test reads.
const schema = deploymentJsonSchema() as Schema;

function* namesIn({ properties = {}, items, anyOf = [], oneOf = [] }: Schema): Generator<string> {
  for (const part of [...(items ? [items] : []), ...anyOf, ...oneOf]) yield* namesIn(part);
  for (const [name, field] of Object.entries(properties)) {
    yield name;
    yield* namesIn(field);
  }
}

/** Fields that docs/search.md explains. */
const ELSEWHERE = [
  "$schema",
  "title",
  "headings_h1",
  "headings_h2",
  "headings",
  "body",
  "code",
  "path",
  "url",
];

test.each([...new Set(namesIn(schema))].filter((name) => !ELSEWHERE.includes(name)))(
  "the reference of deployment.json has %s",
  (name) => {
    expect(reference).toMatch(new RegExp(`\`${name}(?:\\[\\])?\``));
  },
);

test("the reference has the defaults of the infrastructure", () => {
  const fields = Object.entries(schema.properties?.infrastructure?.properties ?? {});
  expect(fields.length).toBeGreaterThan(10);
  for (const [name, { default: preset }] of fields) {
    if (typeof preset === "object" && preset !== null) continue;
    const row = reference.split("\n").find((line) => line.split("|")[1]?.includes(`\`${name}\``));
    expect(row).toContain(String(preset));
  }
});
