import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deploymentJsonSchema, VARIABLES } from "../../../src/settings/index.ts";
import { documentedLog, logCalls } from "../../support/log-calls.ts";

const ROOT = join(import.meta.dir, "../../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const missing = (paths: readonly string[]): string[] => paths.filter((path) => !existsSync(join(ROOT, path)));

describe("CONTRIBUTING.md", () => {
  const page = read("CONTRIBUTING.md");
  const LISTS = [...page.matchAll(/<!-- files: (.+) -->\n([\s\S]*?)<!-- \/files -->/g)];
  /** The rooms in which an option does its work; the list names their door. */
  const EFFECTS = /^src\/extraction\/(?!types\.ts)/;
  const SOURCES = [...new Bun.Glob("src/**/*.{ts,html}").scanSync(ROOT)].filter(
    (path) => !EFFECTS.test(path),
  );

  test("has its lists of files", () => {
    expect(LISTS.length).toBe(2);
  });

  test.each(LISTS.map(([, pattern = "", list = ""]) => [pattern, list]))(
    "lists the files that know %s",
    (pattern, list) => {
      const listed = [...list.matchAll(/`(src\/[^`]+)`/g)].map(([, path = ""]) => path);
      expect(listed.filter((path) => !EFFECTS.test(path) && path.includes(".")).sort()).toEqual(
        SOURCES.filter((path) => new RegExp(pattern).test(read(path))).sort(),
      );
    },
  );

  test("names files and folders that are there", () => {
    const named = [...page.matchAll(/`((?:src|test|scripts|docs)\/[^`\s]*)`/g)].map(([, path = ""]) => path);
    const paths = named.filter((path) => !/[A-Z]{3,}/.test(path));
    expect(paths.length).toBeGreaterThan(30);
    expect(missing(paths)).toEqual([]);
  });

  test("names make targets that are there", () => {
    for (const [, target = ""] of page.matchAll(/`make ([a-z-]+)/g))
      expect(read("Makefile")).toMatch(new RegExp(`^${target === "bench-" ? "bench-%" : target}:`, "m"));
  });
});

describe("docs/SECURITY.md", () => {
  const page = read("docs/SECURITY.md");

  test("names tests that are there", () => {
    const named = [...page.matchAll(/`(test\/[^`\s]*)`/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(20);
    expect(missing(named)).toEqual([]);
  });

  test("names settings that are there, with their defaults", () => {
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
});

describe("docs/logs.md", async () => {
  const { rows, common } = await documentedLog();
  const calls = await logCalls();
  /** The level of this one depends on what was asked for. */
  const CHOSEN = ["request"];
  const namesOf = (all: readonly { readonly message: string; readonly level: string }[]): string[] =>
    [...new Set(all.map(({ message, level }) => `${message} (${level})`))].sort();

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
