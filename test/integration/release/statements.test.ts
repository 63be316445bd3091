import { beforeAll, describe, expect, test } from "bun:test";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Ajv from "ajv";
import { billOfMaterials } from "../../../scripts/release/sbom.ts";
import { formatSums, provenanceOf, sign, sumsOf } from "../../../scripts/release/statements.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const ROOT = join(import.meta.dir, "../../..");
const run = (...words: string[]) => Bun.spawnSync(words, { stdin: new TextEncoder().encode("\n\n") });

describe("sums", () => {
  test("are those that sha256sum checks, of an empty file and of a large one too", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "b"), "");
    await writeFile(join(directory.path, "a"), new Uint8Array(3_000_000).fill(7));
    expect(formatSums([])).toBe("");
    const sums = await sumsOf(directory.path);
    expect(sums.map(({ name }) => name)).toEqual(["a", "b"]);
    await writeFile(join(directory.path, "SHA256SUMS"), formatSums(sums));
    const check = () => Bun.spawnSync(["sha256sum", "--check", "SHA256SUMS"], { cwd: directory.path });
    expect(check().exitCode).toBe(0);
    await appendFile(join(directory.path, "b"), "x");
    expect(check().stdout.toString()).toContain("b: FAILED");
  });
});

describe("the signature", () => {
  const isMissing = Bun.which("minisign") === null;

  test.skipIf(isMissing)("is accepted by minisign, until a byte changes", async () => {
    using directory = temporaryDirectory();
    const place = (name: string) => join(directory.path, name);
    const made = run("minisign", "-G", "-W", "-p", place("key.pub"), "-s", place("key"));
    expect([made.exitCode, made.stderr.toString()]).toEqual([0, ""]);
    await writeFile(place("SHA256SUMS"), "sums\n");
    await sign(place("SHA256SUMS"), {
      key: place("key"),
      password: null,
      comment: "article-extractor 1.2.3",
    });
    const verify = () => run("minisign", "-V", "-p", place("key.pub"), "-m", place("SHA256SUMS"));
    expect(verify().stdout.toString()).toContain("Trusted comment: article-extractor 1.2.3");
    const first = await Bun.file(place("SHA256SUMS.minisig")).text();
    await sign(place("SHA256SUMS"), {
      key: place("key"),
      password: null,
      comment: "article-extractor 1.2.3",
    });
    expect(await Bun.file(place("SHA256SUMS.minisig")).text()).toBe(first);
    await appendFile(place("SHA256SUMS"), "x");
    expect(verify().exitCode).not.toBe(0);
  });

  test.skipIf(isMissing)("of a key that is none fails with one line, and leaves no file", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "SHA256SUMS");
    await writeFile(file, "sums\n");
    await writeFile(join(directory.path, "key"), "no key\n");
    const options = { key: join(directory.path, "key"), password: null, comment: "x" };
    await expect(sign(file, options)).rejects.toThrow(/^minisign does not sign with .*key: [^\n]*$/);
    expect((await sumsOf(directory.path)).map(({ name }) => name)).toEqual(["SHA256SUMS", "key"]);
  });
});

describe("the provenance", () => {
  const origin = {
    version: "1.2.3",
    platforms: ["linux-x64"],
    commit: "c".repeat(40),
    isClean: true,
    repository: null,
    lockSha256: "d".repeat(64),
    builder: null,
  };

  test("names every file, the commit and an honest builder", () => {
    const subjects = [{ name: "a", sha256: "a".repeat(64) }];
    const statement = provenanceOf(subjects, origin);
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "a", digest: { sha256: "a".repeat(64) } }],
      predicateType: "https://slsa.dev/provenance/v1",
      predicate: {
        buildDefinition: { externalParameters: { version: "1.2.3", isCleanTree: true } },
        runDetails: { builder: { id: "urn:article-extractor:builder:unattested-machine" } },
      },
    });
    const dependencies = JSON.stringify(statement);
    for (const part of [origin.commit, origin.lockSha256, `pkg:npm/bun@${Bun.version}`])
      expect(dependencies).toContain(part);
  });

  test("names a service and a repository where there are some", () => {
    const statement = provenanceOf([], {
      ...origin,
      builder: "https://ci.example/1",
      repository: "https://x.example/r",
    });
    expect(JSON.stringify(statement)).toContain('"builder":{"id":"https://ci.example/1"}');
    expect(JSON.stringify(statement)).toContain('"uri":"git+https://x.example/r"');
  });
});

describe("the bill of materials", () => {
  type Bom = {
    readonly components: readonly { readonly name: string; readonly purl: string }[];
    readonly serialNumber: string;
  };
  let bom: Bom;
  beforeAll(async () => {
    // Its form is checked by the schema below.
    bom = (await billOfMaterials(ROOT, "2026-01-01T00:00:00.000Z")) as Bom;
  });
  const names = () => bom.components.map(({ name }) => name);

  test("is valid by the schema of CycloneDX 1.6", async () => {
    const read = (name: string) =>
      Bun.file(
        join(ROOT, "node_modules/@cyclonedx/cyclonedx-library/res/schema", `${name}.SNAPSHOT.schema.json`),
      ).json();
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
      // They are referred to by the names of their files.
      const { $id: _, ...schema } = await read(name);
      ajv.addSchema(schema, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
    }
    const validate = ajv.compile(await read("bom-1.6"));
    validate(bom);
    expect(validate.errors).toBeNull();
    expect(validate({ ...bom, components: [{ type: "libary" }] })).toBe(false);
  });

  test("lists what is bundled, packed, in the pages, and the runtime", () => {
    for (const name of ["bun", "hono", "playwright-core", "swagger-ui-dist", "yaml"])
      expect(names()).toContain(name);
    expect(new Set(bom.components.map(({ purl }) => purl)).size).toBe(bom.components.length);
  });

  test("lists nothing that is only installed", () => {
    for (const name of [
      "typescript",
      "fast-check",
      "selfsigned",
      "minisearch",
      "@cyclonedx/cyclonedx-library",
    ])
      expect(names()).not.toContain(name);
  });

  test("is the same for the same sources, and has another number at another date", async () => {
    expect(await billOfMaterials(ROOT, "2026-01-01T00:00:00.000Z")).toEqual(bom);
    const later = (await billOfMaterials(ROOT, "2026-01-02T00:00:00.000Z")) as Bom;
    expect(later.serialNumber).not.toBe(bom.serialNumber);
  });
});
