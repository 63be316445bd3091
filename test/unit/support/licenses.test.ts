import { describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { collectLicenses } from "../../../scripts/licenses.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";

const REPOSITORY = join(import.meta.dir, "..", "..", "..");

describe("the licences of the program", () => {
  const root = directoryForEachTest();

  /** Installs a package at a path under the root, with these files beside its package.json. */
  async function install(
    path: string,
    manifest: object,
    files: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await mkdir(join(root(), path), { recursive: true });
    await Bun.write(join(root(), path, "package.json"), JSON.stringify(manifest));
    for (const [name, text] of Object.entries(files)) await Bun.write(join(root(), path, name), text);
  }
  const app = (dependencies: Readonly<Record<string, string>>, more: object = {}) =>
    install("", { name: "app", version: "1.0.0", license: "MIT", dependencies, ...more });

  test("follow the dependencies of dependencies and each nested version, but not what only developers need", async () => {
    await app({ a: "1" }, { devDependencies: { tool: "1" } });
    await install("node_modules/a", {
      name: "a",
      version: "1.0.0",
      license: "ISC",
      dependencies: { b: "2" },
    });
    await install("node_modules/a/node_modules/b", {
      name: "b",
      version: "2.0.0",
      license: "0BSD",
      dependencies: { c: "1" },
    });
    await install("node_modules/b", { name: "b", version: "1.0.0", license: "MIT" });
    await install("node_modules/c", {
      name: "c",
      version: "1.0.0",
      license: "MIT",
      dependencies: { a: "1" },
    });
    await install("node_modules/tool", { name: "tool", version: "1.0.0" });
    const titles = [...(await collectLicenses(root())).matchAll(/^(\S+ [\d.]+)\nLicence: /gm)].map(
      (match) => match[1],
    );
    expect(titles).toEqual(["app 1.0.0", `Bun ${Bun.version}`, "a 1.0.0", "b 2.0.0", "c 1.0.0"]);
  });

  test("hold the texts of all licence and notice files", async () => {
    await app({ a: "1", "@scope/b": "1" });
    await install(
      "node_modules/a",
      { name: "a", version: "1.0.0" },
      { "LICENCE-MIT.txt": "Text of MIT\r\n", NOTICE: "Text of the notice" },
    );
    await install(
      "node_modules/@scope/b",
      { name: "@scope/b", version: "1.0.0", licenses: [{ type: "MIT" }, { type: "X11" }] },
      { Copying: "Text of X11", "README.md": "no" },
    );
    const text = await collectLicenses(root());
    expect(text).toContain("a 1.0.0\nLicence: see below\n\nText of MIT\n\nText of the notice\n");
    expect(text).toContain("@scope/b 1.0.0\nLicence: MIT OR X11\n\nText of X11\n");
    expect(text).not.toContain("\r");
  });

  test("include a required peer and an optional dependency where they are installed", async () => {
    await app({ a: "1" });
    const peers = { peerDependencies: { p: "1", q: "1" }, peerDependenciesMeta: { q: { optional: true } } };
    await install("node_modules/a", {
      name: "a",
      version: "1.0.0",
      license: "MIT",
      ...peers,
      optionalDependencies: { o: "1" },
    });
    for (const name of ["p", "q"])
      await install(`node_modules/${name}`, { name, version: "1.0.0", license: "MIT" });
    const text = await collectLicenses(root());
    expect([text.includes("p 1.0.0\n"), text.includes("q 1.0.0\n"), text.includes("o 1.0.0\n")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each([{}, { license: "UNLICENSED" }, { license: "" }])(
    "refuse a package without a licence: %j",
    async (license) => {
      await app({ a: "1" });
      await install(
        "node_modules/a",
        { name: "a", version: "1.2.3", ...license },
        { NOTICE: "not a licence" },
      );
      await expect(collectLicenses(root())).rejects.toThrow("a 1.2.3 has no licence");
    },
  );

  test("refuse a dependency that is not installed", async () => {
    await app({ a: "1" });
    await expect(collectLicenses(root())).rejects.toThrow("a, which");
  });

  test("of this program name Bun and each production package, the same at every run", async () => {
    const text = await collectLicenses(REPOSITORY);
    const manifest = await Bun.file(join(REPOSITORY, "package.json")).json();
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(text).toContain(`\n${name} ${version}\n`);
    for (const name of Object.keys(manifest.devDependencies)) expect(text).not.toContain(`\n${name} `);
    expect(text).toContain("JavaScriptCore");
    expect(await collectLicenses(REPOSITORY)).toBe(text);
  });
});
