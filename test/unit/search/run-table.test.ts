import { expect, test } from "bun:test";
import fc from "fast-check";
import { RunTable, UNKNOWN_RUN } from "../../../src/search/analysis/run-words.ts";

test("a table of runs answers like a Map of their strings", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "é", "\ud83d"), maxLength: 4 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 300 }), (words) => {
      const table = new RunTable();
      const map = new Map<string, number>();
      const text = words.join("");
      let start = 0;
      for (const key of words) {
        const end = start + key.length;
        expect(table.find(text, start, end)).toBe(map.get(key) ?? UNKNOWN_RUN);
        if (!map.has(key)) table.add(key, map.set(key, map.size).size);
        map.set(key, table.find(text, start, end));
        start = end;
      }
      expect(table.size).toBe(map.size);
    }),
  );
});

test("a table of runs grows, forgets, and survives colliding runs", () => {
  const table = new RunTable();
  const add = (key: string, value: number): void => {
    if (table.find(key, 0, key.length) === UNKNOWN_RUN) table.add(key, value);
  };
  for (let number = 0; number < 5000; number++) add(`run${number}`, number);
  for (let number = 0; number < 5000; number++)
    expect(table.find(`run${number}`, 0, `run${number}`.length)).toBe(number);
  table.clear();
  expect(table.find("run7", 0, 4)).toBe(UNKNOWN_RUN);
  // "Aa" and "BB" have the same hash, and so have all texts of one length that are made of them.
  const colliding = Array.from({ length: 256 }, (_, bits) =>
    Array.from({ length: 8 }, (_, bit) => ((bits >> bit) & 1 ? "Aa" : "BB")).join(""),
  );
  colliding.forEach(add);
  const kept = colliding.filter((key, number) => table.find(key, 0, key.length) === number);
  expect(kept.length).toBeLessThan(64);
});
