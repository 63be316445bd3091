import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment, runShell } from "../support/binary.ts";
import { Served, type ToolAnswer, writeDeployment } from "../support/served.ts";
import { until, untilTrue } from "../support/until.ts";

type File = { infrastructure: Record<string, unknown>; tenants: Record<string, unknown>[] };

const LOGGED = { log_level: "info" };

/** Changes the deployment file as an editor does, aside and renamed. */
function change(root: string, edit: (file: File) => void): void {
  const path = join(root, "deployment.json");
  const file = JSON.parse(readFileSync(path, "utf8")) as File;
  edit(file);
  writeText(root, JSON.stringify(file));
}

function writeText(root: string, text: string): void {
  writeFileSync(join(root, ".deployment.json.swp"), text);
  renameSync(join(root, ".deployment.json.swp"), join(root, "deployment.json"));
}

const readFile = (root: string): string => readFileSync(join(root, "deployment.json"), "utf8");

/** A folder of one document, and the tenant for it. */
function folderTenant(root: string, codename: string): Record<string, unknown> {
  mkdirSync(join(root, codename), { recursive: true });
  writeFileSync(join(root, codename, "page.md"), `# Page\n\nAbout ${codename} and barges.\n`);
  return { source_type: "filesystem", codename, docs_name: codename, docs_root_dir: codename };
}

const searchIn = (served: Served, codename: string): Promise<ToolAnswer> =>
  served.call("root_search", { tenant_codename: codename, query: "barges" });

const untilFound = (served: Served, codename: string): Promise<ToolAnswer> =>
  until(
    () => searchIn(served, codename),
    ({ results }) => results?.length === 1,
  );

const isUnknown = ({ error }: ToolAnswer): boolean => error?.includes("not found") ?? false;

const linesWith = ({ said }: Served, words: string): number => said.split(words).length - 1;

const health = async ({ url }: Served) =>
  (await (await fetch(`${url}/health`, { headers: { connection: "close" } })).json()) as {
    status: string;
    infrastructure: { deployment: { error: { message: string } | null; needs_restart: string[] } };
  };

describe("a running server", () => {
  test("takes tenants over that are added, changed and removed, and keeps the others", async () => {
    const root = writeDeployment(LOGGED);
    await using served = await Served.start(root);
    await untilTrue(async () => (await served.search("no_proxy")).results?.length === 1);
    change(root, ({ tenants }) => tenants.unshift(folderTenant(root, "harbour")));
    expect((await untilFound(served, "harbour")).error).toBeNull();
    const { results } = await served.call("root_search", { tenant_codename: "*", query: "barges" });
    expect(results).toHaveLength(1);

    folderTenant(root, "other");
    writeFileSync(join(root, "other", "second.md"), "# Second\n\nMore barges.\n");
    change(root, ({ tenants }) => Object.assign(tenants[0] ?? {}, { docs_root_dir: "other" }));
    expect(
      (
        await until(
          () => searchIn(served, "harbour"),
          (a) => a.results?.length === 2,
        )
      ).results,
    ).toHaveLength(2);

    change(root, ({ tenants }) => tenants.shift());
    await untilTrue(async () => isUnknown(await searchIn(served, "harbour")));
    expect((await served.search("no_proxy")).results).toHaveLength(1);
    expect(readdirSync(join(root, "state")).filter((name) => name.startsWith("harbour@"))).toHaveLength(2);
    expect(served.said).toContain("tenant removed; its documents, index and state stay");
    // The tenant that did not change was built once.
    expect(
      served.said.match(/"index built","tenant":"tool"/g) ?? served.said.match(/index built.*"tool"/g),
    ).toHaveLength(1);
  });

  test("takes nothing over from a broken file, and names its place in the log and in health", async () => {
    const root = writeDeployment(LOGGED);
    await using served = await Served.start(root);
    const whole = readFile(root);
    for (const [text, place] of [
      ['{\n  "tenants": [}\n', "line 2, column 15: not JSON"],
      [
        whole.replace('"docs_name"', '"docs_nmae"'),
        "tenants[0].docs_nmae: unknown field; did you mean docs_name?",
      ],
      ["", "line 1, column 1"],
      [
        JSON.stringify({
          tenants: [
            {
              source_type: "git",
              codename: "repo",
              docs_name: "R",
              docs_root_dir: "r",
              git_repo_url: "file:///x",
              git_subpaths: ["docs"],
            },
          ],
        }),
        "git_repo_url has the scheme file",
      ],
    ] as const) {
      writeText(root, text);
      const { infrastructure, status } = await until(
        () => health(served),
        (found) => found.infrastructure.deployment.error?.message.includes(place) ?? false,
      );
      expect(infrastructure.deployment.error?.message).toContain(place);
      expect(infrastructure.deployment.error?.message).not.toContain(root);
      expect(status).toBe("degraded");
      await untilTrue(() => served.said.includes(place.replaceAll('"', '\\"')));
      expect((await served.search("no_proxy")).error).toBeNull();
    }
    expect(linesWith(served, "deployment file not applied")).toBe(4);
    rmSync(join(root, "deployment.json"));
    await untilTrue(() => served.said.includes("there is no such file"));
    writeText(root, whole);
    await untilTrue(async () => (await health(served)).status === "healthy");
    expect(linesWith(served, "deployment file applied")).toBe(0);
  });

  test("names what needs a restart, until it is as before", async () => {
    const root = writeDeployment(LOGGED);
    await using served = await Served.start(root);
    const needed = (fields: string[]) =>
      untilTrue(
        async () => `${(await health(served)).infrastructure.deployment.needs_restart}` === `${fields}`,
      );
    change(root, ({ infrastructure, tenants }) => {
      Object.assign(infrastructure, { mcp_port: 1025, uvicorn_workers: 2 });
      tenants.push(folderTenant(root, "harbour"));
    });
    await needed(["mcp_port", "uvicorn_workers"]);
    await untilTrue(() => served.said.includes('"fields":"mcp_port uvicorn_workers"'));
    expect((await untilFound(served, "harbour")).error).toBeNull();
    change(root, ({ infrastructure }) =>
      Object.assign(infrastructure, { mcp_port: 1024, uvicorn_workers: 1 }),
    );
    await needed([]);
  });

  test("sees the file behind a link change, and the link itself", async () => {
    const root = writeDeployment(LOGGED);
    const [real, link] = [join(root, "real.json"), join(root, "deployment.json")];
    renameSync(link, real);
    symlinkSync("real.json", link);
    await using served = await Served.start(root);
    const file = JSON.parse(readFileSync(real, "utf8")) as File;
    file.tenants.push(folderTenant(root, "harbour"));
    writeFileSync(real, JSON.stringify(file));
    await untilFound(served, "harbour");
    file.tenants.push(folderTenant(root, "shipyard"));
    writeFileSync(join(root, "next.json"), JSON.stringify(file));
    symlinkSync("next.json", join(root, "aside"));
    renameSync(join(root, "aside"), link);
    expect((await untilFound(served, "shipyard")).error).toBeNull();
  });

  test("reads a file that is written in pieces once it is whole", async () => {
    const root = writeDeployment(LOGGED);
    await using served = await Served.start(root);
    const file = JSON.parse(readFile(root)) as File;
    file.tenants.push(folderTenant(root, "harbour"));
    const text = JSON.stringify(file, null, 1);
    const path = join(root, "deployment.json");
    for (let end = 0; end < text.length; end += 40) {
      writeFileSync(path, text.slice(0, end));
      await Bun.sleep(10);
    }
    writeFileSync(path, text);
    expect((await untilFound(served, "harbour")).error).toBeNull();
  });
});

test.each(["serve search --stdio", "mcp"])("so does %s", async (words) => {
  const root = writeDeployment();
  const client = new Client({ name: "test", version: "1" });
  const env = cleanEnvironment({
    DOCS_SEARCH_STATE_DIR: join(root, "state"),
    ARTICLE_EXTRACTOR_STATE_DIR: join(root, "jobs"),
  });
  await client.connect(
    new StdioClientTransport({ command: BINARY, args: words.split(" "), cwd: root, env, stderr: "ignore" }),
  );
  change(root, ({ tenants }) => tenants.push(folderTenant(root, "harbour")));
  const search = async (): Promise<string> => {
    const { structuredContent } = await client.callTool({
      name: "root_search",
      arguments: { tenant_codename: "harbour", query: "barges" },
    });
    return JSON.stringify(structuredContent);
  };
  expect(await until(search, (answer) => answer.includes("page.md"))).toContain("page.md");
  await client.close();
});

describe.if(process.platform !== "win32")("SIGHUP", () => {
  test.each([1, 3])("makes %d processes read the file again, and ends none", async (count) => {
    const root = writeDeployment({ ...LOGGED, uvicorn_workers: count });
    await using served = await Served.start(root);
    await untilTrue(async () => (await served.search("no_proxy")).results?.length === 1);
    served.child.kill("SIGHUP");
    await untilTrue(() => linesWith(served, "deployment file has not changed") === count);
    change(root, ({ tenants }) => tenants.push(folderTenant(root, "harbour")));
    served.child.kill("SIGHUP");
    await untilTrue(() => linesWith(served, "deployment file applied") === count);
    await untilFound(served, "harbour");
    for (let asked = 0; asked < 20; asked++) expect((await searchIn(served, "harbour")).error).toBeNull();
    writeText(root, "{");
    served.child.kill("SIGHUP");
    await untilTrue(() => linesWith(served, "deployment file not applied") >= count);
    expect(served.child.exitCode).toBeNull();
    expect(served.said).not.toContain("process died");
  });

  test.skipIf(Bun.which("script") === null)("of a terminal that is closed ends the server", async () => {
    const root = writeDeployment(LOGGED);
    const script = `article-extractor serve search --port 0 2>&1 & echo $! > pid; wait`;
    writeFileSync(join(root, "run.sh"), script);
    // script is killed, and with it the terminal that it made.
    await using _ = {
      [Symbol.asyncDispose]: async () =>
        void (await runShell("kill -9 $(cat pid) 2> /dev/null; true", { cwd: root })),
    };
    void runShell("script -qfec 'sh run.sh' out < /dev/null > /dev/null & echo $! > script.pid; wait", {
      cwd: root,
      env: { DOCS_SEARCH_STATE_DIR: join(root, "state") },
    });
    await untilTrue(
      () => existsSync(join(root, "out")) && readFileSync(join(root, "out"), "utf8").includes("/mcp"),
    );
    const pid = Number(readFileSync(join(root, "pid"), "utf8"));
    process.kill(Number(readFileSync(join(root, "script.pid"), "utf8")), "SIGKILL");
    await untilTrue(() => !isRunning(pid));
  });
});

function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.startsWith("Z") === false;
  } catch {
    return false;
  }
}

const CHANGES = 24;

test.each([1, 3])(
  `no search fails in %d processes while the file changes ${CHANGES} times, half of them broken`,
  async (count) => {
    const root = writeDeployment({ ...LOGGED, uvicorn_workers: count });
    change(root, ({ tenants }) => tenants.push(folderTenant(root, "coming")));
    await using served = await Served.start(root);
    await untilTrue(async () => (await served.search("no_proxy")).results?.length === 1);
    await untilFound(served, "coming");
    let isOver = false;
    const errors: (string | null)[] = [];
    let searches = 0;
    const searchAlways = async (): Promise<void> => {
      while (!isOver) {
        const { error, results } = await served.search("no_proxy");
        searches++;
        if (error !== null || results.length !== 1) errors.push(error);
        // That one comes and goes while it is searched: it is found, or unknown, or not yet built again.
        const coming = await searchIn(served, "coming");
        if (coming.error !== null && !isUnknown(coming) && !coming.error.includes("try again"))
          errors.push(coming.error);
      }
    };
    const clients = [searchAlways(), searchAlways()];
    await untilTrue(() => searches > 0);
    const whole = readFile(root);
    for (let number = 0; number < CHANGES; number++) {
      // Counted first, since the watch may be quicker than the signal, which then finds nothing new.
      const read = linesWith(served, "applied");
      const searched = searches;
      if (number % 2 === 1) writeText(root, whole.slice(0, (number * 97) % whole.length));
      else {
        writeText(root, whole);
        change(root, ({ tenants }) => {
          if (number % 4 === 0) tenants.pop();
          // No two texts are the same: one that is in force already is not applied again.
          Object.assign(tenants.at(-1) ?? {}, { description: `the ${number}th` });
          if (number % 8 === 2) tenants.reverse();
        });
      }
      if (number % 3 !== 0) served.child.kill("SIGHUP");
      await untilTrue(() => linesWith(served, "applied") > read && searches > searched);
    }
    isOver = true;
    await Promise.all(clients);
    expect(errors).toEqual([]);
    expect(searches).toBeGreaterThan(CHANGES);
    expect(linesWith(served, "deployment file applied")).toBeGreaterThanOrEqual(CHANGES / 2);
    expect(linesWith(served, "deployment file not applied")).toBeGreaterThanOrEqual(CHANGES / 2);
    expect(served.said).not.toMatch(/process died|"fault"|sync failed/);
  },
);
