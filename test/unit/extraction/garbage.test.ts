import { expect, test } from "bun:test";
import { createGarbageWatch } from "../../../src/extraction/worker.ts";

test("garbage is collected once every 16 million characters of pages, however they are cut", () => {
  for (const pageChars of [100_000, 3_000_000, 16_000_000]) {
    let collections = 0;
    const watch = createGarbageWatch(() => collections++);
    let chars = 0;
    while (chars < 16_000_000 - pageChars) {
      watch(pageChars);
      chars += pageChars;
    }
    expect(collections).toBe(0);
    watch(pageChars);
    expect(collections).toBe(chars + pageChars >= 16_000_000 ? 1 : 0);
    watch(16_000_000);
    expect(collections).toBe(chars + pageChars >= 16_000_000 ? 2 : 1);
  }
});
