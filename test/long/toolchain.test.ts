import { describe, expect, test } from "bun:test";
import { chmod, copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../support/local.ts";
import { registrySettings } from "../support/registry-settings.ts";
import { temporaryDirectory } from "../support/temporary.ts";

// Installs Bun from the package registry, so it runs with `make test-all` only.
const ROOT = join(import.meta.dir, "../..");
const SHELL_TOOLS = ["sh", "sed", "dirname", "uname", "env"];

/** Runs a fresh copy of scripts/bun on a machine that has these programs and no others. */
async function runFresh(programs: Readonly<Record<string, string>>) {
  using machine = temporaryDirectory();
  const bin = join(machine.path, "bin");
  await mkdir(join(machine.path, "scripts/toolchain"), { recursive: true });
  await mkdir(bin);
  for (const name of ["bun", "toolchain/package.json", "toolchain/package-lock.json"])
    await copyFile(join(ROOT, "scripts", name), join(machine.path, "scripts", name));
  for (const tool of SHELL_TOOLS) await symlink(Bun.which(tool) ?? tool, join(bin, tool));
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), text);
    await chmod(join(bin, name), 0o755);
  }
  const child = Bun.spawn([join(bin, "sh"), join(machine.path, "scripts/bun"), "--version"], {
    env: { PATH: bin, HOME: machine.path, ...registrySettings() },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = await outputOf(child);
  return { exitCode: await child.exited, stdout: stdout.trim(), stderr };
}

const forward = (executable: string | null): string => `#!/bin/sh\nexec ${executable} "$@"\n`;
/** A Bun of another version, which can install but must not build. */
const OTHER_BUN = `#!/bin/sh\nif [ "$1" = --version ]; then echo 1.0.0; else exec ${process.execPath} "$@"; fi\n`;

describe("scripts/bun", () => {
  test("takes the Bun on the path when it is the pinned one", async () => {
    const { exitCode, stdout, stderr } = await runFresh({ bun: forward(process.execPath) });
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: Bun.version, stderr: "" });
  });

  test("installs the pinned one with another Bun", async () => {
    const { exitCode, stdout } = await runFresh({ bun: OTHER_BUN });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: Bun.version });
  });

  test.skipIf(!Bun.which("npm"))("installs the pinned one with npm", async () => {
    const { exitCode, stdout } = await runFresh({
      npm: forward(Bun.which("npm")),
      node: forward(Bun.which("node")),
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: Bun.version });
  });

  test("says what to install where there is neither", async () => {
    const { exitCode, stderr } = await runFresh({});
    expect(exitCode).toBe(1);
    expect(stderr).toContain("neither npm nor bun is on PATH");
  });
});
