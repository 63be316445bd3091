import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { changeVersion, cutVersion, notesForRelease, notesOf } from "../../../scripts/release/notes.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const CHANGELOG =
  "# Changelog\n\n## Unreleased\n\n### Pages\n- New.\n\n## 0.2.0\n\n- Second.\n\n## 0.1.0\n- First.\n";

describe("the notes of a version", () => {
  test("are its section, the first, a middle and the last one", () => {
    expect(notesOf(CHANGELOG, "Unreleased")).toBe("### Pages\n- New.\n");
    expect(notesOf(CHANGELOG, "0.2.0")).toBe("- Second.\n");
    expect(notesOf(CHANGELOG, "0.1.0")).toBe("- First.\n");
  });

  test.each([
    ["", "0.1.0", 'no section "## 0.1.0"'],
    [CHANGELOG, "0.3.0", 'no section "## 0.3.0"'],
    [CHANGELOG, "", 'no section "## "'],
    ["## 0.1.0\n", "0.1.0", "says nothing"],
    ["## 0.1.0\n\n### Pages\n\n## 0.0.1\n- x\n", "0.1.0", "says nothing"],
  ])("of %j, %j: %s", (changelog, version, message) => {
    expect(() => notesOf(changelog, version)).toThrow(message);
  });
});

describe("giving what is unreleased a version", () => {
  test("keeps an empty section for what comes next", () => {
    const cut = cutVersion(CHANGELOG, "0.2.0", "0.3.0");
    expect(cut).toBe(CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n## 0.3.0\n"));
    expect(notesForRelease(cut, "0.3.0", false)).toBe("### Pages\n- New.\n");
  });

  test("is refused twice: nothing is unreleased then", () => {
    const cut = cutVersion(CHANGELOG, "0.2.0", "0.3.0");
    expect(() => cutVersion(cut, "0.3.0", "0.4.0")).toThrow("says nothing");
  });

  test.each([
    ["0.2.0", "is not greater than 0.2.0"],
    ["0.1.9", "is not greater than 0.2.0"],
    ["0.2.0-rc.1", "is not greater than 0.2.0"],
    ["v0.3.0", "is no version"],
    ["0.3", "is no version"],
    ["", "is no version"],
    ["0.3.0\n", "is no version"],
  ])("is refused for %j", (version, message) => {
    expect(() => cutVersion(CHANGELOG, "0.2.0", version)).toThrow(message);
  });

  test("loses no line, whatever is unreleased", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "-", " ", "#", "$", "&") })), (lines) => {
        const entries = `- ${lines.join("\n- ")}`;
        const changelog = `# C\n\n## Unreleased\n\n${entries}x\n\n## 0.1.0\n- First.\n`;
        expect(cutVersion(changelog, "0.1.0", "0.2.0").replace("\n\n## 0.2.0", "")).toBe(changelog);
      }),
    );
  });
});

test("a release waits for entries without a version, and a trial takes them", () => {
  expect(() => notesForRelease(CHANGELOG, "0.2.0", false)).toThrow("make version");
  expect(notesForRelease(CHANGELOG, "0.2.0", true)).toBe("### Pages\n- New.\n");
});

test("a version is written into both files of a clean tree only", async () => {
  using directory = temporaryDirectory();
  const root = directory.path;
  const git = (...words: string[]) =>
    Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: root });
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "CHANGELOG.md"), CHANGELOG);
  await writeFile(join(root, "package.json"), '{\n  "name": "x",\n  "version": "0.2.0"\n}\n');
  await expect(changeVersion(root, "0.3.0")).rejects.toThrow("git cannot tell");
  git("init", "-q");
  await expect(changeVersion(root, "0.3.0")).rejects.toThrow("not committed:\n?? CHANGELOG.md");
  git("add", "-A");
  git("commit", "-qm", "first");
  await changeVersion(root, "0.3.0");
  expect(await Bun.file(join(root, "package.json")).text()).toContain('"version": "0.3.0"');
  expect(notesForRelease(await Bun.file(join(root, "CHANGELOG.md")).text(), "0.3.0", false)).toContain(
    "New.",
  );
  await expect(changeVersion(root, "0.4.0")).rejects.toThrow("not committed");
});
