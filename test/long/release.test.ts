import { expect, test } from "bun:test";
import { appendFile, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
/** Whoever commits the copies does so at the same time. */
const AUTHOR = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

async function run(cwd: string, command: string): Promise<string> {
  const env = { ...process.env, ...AUTHOR };
  const child = Bun.spawn(["sh", "-ec", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const { stdout, stderr } = await outputOf(child);
  expect({ command, exitCode: await child.exited, stderr }).toMatchObject({ exitCode: 0 });
  return stdout;
}

/** Copies this repository, with its packages: a link to them would have the same place twice. */
async function copyTo(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await run(ROOT, `git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t ${directory}`);
  await run(ROOT, `cp -al node_modules ${directory}/ || cp -a node_modules ${directory}/`);
  const toolchain = "scripts/toolchain/node_modules";
  await symlink(join(ROOT, toolchain), join(directory, toolchain));
  await run(directory, "git init -q && git add -A && git commit -qm all && touch node_modules/.installed");
}

test.skipIf(process.platform !== "linux" || process.arch !== "x64" || Bun.which("minisign") === null)(
  "two releases of the same sources in different places are equal, signed, and work",
  async () => {
    using place = temporaryDirectory();
    const key = join(place.path, "key");
    await run(place.path, `minisign -G -W -p ${key}.pub -s ${key}`);
    const places = ["one", "another/and/deeper"].map((name) => join(place.path, name));
    for (const directory of places) await copyTo(directory);
    for (const directory of places)
      await run(directory, `make release TRIAL=yes PLATFORMS=linux-x64 KEY=${key}`);
    const [one = "", other = ""] = places.map((directory) => join(directory, "dist/release"));
    expect(await run(place.path, `diff -rq ${one} ${other} || true`)).toBe("");
    await run(one, `minisign -V -p ${key}.pub -m SHA256SUMS && sha256sum --check --quiet SHA256SUMS`);
    const version = await run(
      one,
      "tar xzf article-extractor-linux-x64.tar.gz && ./article-extractor --version",
    );
    expect(version).toStartWith("article-extractor ");
    await appendFile(join(one, "install.sh"), "#");
    await expect(run(one, "sha256sum --check --quiet SHA256SUMS")).rejects.toThrow();
  },
  900_000,
);
