import { expect, test } from "bun:test";
import { join } from "node:path";
import { outputOf } from "../support/local.ts";

const SECONDS = Number(process.env.SOAK_SECONDS ?? 3600);

test(
  "the memory of a server under mixed load does not grow",
  async () => {
    const script = join(import.meta.dir, "../../scripts/bench/serve.ts");
    const child = Bun.spawn([process.execPath, script, "--soak", String(SECONDS)], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const { stdout, stderr } = await outputOf(child);
    const exitCode = await child.exited;
    expect({ exitCode, stderr: stderr.slice(-2000) }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("RSS of the second quarter");
  },
  (SECONDS + 120) * 1000,
);
