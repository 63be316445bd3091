import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

test.each(["crawl-resume", "serve-killed", "sync-kills"])(
  "test/cli/%s.test.ts, killed at 60 moments",
  async (name) => {
    const child = Bun.spawn([process.execPath, "test", "--timeout=600000", `test/cli/${name}.test.ts`], {
      cwd: ROOT,
      env: { ...process.env, TEST_KILLS: "60" },
      stdout: "ignore",
      stderr: "pipe",
    });
    const stderr = await new Response(child.stderr).text();
    expect({ exitCode: await child.exited, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringMatching(/^ 0 fail$/m),
    });
  },
  1_800_000,
);
