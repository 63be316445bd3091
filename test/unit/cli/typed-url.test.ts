import { describe, expect, test } from "bun:test";
import { withoutCredentials } from "../../../src/urls/index.ts";

describe("what messages repeat of a URL that was typed", () => {
  const ROWS: readonly (readonly [written: string, shown: string])[] = [
    ["https://user:hunter2@[bad/", "https://…@[bad/"],
    ["ftp://user:hunter2@host/", "ftp://…@host/"],
    ["user:hunter2@host", "…@host"],
    ["https://hunter2@[bad/", "https://…@[bad/"],
    ["https://user:hun/ter2@host", "https://…@host"],
    ["https://user:hunt@er2@host:x", "https://…@host:x"],
    ["  https://user:hunter2@[bad/", "  https://…@[bad/"],
    ["user:hun/ter2@host", "…@host"],
    ["medium.com/@name", "medium.com/@name"],
    ["not a url", "not a url"],
    ["", ""],
  ];
  for (const [written, shown] of ROWS) {
    test(`${JSON.stringify(written)} is shown as ${JSON.stringify(shown)}`, () => {
      expect(withoutCredentials(written)).toBe(shown);
    });
  }

  test("long ones are cut", () => {
    expect(withoutCredentials("x".repeat(1000)).length).toBe(201);
  });

  test("a line of many colons takes no time to speak of", () => {
    expect(withoutCredentials(":".repeat(5_000_000)).length).toBe(201);
  });
});
