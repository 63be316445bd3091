import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { packTarGz } from "../../scripts/package/archive.ts";
import { freePort, serveLocal } from "../support/local.ts";
import {
  bareMachine,
  builtPackage,
  documentedLine,
  PACKAGES,
  RELEASE,
  SENTENCE,
  serveFiles,
} from "../support/packages.ts";
import { untilTrue } from "../support/until.ts";

const { version, date } = RELEASE;
const installer = await Bun.file(builtPackage(/^install\.sh$/)).text();
const real = Bun.file(builtPackage(/\.tar\.gz$/));
const archive = basename(real.name ?? "");
const sumOf = (content: string | Uint8Array) => new Bun.CryptoHasher("sha256").update(content).digest("hex");

/** What every system has, and what the installer needs besides. */
const BASE = ["sh", "uname", "tar", "gzip", "mktemp", "mkdir", "chmod", "mv", "rm", "cat", "tr"];
const WITH_CURL = [...BASE, "curl", "sha256sum"];

/** Serves the installer with an archive whose program is this script. */
async function serveProgram(
  script: string,
  { sum, write = (sums) => sums }: { readonly sum?: string; readonly write?: (sums: string) => string } = {},
) {
  const program = { path: "article-extractor", content: `#!/bin/sh\n${script}\n`, isExecutable: true };
  const packed = await packTarGz([program], { date });
  const sums = `${"0".repeat(64)}  another-${archive}\n${sum ?? sumOf(packed)}  ${archive}\n`;
  return serveFiles({ "install.sh": installer, SHA256SUMS: write(sums), [archive]: packed });
}

const SAYS_VERSION = `echo "article-extractor ${version}"`;
const addressed = (origin: string) => ({ ARTICLE_EXTRACTOR_DOWNLOADS: origin });

/** All that an installation left in a home. */
const filesIn = (home: string) => readdir(home, { recursive: true });
const INSTALLED = [".local", ".local/bin", ".local/bin/article-extractor"];

test("with nothing but curl and a shell, one line installs, and the second extracts a page", async () => {
  using machine = bareMachine(WITH_CURL);
  const sums = `${sumOf(await real.bytes())}  ${archive}\n`;
  using site = serveFiles({ "v/install.sh": installer, "v/SHA256SUMS": sums, [`v/${archive}`]: real });
  const first = await machine.run(
    `curl -fsSL ${site.origin}/v/install.sh | sh`,
    addressed(`${site.origin}/v`),
  );
  const bin = join(machine.home, ".local/bin");
  expect(first).toEqual({
    stdout: "",
    stderr: `downloading ${site.origin}/v/${archive}
the signature was not checked, only the sum: this installer knows no key
installed article-extractor ${version} as ${bin}/article-extractor
${bin} is not on PATH; add this line to your shell's profile: export PATH="${bin}:$PATH"
`,
    exitCode: 0,
  });
  const second = await machine.run(`article-extractor ${site.page} --output text`, {
    PATH: `${bin}:${machine.env.PATH}`,
  });
  expect({ text: second.stdout, exitCode: second.exitCode }).toEqual({
    text: `Tides\n\n${SENTENCE}\n`,
    exitCode: 0,
  });
  expect((await filesIn(machine.home)).filter((name) => name.startsWith(".local")).sort()).toEqual(INSTALLED);
});

test("without an address it installs from the archives beside it, as make packages leaves them", async () => {
  using machine = bareMachine(BASE.concat("sha256sum", "dirname", "cp"));
  const { stdout, stderr, exitCode } = await machine.run(documentedLine("sh dist/packages/install.sh"));
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 0 });
  const bin = join(machine.home, ".local/bin");
  expect(stderr).toStartWith(`the signature was not checked, only the sum: this installer knows no key
installed article-extractor ${version} as ${bin}/article-extractor\n`);
  const said = await machine.run(`${bin}/article-extractor --version`);
  expect(said.stdout).toBe(`article-extractor ${version}\n`);
});

test("an archive is unpacked where the program is wanted", async () => {
  using machine = bareMachine(["sh", "tar", "gzip", "mkdir"]);
  expect(await machine.run(documentedLine("mkdir -p ~/.local/bin && tar"))).toEqual({
    stdout: "",
    stderr: "",
    exitCode: 0,
  });
  const said = await machine.run("~/.local/bin/article-extractor --version");
  expect(said.stdout).toBe(`article-extractor ${version}\n`);
  expect((await machine.run(documentedLine("rm ~"), { PATH: process.env.PATH ?? "" })).exitCode).toBe(0);
  expect(await readdir(join(machine.home, ".local/bin"))).toEqual([]);
});

test("the sums are those of the files", async () => {
  using machine = bareMachine(["sh", "sha256sum"]);
  const { stdout, stderr, exitCode } = await machine.run(documentedLine("cd dist/packages && sha256sum"));
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  expect(stdout.split("\n").length).toBe((await readdir(PACKAGES)).length);
});

const shells: readonly (readonly string[])[] = [["dash"], ["bash"], ["bash", "--posix"], ["busybox", "ash"]];

describe.each(
  shells.filter(([name = ""]) => Bun.which(name) !== null).map((shell) => [shell.join(" "), shell] as const),
)("run by %s", (_, shell) => {
  test("it installs, and replaces what is there when it runs again", async () => {
    using machine = bareMachine(WITH_CURL);
    const path = join(machine.home, ".local/bin/article-extractor");
    const [name = "", ...flags] = shell;
    const command = [Bun.which(name) ?? name, ...flags];
    for (const line of ["first", "second"]) {
      using site = await serveProgram(`echo ${line}`);
      const { stderr, exitCode } = await machine.run(installer, addressed(site.origin), command);
      expect({ stderr, exitCode }).toEqual({
        stderr: expect.stringContaining(`installed ${line} as ${path}`),
        exitCode: 0,
      });
      expect(await Bun.file(path).text()).toContain(line);
      expect((await stat(path)).mode & 0o777).toBe(0o755);
    }
    expect((await filesIn(machine.home)).sort()).toEqual(INSTALLED);
  });
});

test.each<[how: string, write: (sums: string) => string]>([
  ["lines that end as on Windows", (sums) => sums.replaceAll("\n", "\r\n")],
  ["sums in capitals", (sums) => sums.replaceAll(/^[\da-f]{64}/gm, (sum) => sum.toUpperCase())],
  ["no end of the last line", (sums) => sums.trimEnd()],
  ["a star before each name", (sums) => sums.replaceAll("  ", " *")],
  [
    "all of that",
    (sums) =>
      sums
        .toUpperCase()
        .replaceAll(/ .*/g, (name) => name.toLowerCase())
        .replaceAll("\n", "\r\n")
        .trimEnd(),
  ],
])("it reads sums with %s", async (_, write) => {
  using machine = bareMachine(WITH_CURL);
  using site = await serveProgram(SAYS_VERSION, { write });
  const { stderr, exitCode } = await machine.run(installer, addressed(site.origin));
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("installed ")]);
});

test("it works with wget, and with openssl for the sum", async () => {
  using machine = bareMachine([...BASE, "wget", "openssl"]);
  using site = await serveProgram(SAYS_VERSION);
  expect((await machine.run(installer, addressed(site.origin))).exitCode).toBe(0);
  expect(existsSync(join(machine.home, ".local/bin/article-extractor"))).toBe(true);
});

test("it goes where it is told, with the version that it is told, and is silent about PATH when that is right", async () => {
  using machine = bareMachine(WITH_CURL);
  using site = await serveProgram(`echo "article-extractor 9.8.7-rc.1"`);
  const prefix = join(machine.home, "a place");
  const asked: string[] = [];
  using mirror = serveLocal(({ url }) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    return fetch(site.origin + pathname.slice(pathname.lastIndexOf("/")));
  });
  const env = { ...addressed(`${mirror.url.origin}/v{version}`), PATH: `${machine.env.PATH}:${prefix}/bin` };
  for (const [words, more] of [
    [`--version 9.8.7-rc.1 --prefix "${prefix}"`, {}],
    [`--version v9.8.7-rc.1 --prefix "a place/"`, { PATH: `${env.PATH}/` }],
    ["--version 9.8.7-rc.1", { PREFIX: prefix }],
  ] as const) {
    await writeFile(join(machine.home, "install.sh"), installer);
    const { stderr, exitCode } = await machine.run(`sh install.sh ${words}`, { ...env, ...more });
    expect({ stderr, exitCode }).toEqual({
      stderr: `downloading ${mirror.url.origin}/v9.8.7-rc.1/${archive}\nthe signature was not checked, only the sum: this installer knows no key\ninstalled article-extractor 9.8.7-rc.1 as ${prefix}/bin/article-extractor\n`,
      exitCode: 0,
    });
  }
  expect(new Set(asked)).toEqual(new Set(["/v9.8.7-rc.1/SHA256SUMS", `/v9.8.7-rc.1/${archive}`]));
});

describe("it refuses, changes nothing and says why:", () => {
  /** Runs it on a machine that has an older program, which has to stay alone. */
  async function refused(
    origin: string,
    expected: string,
    {
      tools = WITH_CURL,
      words = "",
      env = {},
    }: {
      readonly tools?: readonly string[];
      readonly words?: string;
      readonly env?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<void> {
    using machine = bareMachine(tools);
    await mkdir(join(machine.home, ".local/bin"), { recursive: true });
    await writeFile(join(machine.home, ".local/bin/article-extractor"), "older");
    await writeFile(join(machine.path, "install.sh"), installer);
    const { stdout, stderr, exitCode } = await machine.run(`sh ../install.sh ${words}`, {
      ...addressed(origin),
      ...env,
    });
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: expect.stringContaining(expected),
      exitCode: 1,
    });
    expect(stderr).toEndWith("; nothing was installed\n");
    expect((await filesIn(machine.home)).sort()).toEqual(INSTALLED);
    expect(await Bun.file(join(machine.home, ".local/bin/article-extractor")).text()).toBe("older");
  }

  test("a wrong sum", async () => {
    using site = await serveProgram(SAYS_VERSION, { sum: "a".repeat(64) });
    await refused(site.origin, `${archive} has another sum (`);
  });

  test("sums that do not name the archive, or are empty", async () => {
    for (const sums of ["", `${"a".repeat(64)}  other.tar.gz\n`]) {
      using site = serveFiles({ SHA256SUMS: sums, [archive]: "" });
      await refused(site.origin, `/SHA256SUMS does not name ${archive}`);
    }
  });

  test("an archive that is cut off, or without the program, whatever its sum", async () => {
    const other = await packTarGz([{ path: "LICENSE", content: "MIT" }], { date });
    for (const [content, expected] of [
      [other, "does not hold the program"],
      [other.slice(0, 60), "cannot be unpacked"],
      ["", "cannot be unpacked"],
    ] as const) {
      using site = serveFiles({ SHA256SUMS: `${sumOf(content)}  ${archive}\n`, [archive]: content });
      await refused(site.origin, expected);
    }
  });

  test("a program that does not run here", async () => {
    using site = await serveProgram("echo 'version GLIBC_9.9 not found' >&2; exit 1");
    await refused(site.origin, "the program does not run on this machine");
  });

  test("another version than the one asked for", async () => {
    using site = await serveProgram(SAYS_VERSION);
    await refused(site.origin, `${site.origin} has article-extractor ${version}, not version 9.8.7`, {
      words: "--version 9.8.7",
    });
  });

  test("a file that is not there, and a server that is not", async () => {
    using site = serveFiles({});
    await refused(site.origin, `${site.origin}/SHA256SUMS cannot be downloaded: curl: (22)`);
    await refused(`http://127.0.0.1:${freePort()}`, "/SHA256SUMS cannot be downloaded: curl: (7)");
    await refused(site.origin, "cannot be downloaded: wget failed", {
      tools: [...BASE, "wget", "sha256sum"],
    });
  });

  test("no address, no downloader, nothing to check sums with, no gzip", async () => {
    using site = await serveProgram(SAYS_VERSION);
    if (RELEASE.project.downloads === null) await refused("", "no archives lie beside this script");
    await refused(site.origin, "neither curl nor wget", { tools: BASE });
    await refused(site.origin, "the download cannot be checked", { tools: [...BASE, "curl"] });
    await refused(site.origin, "gzip is missing", { tools: WITH_CURL.filter((tool) => tool !== "gzip") });
  });

  test("words that it does not know, and a place that is no directory", async () => {
    using site = await serveProgram(SAYS_VERSION);
    await refused(site.origin, "unknown argument --force", { words: "--force" });
    await refused(site.origin, "--prefix needs a value", { words: "--prefix" });
    await refused(site.origin, "../x is no version".replace("../x", "a/../x"), { words: "--version a/../x" });
    await refused(site.origin, "cannot be created", { words: "--prefix .local/bin/article-extractor" });
    await refused(site.origin, "HOME is not set", { env: { HOME: "" } });
  });

  test("a directory in the place of the program", async () => {
    using machine = bareMachine(WITH_CURL);
    using site = await serveProgram(SAYS_VERSION);
    await mkdir(join(machine.home, ".local/bin/article-extractor"), { recursive: true });
    const { stderr, exitCode } = await machine.run(installer, addressed(site.origin));
    const path = join(machine.home, ".local/bin/article-extractor");
    expect({ stderr, exitCode }).toEqual({
      stderr: `error: ${path} is a directory; nothing was installed\n`,
      exitCode: 1,
    });
    expect((await filesIn(machine.home)).sort()).toEqual(INSTALLED);
  });

  test.each(["symbolic", "hard"])("an archive with a %s link", async (kind) => {
    using machine = bareMachine([...WITH_CURL, "ln"]);
    const link = kind === "hard" ? "ln other article-extractor" : "ln -s /bin/sh article-extractor";
    const packing =
      await Bun.$`cd ${machine.path} && mkdir packed && cd packed && echo x >other && sh -c ${link} && tar -czf ../a.tar.gz other article-extractor`
        .quiet()
        .nothrow();
    expect(packing.exitCode).toBe(0);
    const packed = await Bun.file(join(machine.path, "a.tar.gz")).bytes();
    using site = serveFiles({ SHA256SUMS: `${sumOf(packed)}  ${archive}\n`, [archive]: packed });
    const { stderr, exitCode } = await machine.run(installer, addressed(site.origin));
    expect({ stderr, exitCode }).toEqual({
      stderr: expect.stringContaining(`error: ${archive} holds a link; nothing was installed`),
      exitCode: 1,
    });
    expect((await filesIn(machine.home)).filter((name) => name.includes("article-extractor"))).toEqual([]);
  });

  test("a system and a processor that there is no program for", async () => {
    using site = await serveProgram(SAYS_VERSION);
    for (const [flag, answer, expected] of [
      ["-s", "Plan9", "no program for Plan9"],
      ["-m", "riscv64", "no program for riscv64"],
    ] as const) {
      using machine = bareMachine(WITH_CURL.filter((tool) => tool !== "uname"));
      await writeFile(
        join(machine.path, "bin/uname"),
        `#!/bin/sh\nif [ "$1" = ${flag} ]; then echo ${answer}; else ${Bun.which("uname")} "$@"; fi\n`,
        { mode: 0o755 },
      );
      const { stderr, exitCode } = await machine.run(installer, addressed(site.origin));
      expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining(expected), exitCode: 1 });
      expect(await filesIn(machine.home)).toEqual([]);
    }
  });
});

test("a script that arrives cut off anywhere changes nothing", async () => {
  using machine = bareMachine(WITH_CURL);
  using site = await serveProgram(SAYS_VERSION);
  const lines = installer.trimEnd().split("\n");
  for (const share of [0, 0.1, 0.3, 0.5, 0.7, 0.9]) {
    await machine.run(installer.slice(0, installer.length * share), addressed(site.origin));
    await machine.run(lines.slice(0, Math.floor(lines.length * share)).join("\n"), addressed(site.origin));
  }
  await machine.run(lines.slice(0, -1).join("\n"), addressed(site.origin));
  expect(await filesIn(machine.home)).toEqual([]);
});

test("an interruption in the middle of a download leaves nothing behind", async () => {
  using machine = bareMachine(WITH_CURL);
  let asked = 0;
  using server = serveLocal(({ url }) => {
    asked++;
    if (url.endsWith("SUMS")) return new Response(`${"a".repeat(64)}  ${archive}\n`);
    const start = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(100));
    return new Response(new ReadableStream({ start }));
  });
  const child = Bun.spawn(["/bin/sh", "-c", installer], {
    cwd: machine.home,
    env: { ...machine.env, ...addressed(server.url.origin) },
    stderr: "ignore",
    detached: true,
  });
  await untilTrue(() => asked === 2);
  // As Ctrl-C does, for all processes of the line.
  process.kill(-child.pid, "SIGINT");
  expect(await child.exited).not.toBe(0);
  expect((await filesIn(machine.home)).sort()).toEqual([".local", ".local/bin"]);
});

test.skipIf(Bun.which("minisign") === null)("with minisign, a wrong signature is refused", async () => {
  using machine = bareMachine([...WITH_CURL, "minisign"]);
  const sign = await machine.run(
    "minisign -G -W -p key.pub -s key && echo a > SHA256SUMS && minisign -S -s key -m SHA256SUMS && rm key",
  );
  expect(sign.exitCode).toBe(0);
  const [, key = ""] = (await Bun.file(join(machine.home, "key.pub")).text()).split("\n");
  const signature = await Bun.file(join(machine.home, "SHA256SUMS.minisig")).text();
  await machine.run("rm key.pub SHA256SUMS SHA256SUMS.minisig");
  using site = serveFiles({ SHA256SUMS: "b", "SHA256SUMS.minisig": signature });
  const refused = await machine.run(installer.replace(/^key=.*$/m, `key='${key}'`), addressed(site.origin));
  expect(refused).toEqual({ stdout: "", stderr: expect.stringContaining("the signature of"), exitCode: 1 });
  using signed = serveFiles({ SHA256SUMS: "a\n", "SHA256SUMS.minisig": signature });
  const accepted = await machine.run(
    installer.replace(/^key=.*$/m, `key='${key}'`),
    addressed(signed.origin),
  );
  expect(accepted.stderr).toContain("does not name");
});

test.skipIf(Bun.which("shellcheck") === null)(
  "shellcheck finds nothing in what people and runners start",
  async () => {
    const scripts = ["bun", "install-program.sh", "package/install.sh", "ci/action.sh"];
    const { stdout } = Bun.spawnSync(["shellcheck", "--shell=sh", ...scripts], {
      cwd: join(import.meta.dir, "../../scripts"),
    });
    expect(stdout.toString()).toBe("");
  },
);
