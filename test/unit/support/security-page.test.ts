import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { deploymentJsonSchema, VARIABLES } from "../../../src/settings/index.ts";

const ROOT = join(import.meta.dir, "../../..");
const page = await Bun.file(join(ROOT, "docs/SECURITY.md")).text();

test("every promise names tests that there are", () => {
  const named = [...page.matchAll(/`(test\/[^`\s]*)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every limit names a setting that there is, with its default", () => {
  const known = new Map<string, unknown>(
    Object.values(VARIABLES).map(({ variable, fallback }) => [variable, fallback]),
  );
  const fields = JSON.stringify(deploymentJsonSchema());
  const limits = page.slice(page.indexOf("## Limits"), page.indexOf("A client is"));
  const named = [...limits.matchAll(/`([A-Za-z_]+)`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !known.has(name) && !fields.includes(`"${name}"`))).toEqual([]);
  for (const [, written = "", name = ""] of limits.matchAll(/\| (\d+) \| `([A-Z_]+)` \|/g))
    expect([name, Number(written)]).toEqual([name, Number(known.get(name))]);
});
