import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { chooseMentioned, chooseVersion } from "../../../src/tenants/library.ts";
import { folder, readJson, tenants } from "../../support/deployment.ts";

const documented = (library: string | null, versions: readonly (string | null)[]) =>
  versions.map((version) => ({ codename: version ?? "none", library, version }));

/** The version that is chosen among these; a tenant is named as its version. */
const chosen = (versions: readonly (string | null)[], version: string | null): string =>
  chooseVersion(documented("lib", versions), "lib", version).codenames.join(" ");

describe("the tenant of a version", () => {
  test.each([
    ["18.2.0", ["17.0.2", "18.2.0", "19.0.0"], "18.2.0"],
    ["17.0.2", ["17.0.2", "18.2.0", "19.0.0"], "17.0.2"],
    ["19.0.0", ["17.0.2", "18.2.0", "19.0.0"], "19.0.0"],
    ["18.9.9", ["17.0.2", "18.2.0", "19.0.0"], "18.2.0"],
    ["99", ["17.0.2", "18.2.0", "19.0.0"], "19.0.0"],
    ["16", ["19.0.0", "17.0.2", "18.2.0"], "17.0.2"],
    ["18", ["17.0.2", "18.1.0", "18.2.0", "19.0.0"], "18.2.0"],
    ["18.2", ["18.1.0", "18.2.7", "18.3.0"], "18.2.7"],
    ["18.x", ["18.1.0", "18.2.7", "19.0.0"], "18.2.7"],
    ["18.*", ["18.1.0", "18.2.7", "19.0.0"], "18.2.7"],
    ["18", ["18", "18.2"], "18"],
    ["18.2.0", ["17", "18", "19"], "18"],
    ["18.0.0-rc.1", ["17", "18", "19"], "18"],
    ["18.0.0-rc.1", ["17.0.0", "18.0.0"], "17.0.0"],
    ["v18.2.0", ["18.2.0", "18.3.0"], "18.2.0"],
    ["18.2.0", ["v18.2.0", "v18.3.0"], "v18.2.0"],
    [" =v18.2.0 ", ["18.2.0", "18.3.0"], "18.2.0"],
    ["^18.2.0", ["18.2.0", "18.3.0"], "18.2.0"],
    ["18.2.0-rc.1", ["18.1.0", "18.2.0-beta.2", "18.2.0-rc.2", "18.2.0"], "18.2.0-beta.2"],
    ["18.2.0", ["18.2.0-rc.2", "18.3.0"], "18.2.0-rc.2"],
    ["3.12", ["3.9", "3.12", "3.13"], "3.12"],
    ["3.12.4", ["3.9", "3.12", "3.13"], "3.12"],
    ["3.10", ["3.9", "3.11"], "3.9"],
    ["v2", ["v1", "v2", "v3"], "v2"],
    ["v2.7.1", ["v1", "v2", "v3"], "v2"],
    [
      "v0.0.0-20230201120000-0123456789ab",
      ["v0.0.0-20230101120000-ffffffffffff", "v0.0.0-20230301120000-000000000000"],
      "v0.0.0-20230101120000-ffffffffffff",
    ],
    ["v2.0.0+incompatible", ["v1.9.0", "v2.0.0+incompatible"], "v2.0.0+incompatible"],
    ["2024.04.1", ["2023.10.1", "2024.4.0", "2024.10.0"], "2024.4.0"],
    ["24.04", ["22.04", "24.04", "24.10"], "24.04"],
    ["20240401", ["20230101", "20240301", "20240501"], "20240301"],
    ["4.2.1.5", ["4.2.1.3", "4.2.1.6"], "4.2.1.3"],
    ["1.0.0.dev2", ["1.0.0.dev1", "1.0.0a1", "1.0.0"], "1.0.0.dev1"],
    ["1.0.0a2", ["1.0.0.dev1", "1.0.0a1", "1.0.0b1"], "1.0.0a1"],
    ["1.0.0rc10", ["1.0.0rc9", "1.0.0rc11", "1.0.0"], "1.0.0rc9"],
    ["1.0.0.post2", ["1.0.0", "1.0.0.post1", "1.0.0.post3"], "1.0.0.post1"],
    ["1.0.0", ["0.9", "1.0.0.post1"], "0.9"],
    ["2.1.0+cu118", ["2.1.0", "2.2.0"], "2.1.0"],
    [null, ["1.0.0", "3.0.0-rc.1", "2.0.0"], "2.0.0"],
    [null, ["3.0.0-rc.1"], "3.0.0-rc.1"],
    [null, ["1.0.0", null, "2.0.0"], "none"],
    ["Latest", ["1.0.0", "2.0.0"], "2.0.0"],
    ["1.5", ["1.0.0", null, "2.0.0"], "1.0.0"],
    ["1.5", [null], "none"],
    ["1.5", ["1.5"], "1.5"],
    ["18.2.0", ["18.2.0", "v18.2.0"], "18.2.0 v18.2.0"],
  ])("for %p among %j is %p", (version, versions, expected) => {
    expect(chosen(versions, version)).toBe(expected);
  });

  test.each([
    ["18.2", "React 18.2"],
    ["18.5.1", "React 18.2, the nearest not above 18.5.1"],
    ["16.8", "React 17.0, the lowest: all are above 16.8"],
    [null, "React 19, the newest"],
  ])("for %p is told as %p", (version, resolved) => {
    expect(chooseVersion(documented("React", ["19", "17.0", "18.2"]), "react", version).resolved).toBe(
      resolved,
    );
  });

  test("without any version is told as such", () => {
    expect(chooseVersion(documented("React", [null]), "react", "18").resolved).toBe(
      "React, of no version in particular",
    );
  });

  test.each(["", " ", "v", "main", "x.1", "-1", "1".repeat(101)])("%p is refused as a version", (version) => {
    expect(() => chosen(["1.0"], version)).toThrow("version must begin with a number, like 18.2.0, 18 or v2");
  });
});

describe("a library", () => {
  const known = [
    ...documented("react", ["18"]),
    { codename: "query", library: "@tanstack/react-query", version: "5" },
    { codename: "gin", library: "github.com/gin-gonic/gin", version: "1.9" },
    { codename: "yaml", library: "ruamel.yaml", version: "0.18" },
    { codename: "other", library: null, version: null },
  ];

  test.each([
    ["React", "18"],
    ["@tanstack/react-query", "query"],
    ["react-query", "query"],
    ["github.com/gin-gonic/gin", "gin"],
    ["github.com/gin-gonic/gin/v2", "gin"],
    ["gin", "gin"],
    ["Ruamel_yaml", "yaml"],
  ])("%p is found", (library, codename) => {
    expect(chooseVersion(known, library, null).codenames).toEqual([codename]);
  });

  test("is itself before another of the same short name", () => {
    const both = [...known, { codename: "scoped", library: "@preact/react", version: "9" }];
    expect(chooseVersion(both, "react", "10").codenames).toEqual(["18"]);
  });

  test.each([
    ["raect", "No tenant has the library 'raect'; did you mean react?"],
    ["", "No tenant has the library ''"],
    ["x".repeat(100_000), `No tenant has the library '${"x".repeat(100)}'`],
  ])("that no tenant has is refused", (library, message) => {
    expect(() => chooseVersion(known, library, null)).toThrow(message);
    expect(() => chooseVersion([], library, null)).toThrow(message.split(";")[0]);
  });
});

describe("a query that names a library and a version", () => {
  const known = [
    ...documented("react", ["17.0", "18.2"]),
    { codename: "router", library: "react-router", version: "6" },
    { codename: "query", library: "@tanstack/react-query", version: "5" },
    { codename: "django", library: "Django", version: "4.2" },
  ];

  test.each([
    ["react 18.3.1", "18.2"],
    ["react@17.0.2", "17.0"],
    ["hooks of React v18", "18.2"],
    ["18.2 react", "18.2"],
    ["2 ways to use react 17", "17.0"],
    ["react router 6.4 loaders", "router"],
    ["@tanstack/react-query@5.1", "query"],
    ["django==4.2.11", "django"],
    ["Django>=3", "django"],
  ])("%p chooses %p", (query, codename) => {
    expect(chooseMentioned(known, query)?.codenames).toEqual([codename]);
  });

  test.each(["", "react", "18.2", "vue 3", "react hooks", `${"x ".repeat(1000)} react 18`])(
    "%p chooses nothing",
    (query) => {
      expect(chooseMentioned(known, query)).toBeNull();
    },
  );

  test("may have any text", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("react", "@", "18", "=="))), (words) => {
        chooseMentioned(known, words.join(" "));
      }),
    );
  });
});

const NUMBER = fc.oneof(fc.nat({ max: 12 }), fc.nat());
const FULL = fc.tuple(NUMBER, NUMBER, NUMBER);
const PRE = fc.constantFrom(
  "",
  "-rc.1",
  "-rc.10",
  "rc2",
  "a1",
  "b1",
  ".dev1",
  "-0",
  "-alpha",
  ".post1",
  ".7",
  "+local",
  "-x-y",
);
const VERSION = fc.oneof(
  fc.tuple(FULL, PRE).map(([numbers, pre]) => numbers.join(".") + pre),
  fc.array(NUMBER, { minLength: 1, maxLength: 5 }).map((numbers) => numbers.join(".")),
);

describe("of any versions", () => {
  const compare = (a: readonly number[], b: readonly number[]): number =>
    a.map((number, place) => number - (b[place] ?? 0)).find((difference) => difference !== 0) ?? 0;

  test("the nearest not above the wanted one is chosen, else the lowest", () => {
    fc.assert(
      fc.property(fc.array(FULL, { minLength: 1, maxLength: 8 }), FULL, (all, wanted) => {
        const ordered = all.toSorted(compare);
        const nearest = ordered.findLast((version) => compare(version, wanted) <= 0) ?? ordered[0]!;
        const [codename] = chosen(
          all.map((version) => version.join(".")),
          wanted.join("."),
        ).split(" ");
        expect(codename).toBe(nearest.join("."));
      }),
    );
  });

  test("a partial version means the highest that begins with it, if there is one", () => {
    fc.assert(
      fc.property(
        fc.array(FULL, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 2 }),
        (all, length) => {
          const begun = all[0]!.slice(0, length);
          const fitting = all
            .filter((version) => compare(version.slice(0, length), begun) === 0)
            .sort(compare);
          const [codename] = chosen(
            all.map((version) => version.join(".")),
            begun.join("."),
          ).split(" ");
          expect(codename).toBe(fitting.at(-1)!.join("."));
        },
      ),
    );
  });

  test("the order of tenants changes nothing, and versions have a total order", () => {
    // The higher of two is the one that is nearest to a version above both.
    const higher = (a: string, b: string): string => chosen([a, b], "9999999999").split(" ")[0]!;
    const isEqual = (a: string, b: string): boolean => chosen([a, b], "9999999999").includes(" ");
    fc.assert(
      fc.property(VERSION, VERSION, VERSION, (a, b, c) => {
        fc.pre(!isEqual(a, b) && !isEqual(b, c) && !isEqual(a, c));
        expect(higher(a, b)).toBe(higher(b, a));
        expect(higher(higher(a, b), c)).toBe(higher(a, higher(b, c)));
        expect(chosen([a, b, c], c)).toBe(c);
      }),
    );
  });

  test("what a deployment file takes is read, and what is wanted may be any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 110 }), fc.string(), (rest, wanted) => {
        const read = (version: string) => readJson(tenants({ ...folder, library: "lib", version })).tenants;
        let known: ReturnType<typeof read>;
        try {
          known = read(`1${rest}`);
        } catch {
          expect(`1${rest}`.trim().length).toBeGreaterThan(100);
          return;
        }
        expect(chooseVersion(known, "lib", null).codenames).toEqual(["docs"]);
        try {
          expect(chooseVersion(known, "lib", wanted).codenames).toEqual(["docs"]);
        } catch (error) {
          expect(String(error)).toContain("must begin with a number");
        }
      }),
    );
  });
});

describe("a deployment file", () => {
  test("names library and version, or neither", () => {
    const [named, bare] = readJson(
      tenants({ ...folder, library: " react ", version: " v18.2 " }, { ...folder, codename: "bare" }),
    ).tenants;
    expect(named).toMatchObject({ library: "react", version: "v18.2" });
    expect(bare).toMatchObject({ library: null, version: null });
  });

  test.each([
    [{ version: "main" }, "tenants[0].version: must be a version that begins with a number, like 18.2.0"],
    [{ version: 18 }, "tenants[0].version: must be a version that begins with a number"],
    [{ version: "" }, "tenants[0].version: must be a version that begins with a number"],
    [{ version: `1${"0".repeat(100)}` }, "of at most 100 characters"],
    [{ library: " " }, "tenants[0].library: must not be empty"],
    [{ library: "x".repeat(201) }, "tenants[0].library: must have at most 200 characters"],
  ])("with %j is refused", (fields, message) => {
    expect(() => readJson(tenants({ ...folder, ...fields }))).toThrow(message);
  });

  test("with a version of no library is warned of", () => {
    expect(readJson(tenants({ ...folder, version: "1" })).warnings).toEqual([
      "tenants[0].version: without library nothing asks for it",
    ]);
  });
});
