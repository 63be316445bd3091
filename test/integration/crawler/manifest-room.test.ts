import { expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temporary.ts";

const OUTPUT = new URL("../../../src/crawler/output.ts", import.meta.url).href;
/** Files may grow to 4 blocks of 512 or 1024 bytes; what is over that is not written, as on a full disk. */
const SHELL = "ulimit -f 4; trap '' XFSZ; exec \"$@\"";

test("a manifest that has no room leaves the last one as it was", async () => {
  using directory = temporaryDirectory();
  const manifestPath = join(directory.path, "manifest.json");
  await writeFile(manifestPath, "the last one");
  const output = { kind: "sink", sink: {}, stateDirectory: directory.path, manifestPath };
  const script = `
    const { openOutput } = await import(${JSON.stringify(OUTPUT)});
    await using output = await openOutput(${JSON.stringify(output)}, { isShared: false });
    const pieces = async function* () { yield "x".repeat(1000); yield "x".repeat(100_000); };
    await output.manifest.write(pieces()).catch(({ code, message }) => console.log(code, message));`;
  const child = Bun.spawn(["sh", "-c", SHELL, "sh", process.execPath, "-e", script], { stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  expect(said).toStartWith(`unwritable_output could not write the manifest ${manifestPath}: `);
  expect(await Bun.file(manifestPath).text()).toBe("the last one");
  expect(await readdir(directory.path)).toEqual(["manifest.json"]);
});
