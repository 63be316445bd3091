import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { neededSystem } from "../../scripts/package/needs.ts";
import { PLATFORMS } from "../../scripts/package/platforms.ts";
import { packWheel, platformTag, pythonVersion } from "../../scripts/package/wheel.ts";
import { BINARY } from "../support/binary.ts";
import { bareMachine, documentedLine, RELEASE, SENTENCE, serveFiles } from "../support/packages.ts";

const OURS = RELEASE.project.pypi_package;
// The interpreter itself, because what stands on PATH may be a script that needs other programs.
const python = Bun.which("python3") && runPython("import ensurepip, sys, venv; print(sys.executable)");

function runPython(code: string): string | null {
  const { stdout, exitCode } = Bun.spawnSync(["python3", "-c", code]);
  return exitCode === 0 ? stdout.toString().trim() : null;
}

describe.skipIf(python === null)("with nothing but Python and pip", () => {
  test("one line installs the file, the second extracts a page, the third removes all", async () => {
    using machine = bareMachine(["sh", "yes"]);
    using site = serveFiles({});
    const made = await machine.run(`"${python}" -m venv env`);
    expect({ stderr: made.stderr, exitCode: made.exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const before = await readdir(join(machine.home, "env"), { recursive: true });
    const settings = {
      PATH: `${machine.home}/env/bin:${machine.env.PATH}`,
      // Whoever asks an index gets no answer.
      PIP_INDEX_URL: "http://127.0.0.1:9/simple/",
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
    };
    const first = await machine.run(documentedLine("pip install"), settings);
    expect(first).toEqual({
      stdout: expect.stringMatching(new RegExp(`Successfully installed ${OURS}-\\S+\n$`)),
      stderr: "",
      exitCode: 0,
    });
    const second = await machine.run(`article-extractor ${site.page} --output text`, settings);
    expect({ text: second.stdout, exitCode: second.exitCode }).toEqual({
      text: `Tides\n\n${SENTENCE}\n`,
      exitCode: 0,
    });
    const listed = await machine.run(`pip check && pip show --files ${OURS}`, settings);
    expect(listed.stdout).toContain("  ../../../bin/article-extractor\n");
    expect(listed.stdout).toContain(`Version: ${pythonVersion(RELEASE.version)}\n`);
    expect((await machine.run(`yes | (${documentedLine("pip uninstall")})`, settings)).exitCode).toBe(0);
    // pip compiles modules of its own.
    const after = (await readdir(join(machine.home, "env"), { recursive: true })).filter(
      (name) => before.includes(name) || !name.includes("__pycache__"),
    );
    expect(after.sort()).toEqual(before.sort());
  });
});

const ofPlatform = (name: string) => PLATFORMS.find((platform) => platform.name === name)!;

/** A file of Mach-O whose second command names the system that it needs. */
function machO(major: number, minor: number): Uint8Array {
  const bytes = Buffer.alloc(96);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(2, 16);
  bytes.writeUInt32LE(0x19, 32);
  bytes.writeUInt32LE(24, 36);
  bytes.writeUInt32LE(0x32, 56);
  bytes.writeUInt32LE(24, 60);
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE((major << 16) | (minor << 8), 68);
  return bytes;
}

describe("the tag of a wheel", () => {
  test.skipIf(Bun.which("objdump") === null)(
    "asks for the glibc that the program's symbols ask for",
    async () => {
      const symbols = Bun.spawnSync(["objdump", "-T", BINARY]).stdout.toString();
      const minors = [...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
      expect(neededSystem(await Bun.file(BINARY).bytes())).toEqual([2, Math.max(...minors)]);
    },
  );

  test.each([
    ["linux-x64", "\x7fELF\0GLIBC_2.17\0GLIBC_2.2.5\0", "manylinux_2_17_x86_64"],
    ["linux-arm64", "\x7fELF\0GLIBC_2.9\0GLIBC_2.28\0", "manylinux_2_28_aarch64"],
    // What a script inside the program says of versions is no need.
    ["linux-x64", "\x7fELF\0GLIBC_2.5\0 GLIBC_2.99 \0GLIBC_2.98x\0", "manylinux_2_5_x86_64"],
    ["linux-x64-musl", "\x7fELF\0", "musllinux_1_2_x86_64"],
    ["linux-arm64-musl", "\x7fELF\0", "musllinux_1_2_aarch64"],
    ["darwin-arm64", machO(13, 0), "macosx_13_0_arm64"],
    ["darwin-x64", machO(14, 2), "macosx_14_0_x86_64"],
    ["windows-x64", "MZ", "win_amd64"],
  ])("of %s", (name, bytes, tag) => {
    expect(platformTag({ platform: ofPlatform(name), bytes: Buffer.from(bytes) })).toBe(tag);
  });

  test("is refused for a program that does not say what it needs", () => {
    const bytes = Buffer.from("\x7fELF\0GLIBC_2.\0");
    expect(() => platformTag({ platform: ofPlatform("linux-x64"), bytes })).toThrow("linux-x64 does not say");
    expect(() =>
      platformTag({ platform: ofPlatform("darwin-x64"), bytes: machO(13, 0).fill(0, 56, 57) }),
    ).toThrow("which macOS");
  });
});

test("versions are spelt as Python spells them", () => {
  expect(["1.2.3", "1.2.0-rc.1", "1.0.0-alpha.0", "1.0.0-beta.12"].map(pythonVersion)).toEqual([
    "1.2.3",
    "1.2.0rc1",
    "1.0.0a0",
    "1.0.0b12",
  ]);
});

test("equal programs give equal wheels, in every time zone", async () => {
  const program = { platform: ofPlatform("windows-x64"), bytes: Buffer.from("MZ".repeat(5000)) };
  const zone = process.env.TZ;
  const wheels = [];
  for (process.env.TZ of ["UTC", "Asia/Tokyo", "America/St_Johns"])
    wheels.push(await packWheel(program, RELEASE));
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  expect(wheels[0]?.name).toBe(`${OURS.replaceAll("-", "_")}-${RELEASE.version}-py3-none-win_amd64.whl`);
  for (const other of wheels) expect(Bun.deepEquals(other, wheels[0])).toBe(true);
});
