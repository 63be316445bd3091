import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "../../../src/scale/migrations");

/** SHA-256, the first 16 digits. A file that has landed never changes: databases that went through it would differ. */
const LANDED: Readonly<Record<string, string>> = {
  "01-leases.sql": "0f99777b19da32d4",
  "02-jobs.sql": "bad5ec834afcdc5f",
  "03-crawl.sql": "7dfae44ccdd22066",
  "04-hosts.sql": "8fab3bff112937a3",
  "05-syncs.sql": "81bffa87c21ef3b7",
  "06-fetcher.sql": "8ab05b43d5c8efb2",
  "07-block.sql": "13e274a616e14a3d",
};

/** Run again by each `database migrate`, and so free to change. */
const FUNCTIONS = "crawl-functions.sql";

test("numbered migrations stay as they landed, and each has its hash", () => {
  // Whatever else lies here would change databases without a number.
  const names = readdirSync(FOLDER).filter((name) => name !== FUNCTIONS);
  const hashes = names.map((name) => [
    name,
    new Bun.CryptoHasher("sha256")
      .update(readFileSync(join(FOLDER, name)))
      .digest("hex")
      .slice(0, 16),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(LANDED);
});

test("each migration is made of a file that landed, in the order of their numbers", () => {
  const schema = readFileSync(join(FOLDER, "../postgres/schema.ts"), "utf8");
  const imports = [...schema.matchAll(/^import (\w+) from "\.\.\/migrations\/([^"]+)"/gm)];
  const names = new Map(imports.map(([, name = "", file = ""]) => [name, file]));
  const list = /^const MIGRATIONS: readonly string\[\] = \[(.*)\];$/m.exec(schema)?.[1]?.split(", ") ?? [];
  expect(list.map((name) => names.get(name))).toEqual(Object.keys(LANDED));
  expect([...names.values()].toSorted()).toEqual([...Object.keys(LANDED), FUNCTIONS]);
});

test("functions are replaced wherever they stand, and hold no tables", () => {
  const functions = readFileSync(join(FOLDER, FUNCTIONS), "utf8");
  expect(functions).not.toMatch(/^CREATE (?!OR REPLACE FUNCTION )/m);
  expect(functions).not.toMatch(/^(?:ALTER|DROP|INSERT|UPDATE|DELETE) /m);
  // Only functions that migrations may replace: a schema whose others differ is refused.
  for (const [, name] of functions.matchAll(/FUNCTION (\w+)\(/g)) expect(name).toStartWith("crawl_");
});

test("no migration after the fourth makes a function, which would be frozen with it", () => {
  for (const name of Object.keys(LANDED))
    if (name !== "04-hosts.sql") expect(readFileSync(join(FOLDER, name), "utf8")).not.toContain("FUNCTION");
});
