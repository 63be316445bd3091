import { describe, expect, test } from "bun:test";
import { packTarGz, packZip } from "../../../scripts/package/archive.ts";
import { RELEASE } from "../../support/packages.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

describe("archives", () => {
  const files = [
    { path: "bin/run", content: "#!/bin/sh\necho ran", isExecutable: true },
    { path: "bin/empty", content: "" },
    { path: `${"long/".repeat(30)}name`, content: new Uint8Array(100_000) },
  ];

  test.each([
    ["tar.gz", ["tar", "-xzf"]],
    ["zip", ["python3", "-m", "zipfile", "-e"]],
  ] as const)("%s is the same at every time and holds what it is given", async (kind, unpack) => {
    const pack = () =>
      kind === "zip" ? packZip(files, RELEASE.date) : packTarGz(files, { date: RELEASE.date, folders: true });
    const bytes = await pack();
    expect(Bun.deepEquals(await pack(), bytes)).toBe(true);
    if (Bun.which(unpack[0]) === null) return;
    using place = temporaryDirectory();
    await Bun.write(`${place.path}/packed`, bytes);
    const into = kind === "zip" ? ["."] : [];
    expect(Bun.spawnSync([...unpack, "packed", ...into], { cwd: place.path }).exitCode).toBe(0);
    for (const { path, content } of files)
      expect(Buffer.from(await Bun.file(`${place.path}/${path}`).bytes()).equals(Buffer.from(content))).toBe(
        true,
      );
  });
});
