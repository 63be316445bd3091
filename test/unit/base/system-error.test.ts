import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemReason } from "../../../src/base/system-error.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const errorOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("the system did not refuse");
};

test("says in words why the system refused", () => {
  using directory = temporaryDirectory();
  expect(systemReason(errorOf(() => readFileSync(join(directory.path, "none"))))).toBe(
    "there is no such file",
  );
  expect(systemReason(errorOf(() => readFileSync(directory.path)))).toBe("it is a directory, not a file");
  expect(systemReason(errorOf(() => readFileSync(`${import.meta.path}/x`)))).toBe(
    "a part of the path is not a directory",
  );
  const missing = errorOf(() => readdirSync(join(directory.path, "none")));
  expect(systemReason(missing, "folder")).toBe("there is no such folder");
  expect(
    systemReason(
      errorOf(() => readdirSync(import.meta.path)),
      "folder",
    ),
  ).toBe("it is not a folder");
});

test("gives the code of an error without words, and returns other errors unchanged", () => {
  expect(systemReason(Object.assign(new Error("odd"), { code: "EODD" }))).toBe("EODD");
  expect(systemReason(new Error("odd"))).toBe("Error: odd");
});
