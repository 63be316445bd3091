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
};

test("numbered migrations stay as they landed, and each has its hash", () => {
  const names = readdirSync(FOLDER).filter((name) => /^\d/.test(name));
  const hashes = names.map((name) => [
    name,
    new Bun.CryptoHasher("sha256")
      .update(readFileSync(join(FOLDER, name)))
      .digest("hex")
      .slice(0, 16),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(LANDED);
});

test("functions are replaced wherever they stand, and hold no tables", () => {
  const functions = readFileSync(join(FOLDER, "crawl-functions.sql"), "utf8");
  expect(functions).not.toMatch(/^CREATE (?!OR REPLACE FUNCTION )/m);
  expect(functions).not.toMatch(/^ALTER /m);
});
