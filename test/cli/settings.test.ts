import { describe, expect, test } from "bun:test";
import { chmod, link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BINARY, canLoseRights, requireBinary, runBinary } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveRecordingSite } from "../support/recording-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const site = forAllTests(serveRecordingSite());

/** The user agent that the site saw, which settings of every place can set. */
async function userAgent(...[args, options]: Parameters<typeof runBinary>): Promise<string | undefined> {
  const run = await runBinary([`${site.origin}/page`, ...args], options);
  expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  return site.seen.at(-1)?.headers["user-agent"];
}

const agent = (name: string): string => `ARTICLE_EXTRACTOR_USER_AGENT=${name}\n`;

/** A directory with the program in `bin/` and an empty `work/`. */
async function installed() {
  requireBinary();
  const directory = temporaryDirectory();
  const bin = join(directory.path, "bin");
  const work = join(directory.path, "work");
  await mkdir(bin);
  await mkdir(work);
  const binary = join(bin, "article-extractor");
  // A second name of the same file where that is possible: the program is 115 MB.
  await link(BINARY, binary).catch(() => Bun.write(binary, Bun.file(BINARY)));
  await chmod(binary, 0o755);
  return { ...directory, bin, work, binary };
}

describe("the .env file", () => {
  test("beside the program is read when a link elsewhere starts it", async () => {
    await using place = await installed();
    await writeFile(join(place.bin, ".env"), agent("Beside/1"));
    await symlink(place.binary, join(place.work, "ae"));
    await writeFile(join(place.work, ".env"), agent("Hostile/1"));
    expect(await userAgent([], { binary: join(place.work, "ae"), cwd: place.work })).toBe("Beside/1");
  });

  test("beside the program is overridden by the environment, and that by options", async () => {
    await using place = await installed();
    await writeFile(join(place.bin, ".env"), agent("Beside/1"));
    const env = { ARTICLE_EXTRACTOR_USER_AGENT: "Environment/1" };
    const options = { binary: place.binary, cwd: place.work, env };
    expect(await userAgent([], options)).toBe("Environment/1");
    expect(await userAgent(["--user-agent", "Option/1"], options)).toBe("Option/1");
  });

  test("that --env-file names is read instead, and overridden by the environment", async () => {
    await using place = await installed();
    await writeFile(join(place.bin, ".env"), `${agent("Beside/1")}ARTICLE_EXTRACTOR_TIMEOUT=wrong\n`);
    await writeFile(join(place.work, "named"), agent("Named/1"));
    const options = { binary: place.binary, cwd: place.work };
    expect(await userAgent(["--env-file", "named"], options)).toBe("Named/1");
    const env = { ARTICLE_EXTRACTOR_USER_AGENT: "Environment/1" };
    expect(await userAgent(["--env-file", "named"], { ...options, env })).toBe("Environment/1");
  });

  test("may hold the proxy variables", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "named"), "HTTP_PROXY=http://127.0.0.1:1\n");
    const run = await runBinary([
      `${site.origin}/page`,
      "--env-file",
      join(directory.path, "named"),
      "--retries",
      "0",
    ]);
    expect(run.stderr).toMatch(/^error: .*refused.*\n$/);
  });

  test.skipIf(!canLoseRights)("beside the program is not passed over when it cannot be read", async () => {
    await using place = await installed();
    await writeFile(join(place.bin, ".env"), agent("Beside/1"), { mode: 0o000 });
    const run = await runBinary(["-"], {
      binary: place.binary,
      cwd: place.work,
      stdin: "<p>word</p>",
      asOrdinaryUser: true,
    });
    expect([run.exitCode, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toMatch(/^error: .*\/bin\/\.env cannot be read: permission denied\n$/);
  });
});

describe("the current directory", () => {
  test("sets nothing: not by .env, .env.local, .env.production or bunfig.toml", async () => {
    using directory = temporaryDirectory();
    for (const name of [".env", ".env.local", ".env.production", ".env.development"])
      await writeFile(join(directory.path, name), `${agent("Hostile/1")}HTTP_PROXY=http://127.0.0.1:1\n`);
    await writeFile(join(directory.path, "bunfig.toml"), 'preload = ["./hostile.ts"]\n');
    await writeFile(join(directory.path, "hostile.ts"), 'console.log("hostile"); process.exit(7);\n');
    await writeFile(join(directory.path, "package.json"), '{ "name": "hostile", "type": "commonjs" }\n');
    await writeFile(join(directory.path, "tsconfig.json"), "{ hostile");
    const run = await runBinary([`${site.origin}/page`, "--output", "text"], { cwd: directory.path });
    expect([run.exitCode, run.stderr, run.stdout.startsWith("Tide tables\n")]).toEqual([0, "", true]);
    expect(site.seen.at(-1)?.headers["user-agent"]).toStartWith("article-extractor/");
  });

  test("may be the root", async () => {
    expect((await runBinary(["--version"], { cwd: "/" })).exitCode).toBe(0);
  });
});

describe("settings", () => {
  const fetched = (env: Record<string, string>, path = "/page", ...args: string[]) =>
    runBinary([site.origin + path, "--output", "text", ...args], { env });

  test("that are wrong are all named at once, with exit code 2 and nothing fetched", async () => {
    const before = site.seen.length;
    const run = await fetched({
      PORT: "99999",
      ARTICLE_EXTRACTOR_LOG_LEVEL: "loud",
      ARTICLE_EXTRACTOR_EGRESS: "a;b",
      ARTICLE_EXTRACTOR_USER_AGENT: "\u2603",
      ARTICLE_EXTRACTOR_PROXY: "socks5://user:secret@h",
      ARTICLE_EXTRACTOR_RETRIES: "-1",
      HTTP_PROXY: "socks5://user:secret@h",
    });
    expect([run.exitCode, run.stdout, site.seen.length]).toEqual([2, "", before]);
    const named = run.stderr
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/[ :]+/).slice(0, 2).join(" "));
    expect(named.sort()).toEqual([
      "error ARTICLE_EXTRACTOR_EGRESS",
      "error ARTICLE_EXTRACTOR_LOG_LEVEL",
      "error ARTICLE_EXTRACTOR_PROXY",
      "error ARTICLE_EXTRACTOR_RETRIES",
      "error ARTICLE_EXTRACTOR_USER_AGENT",
      "error HTTP_PROXY",
      "error PORT",
    ]);
    expect(run.stderr).not.toContain("secret");
  });

  test("that name a SOCKS proxy say what is taken instead", async () => {
    const taken = "SOCKS5 proxies are not supported; HTTP and HTTPS proxies are taken";
    for (const name of ["ALL_PROXY", "https_proxy", "ARTICLE_EXTRACTOR_PROXY"]) {
      const run = await fetched({ [name]: "socks5h://user:secret@h:1080" });
      expect([run.exitCode, run.stdout]).toEqual([2, ""]);
      expect(run.stderr).toStartWith(`error: ${name.toUpperCase()}: `);
      expect(run.stderr).toContain(taken);
    }
    const flag = await fetched({}, "/page", "--proxy", "socks5://user:secret@h:1080");
    expect([flag.exitCode, flag.stderr]).toEqual([2, expect.stringContaining(taken)]);
    expect(flag.stderr).not.toContain("secret");
  });

  test("ARTICLE_EXTRACTOR_TIMEOUT bounds a request", async () => {
    const run = await fetched({ ARTICLE_EXTRACTOR_TIMEOUT: "0.2" }, "/silent");
    expect(run.stderr).toContain("200 ms");
  });

  test("ARTICLE_EXTRACTOR_RETRIES sets the further tries", async () => {
    const before = site.seen.length;
    await fetched({ ARTICLE_EXTRACTOR_RETRIES: "0" }, "/status/503");
    expect(site.seen.length - before).toBe(1);
  });

  test("ARTICLE_EXTRACTOR_MAX_BYTES bounds a page, and --max-bytes goes before it", async () => {
    const env = { ARTICLE_EXTRACTOR_MAX_BYTES: "4999" };
    expect((await fetched(env, "/bytes/5000")).exitCode).toBe(1);
    expect((await fetched(env, "/bytes/5000", "--max-bytes", "5000")).exitCode).toBe(0);
  });
});
