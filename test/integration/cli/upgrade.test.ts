import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import project from "../../../project.json" with { type: "json" };
import { VERSION } from "../../../src/base/version.ts";
import { installationOf } from "../../../src/cli/testing.ts";
import { runCommand } from "../../support/command.ts";
import { startForwardProxy } from "../../support/forward-proxy.ts";
import { serveLocal } from "../../support/local.ts";

// The program reads the address when it is asked, and the modules of this process share the file.
const filled = { latest: project.latest as string | null, downloads: project.downloads as string | null };
const fill = (values: Partial<typeof filled>) => Object.assign(project, values);
afterAll(() => fill(filled));

const NEWER = "99.0.0";
let asked = 0;

/** Runs `upgrade --check` against a place that answers this. */
async function check(answer: string | Response, ...words: string[]) {
  const site = serveLocal(() => {
    asked++;
    return typeof answer === "string" ? new Response(answer) : answer;
  });
  try {
    fill({ latest: `http://127.0.0.1:${site.port}/latest`, downloads: null });
    return await runCommand(["upgrade", "--check", ...words]);
  } finally {
    await site.stop(true);
  }
}

describe("upgrade --check", () => {
  test("says that this is the newest version, and exits with 0", async () => {
    for (const version of [VERSION, `v${VERSION}`, "0.0.1", `${VERSION}-rc.1`]) {
      const run = await check(JSON.stringify({ tag_name: version }));
      expect(run).toEqual({
        exitCode: 0,
        stdout: `article-extractor ${VERSION} is the newest version.\n`,
        stderr: "",
      });
    }
  });

  test("names a newer version and the line that installs it, and exits with 3", async () => {
    const run = await check(JSON.stringify({ version: NEWER }));
    expect([run.exitCode, run.stderr]).toEqual([3, ""]);
    expect(run.stdout).toStartWith(
      `article-extractor ${NEWER} is there; this is ${VERSION}. To upgrade:\n  `,
    );
  });

  test("writes JSON", async () => {
    const run = await check(JSON.stringify({ tag_name: `v${NEWER}`, version: "0.0.1" }), "--json");
    expect(run.exitCode).toBe(3);
    expect(JSON.parse(run.stdout)).toEqual({
      version: VERSION,
      latest: NEWER,
      is_outdated: true,
      installed_with: expect.any(String),
      upgrade_command: expect.any(String),
    });
  });

  test.each([
    ["", "without a version"],
    ["null", "without a version"],
    ["[]", "without a version"],
    ["<html>", "without a version"],
    [`{"tag_name": 7}`, "without a version"],
    [`{"tag_name": "1.0"}`, "without a version"],
    [`{"version": "9.9.9\\u001b[31m"}`, "without a version"],
    [`{"version": "9.9.9; rm -rf ~"}`, "without a version"],
    [`{"version": "${"9".repeat(400)}.0.0"}`, "without a version"],
    [`{"x": "${"y".repeat(1_000_001)}"}`, "more than 1000000 bytes"],
    [new Response("gone", { status: 404 }), "HTTP 404"],
  ])("fails with one line for the answer %#", async (answer, message) => {
    const run = await check(answer);
    expect([run.exitCode, run.stdout]).toEqual([1, ""]);
    expect(run.stderr.trim().split("\n")).toEqual([expect.stringContaining(message)]);
  });

  test("says what is missing where the build has no address", async () => {
    fill({ latest: null });
    const run = await runCommand(["upgrade", "--check"]);
    expect([run.exitCode, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^error: [^\n]*this copy was built without an address for that[^\n]*\n$/);
  });

  test("asks nobody without --check, nor with an argument", async () => {
    const before = asked;
    for (const words of [["upgrade"], ["upgrade", "--json"], ["upgrade", "now", "--check"]])
      expect((await runCommand(words)).exitCode).toBe(2);
    expect(asked).toBe(before);
  });

  test("asks through the proxy", async () => {
    await using proxy = await startForwardProxy({ credentials: null, hosts: {} });
    fill({ latest: "http://updates.example/latest" });
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    const run = await runCommand(["upgrade", "--check"], { env });
    expect(run.exitCode).toBe(1);
    expect((await proxy.requests()).map(({ line }) => line)).toContainEqual(
      expect.stringContaining("http://updates.example/latest"),
    );
  });
});

describe("how the program was installed", () => {
  const kindOf = (path: string, ...files: string[]) =>
    installationOf(path, NEWER, (file) => files.includes(file));

  test.each([
    ["/home/a/p/node_modules/@article-extractor/linux-x64/article-extractor", "npm", "npm install --global"],
    ["/home/a/.npm/_npx/1f/node_modules/@article-extractor/linux-x64/article-extractor", "npx", "npx "],
    ["/home/a/.local/pipx/venvs/article-extractor/bin/article-extractor", "pipx", "pipx upgrade"],
    ["/home/a/.local/share/uv/tools/article-extractor/bin/article-extractor", "uv", "uv tool upgrade"],
    ["/opt/homebrew/Cellar/article-extractor/0.1.0/bin/article-extractor", "homebrew", "brew upgrade"],
    ["C:\\Users\\a\\scoop\\apps\\article-extractor\\0.1.0\\article-extractor.exe", "scoop", "scoop update"],
    ["/nix/store/abc-article-extractor/bin/article-extractor", "nix", "nix profile upgrade"],
    ["/usr/local/bin/article-extractor", "file", "get the new program"],
  ])("%s", (path, kind, start) => {
    fill({ downloads: null });
    const found = kindOf(path);
    expect(found.kind).toBe(kind);
    expect(found.command).toStartWith(start);
  });

  test("a project's own npm package is upgraded there", () => {
    const path = "/p/node_modules/@article-extractor/linux-x64/article-extractor";
    expect(kindOf(path, "/p/package.json").command).toBe(`npm install ${project.npm_package}@${NEWER}`);
  });

  test("a Python environment upgrades with its own Python", () => {
    const found = kindOf("/v/bin/article-extractor", "/v/bin/python");
    expect(found).toEqual({
      kind: "pip",
      command: "/v/bin/python -m pip install --upgrade article-extractor",
    });
  });

  test("downloads come from the version's folder", () => {
    fill({ downloads: "https://x.example/v{version}" });
    const path = "/usr/bin/article-extractor";
    expect(kindOf(path).command).toBe(`curl -fsSL https://x.example/v${NEWER}/install.sh | sh`);
    const deb = kindOf(path, "/var/lib/dpkg/info/article-extractor.list", "/usr/bin/python3");
    expect(deb.kind).toBe("deb");
    expect(deb.command).toContain(`https://x.example/v${NEWER}/article-extractor_${NEWER}_`);
  });

  test("any path has an answer of one line", () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (path, exists) => {
        expect(installationOf(path, NEWER, () => exists).command).not.toContain("\n");
      }),
    );
  });
});
