import { expect, test } from "bun:test";
import { join } from "node:path";
import { outputOf } from "../support/local.ts";

const SCRIPT = join(import.meta.dir, "../../scripts/schemathesis.sh");
const hasPip =
  Bun.which("python3") !== null && Bun.spawnSync(["python3", "-c", "import venv, ensurepip"]).exitCode === 0;

test.skipIf(!hasPip)(
  "no request makes the server answer with a 500 or with what its document does not describe",
  async () => {
    const child = Bun.spawn(["sh", SCRIPT], { stdout: "pipe", stderr: "pipe" });
    const { stdout, stderr } = await outputOf(child);
    // Cases that fail are told with their requests, which may be megabytes.
    const shown = `${stdout}\n${stderr}`.split("\n").map((line) => line.slice(0, 300));
    const exitCode = await child.exited;
    expect({ exitCode, shown: exitCode === 0 ? "" : shown.slice(-200).join("\n") }).toEqual({
      exitCode: 0,
      shown: "",
    });
    expect(Number(/generated, (\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(500);
  },
  15 * 60_000,
);
