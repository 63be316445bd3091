import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { folder, repository, tenants, web } from "../../support/deployment.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "deployment-"));
});
const written = (name: string, json: unknown): string => {
  const path = join(directory, name);
  writeFileSync(path, typeof json === "string" ? json : JSON.stringify(json));
  return path;
};

describe("validate", () => {
  test("says that a file is right, and warns of what is probably not meant", async () => {
    const path = written("right.json", tenants(folder, web));
    const { exitCode, stdout, stderr } = await runCommand(["validate", path]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${path} is valid: 2 tenants\n` });
    expect(stderr).toContain("warning:");
    expect(stderr).toContain("only its entry pages are fetched");
  });

  test("names every problem in a line of its own, with exit code 2", async () => {
    const path = written("wrong.json", { tenants: [{ ...folder, docs_nme: "x", codename: "X" }] });
    const { exitCode, stdout, stderr } = await runCommand(["validate", path]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual([
      `error: ${path}: tenants[0].docs_nme: unknown field; did you mean docs_name?`,
      `error: ${path}: tenants[0].codename: must be 2 to 64 lower-case letters, digits, _ and -, beginning with a letter, not "X"`,
    ]);
  });

  test("names repositories that no server here would sync, in the words of serve search", async () => {
    const at = (codename: string, git_repo_url: string): object => ({
      ...repository,
      codename,
      docs_root_dir: codename,
      git_repo_url,
    });
    const path = written(
      "schemes.json",
      tenants(at("short", "git@github.com:x/y"), at("local", "file:///x")),
    );
    const refusal = (codename: string, scheme: string, hint = ""): string =>
      `error: ${path}: Tenant '${codename}': git_repo_url has the scheme ${scheme}, allowed is https${hint}`;
    const { exitCode, stdout, stderr } = await runCommand(["validate", path]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual([
      refusal("short", "ssh", "; DOCS_SEARCH_GIT_PROTOCOLS=https,ssh allows it"),
      refusal("local", "file", "; DOCS_SEARCH_GIT_PROTOCOLS=https,file allows it"),
    ]);
    const allowed = written("allowed.json", tenants(at("local", "file:///x")));
    const env = { DOCS_SEARCH_GIT_PROTOCOLS: "https,file" };
    expect((await runCommand(["validate", allowed], { env })).exitCode).toBe(0);
    const offline = { infrastructure: { operation_mode: "offline" }, ...tenants(at("short", "git@h:x/y")) };
    expect((await runCommand(["validate", written("offline.json", offline)])).exitCode).toBe(0);
  });

  test("warns of a variable that is not set here, since it may be where the server runs", async () => {
    const path = written("token.json", tenants({ ...repository, git_auth_token_env: "NO_SUCH_TOKEN" }));
    const { exitCode, stderr } = await runCommand(["validate", path]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("Tenant 'repo': the variable NO_SUCH_TOKEN is not set");
  });

  test("warns of a folder that is not there, and of one that is a file", async () => {
    writeFileSync(join(directory, "page.md"), "# Page");
    const at = (codename: string, docs_root_dir: string): object => ({ ...folder, codename, docs_root_dir });
    const list = [at("here", "."), at("gone", "no/where"), at("file", "page.md"), at("below", "page.md/x")];
    const { exitCode, stderr } = await runCommand(["validate", written("folders.json", tenants(...list))]);
    expect(exitCode).toBe(0);
    const warning = (index: number, codename: string, path: string): string =>
      `warning: ${directory}/folders.json: tenants[${index}].docs_root_dir: Tenant '${codename}': there is no folder ${join(directory, path)}`;
    expect(stderr.trimEnd().split("\n")).toEqual([
      warning(1, "gone", "no/where"),
      warning(2, "file", "page.md"),
      warning(3, "below", "page.md/x"),
    ]);
  });

  test("warns of patterns that choose nothing in a folder", async () => {
    mkdirSync(join(directory, "patterned/guides"), { recursive: true });
    writeFileSync(join(directory, "patterned/guides/a.md"), "# A");
    writeFileSync(join(directory, "patterned/guides/b.png"), "");
    const include = ["guides/", "*.rst", "*.png", "Guides/", "guides/*.md", "elsewhere/**"];
    const tenant = { ...folder, docs_root_dir: "patterned", include, exclude: ["elsewhere/"] };
    const { exitCode, stderr } = await runCommand(["validate", written("patterns.json", tenants(tenant))]);
    expect(exitCode).toBe(0);
    const found = [...stderr.matchAll(/include\[(\d)\]: Tenant 'docs': no document in .* matches "(.*)"/g)];
    expect(found.map(([, place, pattern]) => [place, pattern])).toEqual([
      ["1", "*.rst"],
      ["2", "*.png"],
      ["3", "Guides/"],
      ["5", "elsewhere/**"],
    ]);
  });

  test("refuses patterns that could match nothing anywhere", async () => {
    const tenant = { ...folder, include: ["docs/", "!docs/"], exclude: ["../x", "x".repeat(501)] };
    const { exitCode, stderr } = await runCommand(["validate", written("wrong.json", tenants(tenant))]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('tenants[0].include[1]: must not begin with !, not "!docs/"');
    expect(stderr).toContain(
      "tenants[0].exclude[0]: must be relative to the folder or repository, without . and ..",
    );
    expect(stderr).toContain("tenants[0].exclude[1]: must have at most 500 characters");
  });

  test("says what git over ssh needs", async () => {
    const over = (more: object): object =>
      tenants({ ...repository, git_repo_url: "ssh://git@host.test/x.git", ...more });
    const check = async (more: object, env: Readonly<Record<string, string>>) => {
      const { exitCode, stderr } = await runCommand(["validate", written("ssh.json", over(more))], {
        env: { DOCS_SEARCH_GIT_PROTOCOLS: "https,ssh", ...env },
      });
      return { exitCode, stderr };
    };
    const known = written("known_hosts", "");
    const [key, hosts] = [{ git_ssh_key_file: "known_hosts" }, { DOCS_SEARCH_GIT_KNOWN_HOSTS: known }];
    const short = { git_repo_url: "git@host.test:x.git", ...key };
    expect((await check({}, hosts)).stderr).toContain("git over ssh needs git_ssh_key_file");
    expect((await check(key, {})).stderr).toContain("git over ssh needs DOCS_SEARCH_GIT_KNOWN_HOSTS");
    expect((await check(short, hosts)).stderr).toContain("must be written as ssh://user@host/path");
    expect(await check(key, hosts)).toEqual({ exitCode: 0, stderr: "" });
    const { exitCode, stderr } = await check({ git_ssh_key_file: "none" }, hosts);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`git_ssh_key_file: there is no file ${join(directory, "none")}`);
  });

  test("takes exactly one file that is there", async () => {
    expect((await runCommand(["validate"])).exitCode).toBe(2);
    expect((await runCommand(["validate", "a", "b"])).exitCode).toBe(2);
    const { exitCode, stderr } = await runCommand(["validate", join(directory, "none.json")]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("none.json");
  });
});

test("schema prints a JSON Schema", async () => {
  const { exitCode, stdout } = await runCommand(["schema"]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ type: "object", additionalProperties: false });
});

test.each([
  ["package.json", "there is a file of that name"],
  ["package.json/below", "it is not a folder"],
])("an output root that cannot be made, %s, is refused in words", async (name, reason) => {
  const path = join(directory, name);
  writeFileSync(join(directory, "package.json"), "{}");
  const run = await runCommand(["mcp"], { env: { ARTICLE_EXTRACTOR_OUTPUT_ROOT: path } });
  expect([run.exitCode, run.stdout]).toEqual([2, ""]);
  expect(JSON.parse(run.stderr)).toMatchObject({
    level: "critical",
    message: `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path}: ${reason}`,
  });
});
