import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withDotenv } from "../../../src/settings/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

async function inDirectory(use: (directory: string) => void | Promise<void>): Promise<void> {
  using directory = temporaryDirectory();
  await use(directory.path);
}

describe("withDotenv", () => {
  test("prefers the process's variables to those of the file beside the program", () =>
    inDirectory(async (directory) => {
      await writeFile(join(directory, ".env"), "# settings\nPORT=1\nHOST='a b'\nexport X=\"y\"\nEMPTY=1\n");
      const environment = await withDotenv(
        { PORT: "2", EMPTY: "", GONE: undefined },
        { executablePath: join(directory, "program"), envFile: null },
      );
      expect(environment).toMatchObject({ PORT: "2", HOST: "a b", X: "y", EMPTY: "" });
    }));

  test("reads a named file instead of the one beside the program", () =>
    inDirectory(async (directory) => {
      await writeFile(join(directory, ".env"), "A=beside\nB=beside\n");
      await writeFile(join(directory, "named"), "A=named\n");
      const places = { executablePath: join(directory, "program"), envFile: join(directory, "named") };
      expect(await withDotenv({}, places)).toEqual({ A: "named" });
    }));

  test("needs no file beside the program, and ignores a directory called .env", () =>
    inDirectory(async (directory) => {
      const places = { executablePath: join(directory, "program"), envFile: null };
      expect(await withDotenv({ A: "1" }, places)).toEqual({ A: "1" });
      await mkdir(join(directory, ".env"));
      expect(await withDotenv({ A: "1" }, places)).toEqual({ A: "1" });
    }));

  test("says why a named file cannot be read", () =>
    inDirectory(async (directory) => {
      const read = (envFile: string) => withDotenv({}, { executablePath: join(directory, "p"), envFile });
      await expect(read(join(directory, "missing"))).rejects.toThrow(
        /missing cannot be read: there is no such file$/,
      );
      await expect(read(directory)).rejects.toThrow(/cannot be read: it is a directory, not a file$/);
    }));

  test("is read up to a mebibyte, also from a device without an end", () =>
    inDirectory(async (directory) => {
      const read = (envFile: string) => withDotenv({}, { executablePath: join(directory, "p"), envFile });
      const path = join(directory, "large");
      await writeFile(path, `A=1\n${"#".repeat(2 ** 20 - 4)}`);
      expect(await read(path)).toEqual({ A: "1" });
      await writeFile(path, `A=1\n${"#".repeat(2 ** 20 - 3)}`);
      for (const endless of [path, "/dev/zero"])
        await expect(read(endless)).rejects.toThrow(`${endless} cannot be read: the file is too large`);
    }));
});
