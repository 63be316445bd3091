import { expect, test } from "bun:test";
import { join } from "node:path";
import { deploymentJsonSchema, readDeployment } from "../../../src/settings/index.ts";

const reference = await Bun.file(join(import.meta.dir, "../../../docs/tenants.md")).text();

/** Names of all properties of a JSON Schema. */
function namesIn(schema: unknown, names: Set<string> = new Set()): Set<string> {
  if (typeof schema !== "object" || schema === null) return names;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") for (const name of Object.keys(value)) names.add(name);
    namesIn(value, names);
  }
  return names;
}

test("docs/tenants.md names every field of deployment.json", () => {
  const names = [...namesIn(deploymentJsonSchema())];
  // Boosts are described in docs/search.md.
  const boosts = ["title", "headings_h1", "headings_h2", "headings", "body", "code", "path", "url"];
  const elsewhere = new Set([...boosts, "$schema", "infrastructure", "tenants"]);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !elsewhere.has(name) && !reference.includes(`\`${name}\``))).toEqual([]);
});

test("the examples of docs/tenants.md are valid", () => {
  const examples = [...reference.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) =>
    JSON.parse(text),
  );
  expect(examples).toHaveLength(3);
  for (const example of examples) {
    const file = "tenants" in example ? example : { tenants: [example] };
    expect(readDeployment(JSON.stringify(file), { name: "d.json", directory: "/" }).tenants).toHaveLength(1);
  }
});
