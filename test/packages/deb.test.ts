import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtPackage, documentedLine } from "../support/packages.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const hasDpkg = Bun.which("dpkg") !== null && process.platform === "linux";
const run = (...command: string[]) => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
};

const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" });

describe.skipIf(!hasDpkg)("the Debian package", () => {
  const deb = hasDpkg ? builtPackage(/\.deb$/) : "";

  // Only root may give files to root.
  test.skipIf(process.getuid?.() !== 0)(
    "is installed, runs, is whole, and leaves nothing when it is removed",
    () => {
      using root = temporaryDirectory();
      const state = join(root.path, "var/lib/dpkg");
      for (const folder of ["info", "updates", "triggers"])
        mkdirSync(join(state, folder), { recursive: true });
      // The only package that it needs.
      writeFileSync(join(state, "status"), run("dpkg-query", "--status", "libc6").stdout);
      writeFileSync(join(state, "available"), "");
      const architecture = run("dpkg", "--print-architecture").stdout.trim();
      writeFileSync(join(state, `info/libc6:${architecture}.list`), "/.\n");
      const dpkg = (...words: string[]) => run("dpkg", `--root=${root.path}`, ...words);
      const before = filesIn(root.path);

      expect(dpkg("--install", deb)).toEqual({
        stdout: expect.stringContaining("Setting up article-extractor"),
        stderr: "",
        exitCode: 0,
      });
      const program = join(root.path, "usr/bin/article-extractor");
      expect(run(program, "version").stdout).toMatch(/^article-extractor \d/);
      expect(dpkg("--verify", "article-extractor")).toEqual({ stdout: "", stderr: "", exitCode: 0 });
      expect(dpkg("--audit", "article-extractor")).toEqual({ stdout: "", stderr: "", exitCode: 0 });
      const listed = dpkg("--listfiles", "article-extractor").stdout.split("\n");
      for (const path of [
        "man/man1/article-extractor.1.gz",
        "bash-completion/completions/article-extractor",
        "zsh/vendor-completions/_article-extractor",
        "fish/vendor_completions.d/article-extractor.fish",
        "doc/article-extractor/copyright",
      ])
        expect(listed).toContain(`/usr/share/${path}`);
      // The server is not enabled, and what it starts is there.
      const unit = run("cat", join(root.path, "usr/lib/systemd/system/article-extractor.service")).stdout;
      expect(unit).toContain("\nExecStart=/usr/bin/article-extractor ");
      expect(unit).not.toContain("/usr/local");
      expect(listed.filter((path) => path.startsWith("/etc"))).toEqual([]);

      expect(dpkg("--install", deb).exitCode).toBe(0);
      expect(dpkg("--purge", "article-extractor").exitCode).toBe(0);
      const isState = (path: string) => path.startsWith("var/lib/dpkg/");
      expect(filesIn(root.path).filter((path) => !isState(path) && !before.includes(path))).toEqual([]);
    },
  );

  test.skipIf(Bun.which("apt-get") === null)("is what the documented line installs", () => {
    const line = documentedLine("sudo apt install").replace(
      "sudo apt ",
      "apt-get --simulate -o Dir::State::Lists=/nowhere ",
    );
    expect(run("sh", "-c", line).stdout).toContain(`Inst article-extractor (`);
  });

  test("says what it is, and which glibc it needs", () => {
    const { stdout } = run("dpkg-deb", "--field", deb);
    expect(stdout).toMatch(
      /^Package: article-extractor\nVersion: \d+\.\d+\.\d+\S*\nArchitecture: (?:amd64|arm64)\nMaintainer: .+\n/,
    );
    expect(stdout).toMatch(/\nDepends: libc6 \(>= 2\.\d+\)\n/);
  });

  test("owns its files as root, with the folders that hold them", () => {
    const lines = run("dpkg-deb", "--contents", deb).stdout.trimEnd().split("\n");
    expect(lines.filter((line) => !/^(?:drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root\/root /.test(line))).toEqual(
      [],
    );
    const paths = lines.map((line) => line.split(" ").at(-1) ?? "");
    const folders = paths.map((path) => path.replace(/[^/]+\/?$/, "")).filter((folder) => folder !== "./");
    for (const folder of folders) expect(paths).toContain(folder);
  });
});
