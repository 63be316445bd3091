import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseLockFile } from "../../../src/cli/commands/documents/lock-file.ts";
import { chooseLocked } from "../../../src/tenants/library.ts";
import { cpuMs } from "../../support/cpu.ts";

/** The version of `gate` for which its documentation is chosen; null when the file has none. */
function lockedGate(name: string, text: string, library = "gate"): string | null {
  const versions = ["0.1", "1.0.0", "2.0.0", "3.0.0"];
  const tenants = versions.map((version) => ({ codename: version, library, version }));
  const [choice] = chooseLocked(tenants, parseLockFile(name, text), null);
  return choice?.codenames[0] ?? null;
}

const npm = (packages: object, lockfileVersion = 3): string => JSON.stringify({ lockfileVersion, packages });
const direct = { dependencies: { gate: "*" } };
const cargo = (...packages: readonly string[]): string =>
  ["version = 4", ...packages.map((fields) => `[[package]]\n${fields}`)].join("\n\n");
const REGISTRY = 'source = "registry+https://index.example"';

/** Lock files by their name, what they show and the version that they give. */
const LOCKED: Readonly<Record<string, string>> = {
  "package-lock.json | npm 7's | 2.0.0": npm({ "": direct, "node_modules/gate": { version: "2.0.0" } }),
  "package-lock.json | version 2 | 2.0.0": npm({ "": direct, "node_modules/gate": { version: "2.0.0" } }, 2),
  "some/where/npm-shrinkwrap.json | a shrinkwrap | 2.0.0": npm({
    "": direct,
    "node_modules/gate": { version: "2.0.0" },
  }),
  "package-lock.json | npm 5's | 2.0.0": JSON.stringify({
    lockfileVersion: 1,
    dependencies: { gate: { version: "2.0.0" } },
  }),
  "package-lock.json | npm 5's, with another below | 1.0.0": JSON.stringify({
    dependencies: {
      weir: { version: "1", dependencies: { gate: { version: "3.0.0" } } },
      gate: { version: "1.0.0" },
    },
  }),
  "package-lock.json | a direct dependency beside others | 1.0.0": npm({
    "node_modules/weir/node_modules/gate": { version: "3.0.0" },
    "": direct,
    "node_modules/gate": { version: "1.0.0" },
    "node_modules/lock/node_modules/gate": { version: "2.0.0" },
  }),
  "package-lock.json | an indirect dependency at the top beside one below | 1.0.0": npm({
    "": {},
    "node_modules/weir/node_modules/gate": { version: "3.0.0" },
    "node_modules/gate": { version: "1.0.0" },
  }),
  "package-lock.json | the highest of those that are only indirect | 3.0.0": npm({
    "": {},
    "node_modules/a/node_modules/gate": { version: "2.0.0" },
    "node_modules/b/node_modules/gate": { version: "3.0.0" },
    "node_modules/c/node_modules/gate": { version: "1.0.0" },
  }),
  "package-lock.json | a workspace's own, which nothing else names | 2.0.0": npm({
    "": { workspaces: ["packages/*"] },
    "node_modules/app": { resolved: "packages/app", link: true },
    "packages/app": { name: "app", version: "9.0.0", devDependencies: { gate: "2" } },
    "packages/app/node_modules/gate": { version: "2.0.0" },
    "node_modules/gate": { version: "3.0.0" },
  }),
  "package-lock.json | the highest of several workspaces, also from a folder above | 3.0.0": npm({
    "packages/a": direct,
    "packages/a/node_modules/gate": { version: "1.0.0" },
    "packages/b": direct,
    "packages/node_modules/gate": { version: "3.0.0" },
    "packages/c": direct,
    "node_modules/gate": { version: "2.0.0" },
  }),
  "package-lock.json | an alias | 2.0.0": npm({
    "": { dependencies: { door: "npm:gate@2" } },
    "node_modules/door": { name: "gate", version: "2.0.0" },
  }),
  "package-lock.json | nothing | none": npm({ "": direct }),
  "package-lock.json | another package | none": npm({
    "": {},
    "node_modules/@types/gate": { version: "1.0.0" },
  }),
  "package-lock.json | an address | none": npm({ "node_modules/gate": { version: "git+ssh://x/y.git#abc" } }),
  "package-lock.json | other forms | none": npm({
    "": 1,
    "node_modules/gate": [],
    "node_modules/": null,
    x: { dependencies: 3 },
  }),
  "bun.lock | bun's | 2.0.0":
    '{ "lockfileVersion": 1, "workspaces": { "": { "dependencies": { "gate": "^2", }, }, }, "packages": { "gate": ["gate@2.0.0", "", {}, "sha512-x"], "weir/gate": ["gate@3.0.0"], } }',
  "bun.lock | a workspace of bun's | 1.0.0":
    '{ "workspaces": { "": {}, "packages/app": { "name": "@my/app", "dependencies": { "gate": "1" } } }, "packages": { "@my/app": ["@my/app@workspace:packages/app"], "@my/app/gate": ["gate@1.0.0"], "gate": ["gate@3.0.0"] } }',
  "bun.lock | an alias of bun's | 2.0.0":
    '{ "workspaces": { "": { "dependencies": { "door": "npm:gate@2" } } }, "packages": { "door": ["gate@2.0.0"], "gate": ["gate@3.0.0"] } }',
  "bun.lock | other forms | none": '{ "packages": { "gate": "x", "a": [3], "b": [], "c": ["gate"] } }',
  "requirements.txt | a pin | 2.0.0": "gate==2.0.0",
  "requirements-dev.txt | pip-compile's | 2.0.0":
    "# made by a program\r\nother==1.0\r\n  Gate [tls] == 2.1 ; python_version < '4' \\\n    --hash=sha256:aa\n    # via -r requirements.in\n",
  "requirements.txt | an exact pin | 2.0.0": "gate===2.0.0 # why",
  "requirements.txt | a pin of a series | 2.0.0": "gate==2.*",
  "requirements.txt | no pin | none":
    "gate>=2.0\ngate~=1.0\ngate\n-r gate==1.0\n# gate==1.0\ngate @ file:///x",
  "requirements.txt | nothing | none": "",
  "Cargo.lock | cargo's direct dependency beside another version | 1.0.0": cargo(
    'name = "app"\nversion = "9.0.0"\ndependencies = [\n "gate 1.0.0",\n "weir",\n]',
    `name = "gate"\nversion = "1.0.0"\n${REGISTRY}`,
    `name = "gate"\nversion = "3.0.0"\n${REGISTRY}`,
    `name = "weir"\nversion = "1.0.0"\n${REGISTRY}\ndependencies = ["gate 3.0.0"]`,
  ),
  "Cargo.lock | an old form of cargo's | 1.0.0": cargo(
    'name = "app"\nversion = "9.0.0"\ndependencies = ["gate 1.0.0 (registry+https://index.example)"]',
    `name = "gate"\nversion = "1.0.0"\n${REGISTRY}`,
    `name = "gate"\nversion = "3.0.0"\n${REGISTRY}`,
  ),
  "Cargo.lock | the highest of cargo's indirect ones | 3.0.0": cargo(
    `name = "gate"\nversion = "3.0.0"\n${REGISTRY}`,
    `name = "gate"\nversion = "1.0.0"\n${REGISTRY}`,
  ),
  "Cargo.lock | no package | none": 'package = ["x", 1]',
  "go.sum | go's highest, without those only looked at | 2.0.0":
    "gate v1.0.0 h1:x=\ngate v2.0.0 h1:x=\ngate v2.0.0/go.mod h1:x=\ngate v3.0.0/go.mod h1:x=\n",
  "go.sum | a later major version of go's | 3.0.0": "gate/v3 v3.1.0 h1:x=\nexample.com/gate v1.0.0 h1:x=",
  "go.sum | nothing | none": "\n",
};

describe("the version that a lock file gives", () => {
  test.each(Object.entries(LOCKED))("%s", (row, text) => {
    const [name = "", , version = ""] = row.split(" | ");
    expect(lockedGate(name, text) ?? "none").toBe(version);
  });

  test("is of the whole name", () => {
    const text = npm({ "": {}, "node_modules/@my/gate": { version: "2.0.0" } });
    expect(lockedGate("package-lock.json", text, "@my/gate")).toBe("2.0.0");
    expect(lockedGate("go.sum", "example.com/x/gate/v2 v2.0.0 h1:x=", "example.com/x/gate")).toBe("2.0.0");
  });
});

describe("what is no lock file", () => {
  test.each([
    ["package-lock.json", "", "JSON Parse error"],
    ["package-lock.json", "{", "JSON Parse error"],
    ["package-lock.json", "[]", "it has no dependencies"],
    ["package-lock.json", "{}", "it has no dependencies"],
    ["package-lock.json", '{"packages": null}', "it has no packages"],
    ["package-lock.json", '{"packages": "x"}', "it has no packages"],
    ["bun.lock", "null", "it has no packages"],
    ["bun.lock", "[".repeat(1_000_000), "it is nested too deeply"],
    ["Cargo.lock", "", "it has no package"],
    ["Cargo.lock", "[[package", "TOML"],
    ["Cargo.lock", `package = ${"[".repeat(1_000_000)}`, "TOML"],
    ["go.sum", "{}", '"{}" is not a line of a go.sum'],
    ["go.sum", "a v1 b c", '"a v1 b c" is not a line of a go.sum'],
  ])("%s: %#", (name, text, why) => {
    expect(() => parseLockFile(name, text)).toThrow(`${name} cannot be read as a lock file: `);
    expect(() => parseLockFile(name, text)).toThrow(why);
  });

  test.each(["yarn.lock", "lock", "", "package-lock.json.bak", "xgo.sum"])(
    "%p is refused by its name",
    (name) => {
      expect(() => parseLockFile(name, "")).toThrow("--from-lockfile takes a package-lock.json, bun.lock");
    },
  );

  const NAMES = ["package-lock.json", "bun.lock", "Cargo.lock", "go.sum", "requirements.txt"];
  const JSONISH = fc
    .json()
    .chain((json) =>
      fc.constantFrom(
        json,
        `{"packages":${json}}`,
        `{"dependencies":${json}}`,
        `{"packages":{"gate":${json},"":${json}}}`,
      ),
    );

  test("is refused in words, whatever it holds", () => {
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), fc.oneof(fc.string(), JSONISH), (name, text) => {
        try {
          lockedGate(name, text);
        } catch (error) {
          expect(error).toMatchObject({ name: "Failure", code: "unreadable_input" });
        }
      }),
    );
  });

  test("costs no more than its length, however it is made", () => {
    const many = (count: number, of: (at: number) => string, between = ",") =>
      Array.from({ length: count }, (_, at) => of(at)).join(between);
    const deep = `${"a/".repeat(200_000)}b`;
    const texts: readonly (readonly [string, string])[] = [
      [
        "package-lock.json",
        `{"packages":{${many(30_000, (at) => `"node_modules/p${at}":{"version":"1.0.${at}"}`)}}}`,
      ],
      [
        "package-lock.json",
        `{"packages":{"${deep}":{"dependencies":{${many(1000, (at) => `"p${at}":"1"`)}}}}}`,
      ],
      [
        "package-lock.json",
        `{"dependencies":${'{"a":{"version":"1","dependencies":'.repeat(2000)}{}${"}}".repeat(2000)}}`,
      ],
      ["bun.lock", `{"packages":{${many(30_000, (at) => `"p${at}":["${"@".repeat(10)}p@1"]`)}}}`],
      ["bun.lock", `{"packages":{"a":["${"x".repeat(1_000_000)}"],"b":["${"@".repeat(1_000_000)}"]}}`],
      ["Cargo.lock", many(30_000, (at) => `k${at} = 1`, "\n").concat("\n[[package]]")],
      ["go.sum", many(30_000, () => "gate v1.0.0 h1:x=", "\n")],
      ["requirements.txt", many(30_000, () => "gate ==  1.0", "\n")],
      ["requirements.txt", `${"a ".repeat(200_000)}\n${" ".repeat(200_000)}\n${"[".repeat(200_000)}`],
    ];
    for (const [name, text] of texts) expect(cpuMs(() => lockedGate(name, text))).toBeLessThan(5_000);
  });
});
