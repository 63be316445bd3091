import { describe, expect, test } from "bun:test";
import { chmod, chown, lstat, mkdir, readdir, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canLoseRights, runBinary, runShell } from "../support/binary.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const PAGE = "<html><body><article><p>The mill turns.</p></article></body></html>";
const EXPECTED = "The mill turns.\n";

/** Extracts the page from stdin into `file`, inside `cwd`. */
const extractTo = (file: string, cwd: string, more: { readonly asOrdinaryUser?: boolean } = {}) =>
  runBinary(["-", "--output", "text", "--quiet", "-o", file], { stdin: PAGE, cwd, ...more });

describe("-o", () => {
  test("writes the result to the file and nothing to stdout", async () => {
    using directory = temporaryDirectory();
    const run = await extractTo("out.txt", directory.path);
    expect(run).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await Bun.file(join(directory.path, "out.txt")).text()).toBe(EXPECTED);
    expect(await readdir(directory.path)).toEqual(["out.txt"]);
  });

  test("replaces a file and keeps its permissions", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "out.txt");
    await writeFile(file, "old and much longer than what comes instead");
    await chmod(file, 0o662);
    await extractTo("out.txt", directory.path);
    expect(await Bun.file(file).text()).toBe(EXPECTED);
    expect((await stat(file)).mode & 0o777).toBe(0o662);
  });

  test("leaves the old file alone, and nothing else behind, when the extraction fails", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "out.txt"), "old");
    const run = await runBinary(["--file", "missing.html", "-o", "out.txt"], { cwd: directory.path });
    expect(run.exitCode).toBe(1);
    expect(await Bun.file(join(directory.path, "out.txt")).text()).toBe("old");
    expect(await readdir(directory.path)).toEqual(["out.txt"]);
  });

  test("takes a name as long as the file system allows", async () => {
    using directory = temporaryDirectory();
    expect((await extractTo("n".repeat(255), directory.path)).exitCode).toBe(0);
  });

  test("keeps a link and replaces what it points to", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "real.txt"), "old");
    await symlink("real.txt", join(directory.path, "link.txt"));
    await extractTo("link.txt", directory.path);
    expect(await readlink(join(directory.path, "link.txt"))).toBe("real.txt");
    expect(await Bun.file(join(directory.path, "real.txt")).text()).toBe(EXPECTED);
  });

  test("keeps a link to nothing and makes the file that it names", async () => {
    using directory = temporaryDirectory();
    await mkdir(join(directory.path, "below"));
    await symlink("../real.txt", join(directory.path, "below", "link.txt"));
    expect((await extractTo("below/link.txt", directory.path)).exitCode).toBe(0);
    expect(await readlink(join(directory.path, "below", "link.txt"))).toBe("../real.txt");
    expect(await Bun.file(join(directory.path, "real.txt")).text()).toBe(EXPECTED);
  });

  test("- means stdout", async () => {
    using directory = temporaryDirectory();
    expect((await extractTo("-", directory.path)).stdout).toBe(EXPECTED);
    expect(await readdir(directory.path)).toEqual([]);
  });

  const REFUSED: readonly (readonly [name: string, file: string, message: string])[] = [
    ["a missing directory", "no/out.txt", "no/out.txt cannot be written: there is no such directory"],
    ["a directory", "folder", "folder is a directory, not a file"],
    [
      "a path below a file",
      "file/out.txt",
      "file/out.txt cannot be written: a part of the path is not a directory",
    ],
    [
      "a name that is too long",
      "n".repeat(256),
      `${"n".repeat(256)} cannot be written: the path is too long`,
    ],
    ["links in a circle", "circle", "circle cannot be written: too many symbolic links"],
    ["a full disk", "/dev/full", "/dev/full cannot be written: no space is left on the device"],
  ];
  for (const [name, file, message] of REFUSED) {
    test.skipIf(file.startsWith("/dev/") && !canLoseRights)(
      `refuses ${name} with exit code 1 and one line`,
      async () => {
        using directory = temporaryDirectory();
        await mkdir(join(directory.path, "folder"));
        await writeFile(join(directory.path, "file"), "");
        await symlink("circle", join(directory.path, "circle"));
        const run = await extractTo(file, directory.path, { asOrdinaryUser: file.startsWith("/dev/") });
        expect(run).toEqual({ exitCode: 1, stdout: "", stderr: `error: ${message}\n` });
        expect((await readdir(directory.path)).sort()).toEqual(["circle", "file", "folder"]);
      },
    );
  }

  test("says so before the page is fetched", async () => {
    let requests = 0;
    await using server = serveLocal(() => new Response(`${++requests}`));
    await runBinary([server.url.href, "-o", "missing/out.json"]);
    expect(requests).toBe(0);
  });
});

describe.skipIf(!canLoseRights)("-o without special rights (root needs setpriv to lose its own)", () => {
  test("refuses a directory that takes no files", async () => {
    using directory = temporaryDirectory();
    await mkdir(join(directory.path, "locked"), { mode: 0o555 });
    const run = await extractTo("locked/out.txt", directory.path, { asOrdinaryUser: true });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "error: locked/out.txt cannot be written: permission denied\n",
    });
  });

  test("refuses a file that is write-protected, though its directory would let it be replaced", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "out.txt");
    await writeFile(file, "precious");
    await chmod(file, 0o444);
    if (process.getuid?.() === 0) {
      await chown(file, 65534, 65534);
      await chown(directory.path, 65534, 65534);
    }
    const run = await extractTo("out.txt", directory.path, { asOrdinaryUser: true });
    expect(run.stderr).toBe("error: out.txt cannot be written: permission denied\n");
    expect(await Bun.file(file).text()).toBe("precious");
  });

  // Never as root: a program that gets this wrong replaces the machine's own devices.
  const STREAMS: readonly (readonly [name: string, script: string, stdout: string])[] = [
    ["/dev/null", "-o /dev/null", ""],
    ["/dev/stdout into a pipe", "-o /dev/stdout | cat", EXPECTED],
    ["/dev/stdout into a file", "-o /dev/stdout > out.txt; cat out.txt", EXPECTED],
    ["/dev/stdout behind what a file holds", "-o /dev/stdout >> old.txt; cat old.txt", `old\n${EXPECTED}`],
    ["/dev/fd/1", "-o /dev/fd/1 | cat", EXPECTED],
    ["/dev/stderr into a file", "-o /dev/stderr 2>> old.txt; cat old.txt", `old\n${EXPECTED}`],
    [
      "a process substitution",
      ">(cat > out.txt); until [ -s out.txt ]; do sleep 0.05; done; cat out.txt",
      EXPECTED,
    ],
  ];
  for (const [name, script, stdout] of STREAMS) {
    test(`writes to ${name}`, async () => {
      using directory = temporaryDirectory();
      await chmod(directory.path, 0o777);
      await writeFile(join(directory.path, "old.txt"), "old\n");
      await chmod(join(directory.path, "old.txt"), 0o666);
      const output = script.startsWith(">(") ? `-o ${script}` : script;
      const run = await runShell(`article-extractor - --output text --quiet ${output}`, {
        shell: "bash",
        stdin: PAGE,
        cwd: directory.path,
        asOrdinaryUser: true,
      });
      expect(run).toEqual({ exitCode: 0, stdout, stderr: "" });
    });
  }
});

test("-o onto a link to stdout's pipe leaves the link alone", async () => {
  using directory = temporaryDirectory();
  await symlink("/proc/self/fd/1", join(directory.path, "link"));
  expect((await extractTo("link", directory.path)).stdout).toBe(EXPECTED);
  expect((await lstat(join(directory.path, "link"))).isSymbolicLink()).toBeTrue();
});

test("-o onto a named pipe writes into it and leaves it a pipe", async () => {
  using directory = temporaryDirectory();
  const run = await runShell(
    "mkfifo pipe; cat pipe > read.txt & article-extractor - --output text -q -o pipe; wait; cat read.txt; test -p pipe",
    { stdin: PAGE, cwd: directory.path },
  );
  expect(run).toEqual({ exitCode: 0, stdout: EXPECTED, stderr: "" });
});
