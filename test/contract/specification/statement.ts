import { test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const TIMEOUT_MS = 120_000;

/** Statements of a document: for each section, the words that its tests quote, in the order of the document. */
export type Inventory = Readonly<Record<string, readonly string[]>>;

/** Declares the test that holds one statement. @param words as the inventory has them */
export type Statement = (section: string, words: string, holds: () => void | Promise<void>) => void;

/**
 * Gives the function that declares the tests of one document's statements; it throws for words that are not in the
 * inventory, and for those that have a test in the file.
 */
export function statementsOf(document: "extraction" | "search"): Statement {
  const inventory: Inventory = JSON.parse(readFileSync(join(import.meta.dir, `${document}.json`), "utf8"));
  const names = new Set<string>();
  return (section, words, holds) => {
    const name = `${section}: "${words}"`;
    if (!inventory[section]?.includes(words)) throw new Error(`${document}.json has no ${name}`);
    if (names.has(name)) throw new Error(`${name} has two tests`);
    names.add(name);
    test(name, holds, TIMEOUT_MS);
  };
}
