import { describe, expect, test } from "bun:test";
import { documentedLog, logCalls } from "../../support/log-calls.ts";

const { rows, common } = await documentedLog();
const calls = await logCalls();
/** The level of this one depends on what was asked for. */
const CHOSEN = ["request"];
const namesOf = (all: readonly { readonly message: string; readonly level: string }[]): string[] =>
  [...new Set(all.map(({ message, level }) => `${message} (${level})`))].sort();

describe("docs/logs.md", () => {
  test("has every message that the program can log, with its level, and no other", () => {
    expect(calls.length).toBeGreaterThan(70);
    expect(namesOf(rows.filter(({ message }) => !CHOSEN.includes(message)))).toEqual(namesOf(calls));
    expect(new Set(rows.map(({ message }) => message)).size).toBe(rows.length);
    for (const message of CHOSEN) expect(rows.map((row) => row.message)).toContain(message);
  });

  test("has every field that a call names, and no field of a message whose calls name all of theirs", () => {
    for (const { message, fields } of rows) {
      const own = calls.filter((call) => call.message === message);
      const named = own.flatMap((call) => call.fields);
      expect({ message, missing: named.filter((name) => ![...fields, ...common].includes(name)) }).toEqual({
        message,
        missing: [],
      });
      if (own.length === 0 || own.some(({ hasMore }) => hasMore)) continue;
      expect({ message, extra: fields.filter((name) => ![...named, ...common].includes(name)) }).toEqual({
        message,
        extra: [],
      });
    }
  });
});
