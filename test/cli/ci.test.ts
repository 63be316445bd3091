import { beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { VERSION } from "../../src/base/version.ts";
import { BINARY, cleanEnvironment, requireBinary } from "../support/binary.ts";
import { outputOf, serveLocal } from "../support/local.ts";
import { crawlPage, serveNumberedSite } from "../support/numbered-site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const action = parse(await readFile(join(ROOT, "action.yml"), "utf8"));
const step = action.runs.steps.find(({ id }: { id?: string }) => id === "run");
beforeAll(requireBinary);

/** Runs the action's step in an empty folder, as a runner does: with its variables, and the inputs that are given. */
async function runAction(inputs: Record<string, string>, { isInstalled = true } = {}) {
  using directory = temporaryDirectory();
  const cwd = directory.path;
  const place = (name: string) => join(cwd, name);
  if (isInstalled) {
    const bin = join(cwd, "tools/article-extractor", inputs.version ?? VERSION, "bin");
    await mkdir(bin, { recursive: true });
    await symlink(BINARY, join(bin, "article-extractor"));
  }
  await writeFile(place("outputs"), "");
  const inputFor = (written: string): string => {
    const name = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(written)?.[1] ?? "";
    return inputs[name] ?? action.inputs[name].default ?? "";
  };
  const env: Record<string, string> = {};
  for (const [name, written] of Object.entries<string>(step.env)) env[name] = inputFor(written);
  const child = Bun.spawn(["bash", "-eo", "pipefail", "-c", step.run], {
    cwd,
    env: cleanEnvironment({
      ...env,
      PATH: process.env.PATH ?? "",
      GITHUB_ACTION_PATH: ROOT,
      GITHUB_OUTPUT: place("outputs"),
      RUNNER_TOOL_CACHE: place("tools"),
      RUNNER_TEMP: cwd,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = await outputOf(child);
  const lines = (await readFile(place("outputs"), "utf8")).trim().split("\n");
  const outputs = Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)));
  const exitCode = await child.exited;
  const read = async (name: string | undefined) => (name ? await readFile(join(cwd, name), "utf8") : null);
  const markdown = await read(outputs.markdown);
  const manifest = await read(outputs.manifest);
  return {
    exitCode,
    stdout,
    stderr,
    outputs,
    markdown,
    manifest,
    canary: await Bun.file(place("canary")).exists(),
  };
}

const serve = (title: string) =>
  serveLocal(
    () => new Response(crawlPage(title), { headers: { "content-type": "text/html; charset=utf-8" } }),
  );

describe("the GitHub Action", () => {
  test("has no step in which an input could become a command", () => {
    expect(step.run).not.toContain("${{");
    for (const { run } of action.runs.steps) expect(run ?? "").not.toContain("${{");
    const read = Object.values<string>(step.env).join();
    for (const name of Object.keys(action.inputs))
      if (name !== "cache") expect(read).toContain(`inputs.${name} }}`);
  });

  test("extracts a page, and tells its path, title and words", async () => {
    const site = serve("A mill, 100 % & more");
    const run = await runAction({ url: site.url.href, output: "a/page.md" });
    await site.stop(true);
    expect(run.exitCode).toBe(0);
    expect(run.outputs).toEqual({
      markdown: "a/page.md",
      title: "A mill, 100 % & more",
      words: expect.stringMatching(/^\d+$/),
    });
    expect(run.markdown).toContain("# A mill");
  });

  test("crawls a site, and tells what it has", async () => {
    await using site = serveNumberedSite({ pages: 3 });
    const run = await runAction({
      command: "crawl",
      url: `${site.origin}/`,
      "max-pages": "2",
      "max-failures": "100%",
      options: "--rate-limit=0\n\n--ignore-robots\n",
    });
    expect(run.exitCode).toBe(0);
    expect(run.outputs).toMatchObject({ directory: "site", manifest: "site/manifest.json", failed: "0" });
    const manifest = JSON.parse(run.manifest ?? "{}");
    expect(run.outputs.pages).toBe(String(manifest.successful));
    expect(run.outputs.changed).toBe(String(manifest.new));
  });

  test("has the program's exit code, and the manifest of a crawl with failed pages", async () => {
    const site = serveLocal(() => new Response("", { status: 404 }));
    const options = "--rate-limit=0\n--ignore-robots\n--no-browser";
    const failed = await runAction({ command: "crawl", url: site.url.href, options });
    const page = await runAction({ url: site.url.href, options: "--no-browser" });
    await site.stop(true);
    expect(failed.exitCode).not.toBe(0);
    expect([page.exitCode, page.outputs]).toEqual([1, { "": undefined }]);
  });

  const CANARY = "$(touch canary)`touch canary`;touch canary";
  test.each([
    { url: "" },
    { url: "ftp://x.example/" },
    { url: "--help" },
    { url: "http://127.0.0.1:1/ --output-file=x" },
    { url: "http://127.0.0.1:1/\n::set-output name=x::y" },
    { url: "http://127.0.0.1:1/", command: CANARY },
    { url: "http://127.0.0.1:1/", output: "--help" },
    { url: "http://127.0.0.1:1/", output: "a\nb" },
    { url: "http://127.0.0.1:1/", version: "../../x" },
    { url: "http://127.0.0.1:1/", version: CANARY },
    { url: "http://127.0.0.1:1/", "max-pages": "3" },
    { url: "http://127.0.0.1:1/", command: "crawl", "max-pages": "-1" },
    { url: "http://127.0.0.1:1/", command: "crawl", "max-failures": "%" },
    { url: "http://127.0.0.1:1/", options: "touch canary" },
    { url: "http://127.0.0.1:1/", options: "--output-file=x" },
    { url: "http://127.0.0.1:1/", options: "--fields=x" },
    { url: "http://127.0.0.1:1/", options: "--help" },
    { url: "http://127.0.0.1:1/", options: "--version" },
    { url: "http://127.0.0.1:1/", output: "." },
    { url: "http://127.0.0.1:1/", output: "tools" },
    { url: "http://127.0.0.1:1/", output: "new/" },
    { url: "http://127.0.0.1:1/", output: "outputs/page.md" },
    { url: "http://127.0.0.1:1/", output: "outputs", command: "crawl" },
  ])("refuses %j with one line that does not repeat it", async (inputs) => {
    const run = await runAction(inputs);
    expect([run.exitCode, run.outputs, run.canary]).toEqual([2, { "": undefined }, false]);
    expect(run.stdout).toMatch(/^::error title=article-extractor::[^\n$]+\n$/);
    expect(run.stdout).not.toContain("set-output");
  });

  test("no input of words becomes a command", async () => {
    const run = await runAction({
      url: `http://127.0.0.1:1/${CANARY.replaceAll(" ", "%20")}`,
      output: CANARY,
      options: `--user-agent=${CANARY}\n--no-browser\n--retries=0`,
    });
    expect([run.exitCode, run.canary]).toEqual([1, false]);
  });

  test("a title of many lines is an output of one", async () => {
    const site = serve("Mill\n words=7 &#13;&#10;markdown=x");
    const run = await runAction({ url: site.url.href });
    await site.stop(true);
    expect(run.outputs.markdown).toBe("article.md");
    expect(run.outputs.title).toContain("markdown=x");
  });

  test("installs the program where it is not there, once", async () => {
    using downloads = temporaryDirectory();
    const place = (name: string) => join(downloads.path, name);
    await writeFile(place("article-extractor"), "#!/bin/sh\necho article-extractor 9.9.9\n");
    await chmod(place("article-extractor"), 0o755);
    const system = `${process.platform}-${process.arch}`;
    const pack = `tar czf article-extractor-${system}.tar.gz article-extractor && sha256sum *.tar.gz > SHA256SUMS`;
    expect(Bun.spawnSync(["sh", "-c", pack], { cwd: downloads.path }).exitCode).toBe(0);
    const server = serveLocal((request) => {
      const file = Bun.file(place(new URL(request.url).pathname.replace("/9.9.9/", "")));
      return new Response(file);
    });
    const inputs = {
      url: "http://127.0.0.1:1/",
      version: "9.9.9",
      downloads: `${server.url.href}{version}`,
    };
    const run = await runAction(inputs, { isInstalled: false });
    const wrong = { ...inputs, version: "8.8.8", downloads: `${server.url.href}9.9.9` };
    const other = await runAction(wrong, { isInstalled: false });
    await server.stop(true);
    expect(run.stderr).toContain("installed article-extractor 9.9.9");
    expect(run.stderr + run.stdout).not.toContain("PATH");
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("9.9.9, not version 8.8.8")]);
    const away = await runAction(inputs, { isInstalled: false });
    expect([away.exitCode, away.stdout]).toEqual([
      2,
      "::error title=article-extractor::the program could not be installed\n",
    ]);
  });
});

describe("the job for GitLab", () => {
  const runJob = async (variables: Record<string, string>) => {
    using directory = temporaryDirectory();
    const job = parse(await readFile(join(ROOT, "scripts/ci/gitlab.yml"), "utf8"))[".article-extractor"];
    const bin = join(directory.path, ".article-extractor/bin");
    await mkdir(bin, { recursive: true });
    await symlink(BINARY, join(bin, "article-extractor"));
    const script = [...job.before_script, ...job.script].join("\n");
    const child = Bun.spawn(["sh", "-ec", script], {
      cwd: directory.path,
      env: cleanEnvironment({
        ...job.variables,
        PATH: process.env.PATH ?? "",
        CI_PROJECT_DIR: directory.path,
        ...variables,
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout, stderr } = await outputOf(child);
    const manifest = Bun.file(join(directory.path, "site/manifest.json"));
    return { exitCode: await child.exited, stdout, stderr, hasManifest: await manifest.exists() };
  };

  test("keeps the pages of a site", async () => {
    await using site = serveNumberedSite({ pages: 2 });
    const run = await runJob({
      CRAWL_URL: `${site.origin}/`,
      CRAWL_MAX_PAGES: "2",
      CRAWL_MAX_FAILURES: "100%",
    });
    expect([run.exitCode, run.hasManifest]).toEqual([0, true]);
  });

  test.each(["", "--help", "$(touch canary)"])("refuses the address %j", async (url) => {
    const run = await runJob({ CRAWL_URL: url });
    expect([run.exitCode, run.stdout]).toEqual([2, "CRAWL_URL is no http or https address\n"]);
  });
});
